// See writer.h.
//
// Rules:
// 1. A job is whole: when one fails the group is done again, each in a savepoint, and
//    those that fail are rolled back to theirs.
// 2. Nobody is told of success before COMMIT has returned. When it fails, or SQLite has
//    given up the transaction, the whole group fails: what became of it is not known.
// 3. A file that is no longer where its path leads is not written to.
// 4. The lock between processes is held from before BEGIN to after COMMIT, which may
//    checkpoint.
#include "writer.h"

#include "batch.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>

typedef enum job_type {
    JOB_COMMIT,
    JOB_POST,
    JOB_LEASE,
    JOB_FORGET
} job_type;

// On the stack of who waits for it.
struct cdr_sqlite_job {
    job_type type;
    cadre_commit *commit;
    cadre_fact *facts;
    size_t n_facts;
    const cadre_lease *wanted;
    int64_t *epoch;
    cadre_id trace;
    cadre_status status;
    cadre_error err;
    sem_t done;               // the last that is done with it by others
    cdr_sqlite_job *next;     // in the queue
    cdr_sqlite_job *wakes[2]; // who is woken by who waits for this one
};

static cadre_status apply(cdr_sqlite_writer *writer, cdr_sqlite_job *job)
{
    cdr_sqlite_connection *connection = &writer->connection;
    switch (job->type) {
    case JOB_COMMIT:
        return cdr_sqlite_batch_commit(connection, job->commit, &writer->has_refused,
                                       &job->err);
    case JOB_POST:
        return cdr_sqlite_batch_post(connection, job->facts, job->n_facts, &job->err);
    case JOB_LEASE:
        return cdr_sqlite_batch_lease(connection, job->wanted, job->epoch, &job->err);
    case JOB_FORGET:
        return cdr_sqlite_batch_forget(connection, job->trace, &job->err);
    }
    return CADRE_ESTORE;
}

// Does one job of a group. Errors: those that end the whole group, not the job's own.
static cadre_status apply_in_savepoint(cdr_sqlite_writer *writer, cdr_sqlite_job *job,
                                       cadre_error *err)
{
    const cdr_sqlite_connection *connection = &writer->connection;
    cadre_status status = cdr_sqlite_connection_exec(connection, "SAVEPOINT job", err);
    if (status != CADRE_OK)
        return status;
    job->status = apply(writer, job);
    if (sqlite3_get_autocommit(connection->db)) {
        *err = job->err; // SQLite gave up: no memory, a full disk, an I/O error
        return CADRE_ESTORE;
    }
    return cdr_sqlite_connection_exec(
        connection,
        job->status == CADRE_OK ? "RELEASE job" : "ROLLBACK TO job; RELEASE job", err);
}

// Does the jobs without savepoints, as nearly all succeed and a savepoint copies each
// page it touches. False: one failed, and nothing may stay.
static bool apply_plain(cdr_sqlite_writer *writer, cdr_sqlite_job *jobs)
{
    for (cdr_sqlite_job *job = jobs; job; job = job->next) {
        job->status = apply(writer, job);
        if (job->status != CADRE_OK)
            return false;
    }
    return true;
}

static cadre_status apply_with_savepoints(cdr_sqlite_writer *writer,
                                          cdr_sqlite_job *jobs, cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (cdr_sqlite_job *job = jobs; job && status == CADRE_OK; job = job->next) {
        cadre_error_clear(&job->err);
        status = apply_in_savepoint(writer, job, err);
    }
    return status;
}

static cadre_status begin(const cdr_sqlite_connection *connection, cadre_error *err)
{
    return cdr_sqlite_connection_exec(connection, "BEGIN IMMEDIATE", err);
}

static void roll_back(const cdr_sqlite_connection *connection)
{
    if (!sqlite3_get_autocommit(connection->db))
        cdr_sqlite_connection_exec(connection, "ROLLBACK", NULL);
}

// Writes a group in one transaction.
static cadre_status write_locked(cdr_sqlite_writer *writer, cdr_sqlite_job *jobs,
                                 cadre_error *err)
{
    const cdr_sqlite_connection *connection = &writer->connection;
    cadre_status status = cdr_sqlite_place_check(&writer->place, err);
    if (status == CADRE_OK)
        status = begin(connection, err);
    if (status != CADRE_OK)
        return status;
    if (!apply_plain(writer, jobs)) {
        roll_back(connection);
        if (!jobs->next)
            return jobs->status;
        status = begin(connection, err);
        if (status == CADRE_OK)
            status = apply_with_savepoints(writer, jobs, err);
    }
    if (status == CADRE_OK)
        status = cdr_sqlite_connection_exec(connection, "COMMIT", err);
    roll_back(connection);
    return status;
}

// Those who wait wake each other, as a tree: one wake costs as much as several rows,
// and the writer has the next group to write.
static void wake_all(cdr_sqlite_job *jobs)
{
    cdr_sqlite_job *parent = jobs;
    int n = 0;
    for (cdr_sqlite_job *job = jobs->next; job; job = job->next) {
        parent->wakes[n++] = job;
        if (n == 2) {
            parent = parent->next;
            n = 0;
        }
    }
    sem_post(&jobs->done);
}

