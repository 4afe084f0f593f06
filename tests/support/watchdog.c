// See watchdog.h.
#include "support/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t mu;
    pthread_cond_t stopped;
    pthread_t thread;
    const watchdog *dog;
    bool is_stopped; // guarded by mu
} kept = {.mu = PTHREAD_MUTEX_INITIALIZER, .stopped = PTHREAD_COND_INITIALIZER};

// False: it was stopped meanwhile.
static bool wait_a_second(void)
{
    struct timespec until;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    pthread_mutex_lock(&kept.mu);
    while (!kept.is_stopped && status != ETIMEDOUT)
        status =
            pthread_cond_clockwait(&kept.stopped, &kept.mu, CLOCK_MONOTONIC, &until);
    bool goes_on = !kept.is_stopped;
    pthread_mutex_unlock(&kept.mu);
    return goes_on;
}

static void show_threads(void)
{
    char pid[24];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    fflush(NULL);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); // where only parents may look
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        execlp("gdb", "gdb", "-batch", "-nx", "-p", pid, "-ex", "thread apply all bt",
               (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void bark(void)
{
    printf("\nstuck: nothing has happened for %d seconds\n", kept.dog->seconds);
    fflush(NULL);
    show_threads();
    alarm(10); // telling may wait for what is stuck
    kept.dog->tell();
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

static void *watch(void *arg)
{
    uint64_t last = kept.dog->progress();
    int n_quiet = 0;
    (void)arg;
    while (wait_a_second()) {
        uint64_t now = kept.dog->progress();
        n_quiet = now == last ? n_quiet + 1 : 0;
        last = now;
        if (n_quiet >= kept.dog->seconds)
            bark();
    }
    return NULL;
}

void watchdog_start(const watchdog *dog)
{
    kept.dog = dog;
    kept.is_stopped = false;
    if (pthread_create(&kept.thread, NULL, watch, NULL) != 0)
        abort();
}

void watchdog_stop(void)
{
    pthread_mutex_lock(&kept.mu);
    kept.is_stopped = true;
    pthread_cond_broadcast(&kept.stopped);
    pthread_mutex_unlock(&kept.mu);
    pthread_join(kept.thread, NULL);
}