static void write_group(cdr_sqlite_writer *writer, cdr_sqlite_job *jobs)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cdr_sqlite_file_lock_take(&writer->lock, &err);
    if (status == CADRE_OK) {
        status = write_locked(writer, jobs, &err);
        cdr_sqlite_file_lock_release(&writer->lock);
    }
    if (writer->has_refused)
        atomic_store(&writer->may_forget, true);
    for (cdr_sqlite_job *job = jobs; job; job = job->next) {
        // One that has failed by itself keeps its own error.
        if (status != CADRE_OK && job->status == CADRE_OK) {
            job->status = status;
            job->err = err;
        }
    }
    wake_all(jobs);
}

static void *work(void *arg)
{
    cdr_sqlite_writer *writer = arg;
    pthread_mutex_lock(&writer->mu);
    for (;;) {
        while ((!writer->first && !writer->is_stopping) || writer->is_lent) {
            writer->is_idle = true;
            pthread_cond_wait(&writer->queued, &writer->mu);
            writer->is_idle = false;
        }
        cdr_sqlite_job *jobs = writer->first;
        if (!jobs)
            break;
        writer->first = NULL;
        writer->end = &writer->first;
        pthread_mutex_unlock(&writer->mu);
        write_group(writer, jobs);
        pthread_mutex_lock(&writer->mu);
    }
    pthread_mutex_unlock(&writer->mu);
    return NULL;
}

cadre_status cdr_sqlite_writer_start(cdr_sqlite_writer *writer, cadre_error *err)
{
    sigset_t all;
    sigset_t before;
    pthread_mutex_init(&writer->mu, NULL);
    pthread_cond_init(&writer->queued, NULL);
    writer->first = NULL;
    writer->end = &writer->first;
    writer->is_idle = writer->is_lent = writer->is_stopping = false;
    writer->has_refused = false;
    atomic_init(&writer->may_forget, false);
    // Signals belong to the program's threads.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&writer->thread, NULL, work, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        return CADRE_OK;
    pthread_cond_destroy(&writer->queued);
    pthread_mutex_destroy(&writer->mu);
    return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': no thread for its writer");
}

void cdr_sqlite_writer_stop(cdr_sqlite_writer *writer)
{
    pthread_mutex_lock(&writer->mu);
    writer->is_stopping = true;
    pthread_cond_signal(&writer->queued);
    pthread_mutex_unlock(&writer->mu);
    pthread_join(writer->thread, NULL);
    assert(!writer->first);
    pthread_cond_destroy(&writer->queued);
    pthread_mutex_destroy(&writer->mu);
}

// Who finds the writer idle writes for itself with its connection: to wake the thread
// and be woken by it takes as long as half a flush. False: it has not, and is not
// queued.
static bool write_alone(cdr_sqlite_writer *writer, cdr_sqlite_job *job)
{
    pthread_mutex_lock(&writer->mu);
    bool is_alone = writer->is_idle && !writer->is_lent && !writer->first;
    writer->is_lent |= is_alone;
    pthread_mutex_unlock(&writer->mu);
    if (!is_alone)
        return false;
    write_group(writer, job);
    pthread_mutex_lock(&writer->mu);
    writer->is_lent = false;
    if (writer->first || writer->is_stopping)
        pthread_cond_signal(&writer->queued);
    pthread_mutex_unlock(&writer->mu);
    return true;
}

static void queue(cdr_sqlite_writer *writer, cdr_sqlite_job *job)
{
    pthread_mutex_lock(&writer->mu);
    *writer->end = job;
    writer->end = &job->next;
    if (writer->is_idle && !writer->is_lent)
        pthread_cond_signal(&writer->queued);
    pthread_mutex_unlock(&writer->mu);
}

static cadre_status run(cdr_sqlite_writer *writer, cdr_sqlite_job *job,
                        cadre_error *err)
{
    sem_init(&job->done, 0, 0);
    if (!write_alone(writer, job))
        queue(writer, job);
    while (sem_wait(&job->done) != 0 && errno == EINTR)
        continue;
    for (int i = 0; i < 2 && job->wakes[i]; i++)
        sem_post(&job->wakes[i]->done);
    sem_destroy(&job->done);
    if (job->status == CADRE_OK)
        return CADRE_OK;
    return cadre_fail_class(err, job->status, job->err.error_class, job->err.retryable,
                            "%s", job->err.text);
}

cadre_status cdr_sqlite_writer_commit(cdr_sqlite_writer *writer, cadre_commit *commit,
                                      cadre_error *err)
{
    cdr_sqlite_job job = {
        .type = JOB_COMMIT, .commit = commit, .err = CADRE_ERROR_INIT};
    return run(writer, &job, err);
}

cadre_status cdr_sqlite_writer_post(cdr_sqlite_writer *writer, cadre_fact *facts,
                                    size_t n_facts, cadre_error *err)
{
    cdr_sqlite_job job = {
        .type = JOB_POST, .facts = facts, .n_facts = n_facts, .err = CADRE_ERROR_INIT};
    return run(writer, &job, err);
}

cadre_status cdr_sqlite_writer_lease(cdr_sqlite_writer *writer,
                                     const cadre_lease *wanted, int64_t *epoch,
                                     cadre_error *err)
{
    cdr_sqlite_job job = {
        .type = JOB_LEASE, .wanted = wanted, .epoch = epoch, .err = CADRE_ERROR_INIT};
    return run(writer, &job, err);
}

void cdr_sqlite_writer_forget(cdr_sqlite_writer *writer, cadre_id trace)
{
    cdr_sqlite_job job = {.type = JOB_FORGET, .trace = trace, .err = CADRE_ERROR_INIT};
    if (atomic_load(&writer->may_forget))
        run(writer, &job, NULL);
}
