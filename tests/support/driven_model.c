// See driven_model.h.
#include "support/driven_model.h"

#include "support/check.h"
#include "support/mortal_store.h"

#include "base/buf.h"
#include "cadre/ext/model.h"
#include "tree/tree.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_AGENTS = 64,
    MAX_REPLIES = 256
};

typedef struct asked {
    char *request, *system, *tools, *schema;
    int64_t at_ms;
} asked;

static char nothing[] = "";

// An instance: what its replies stand under.
typedef struct driven_state {
    char name[72];
} driven_state;

typedef struct speaker {
    char name[72];
    const char *replies[MAX_REPLIES];
    size_t n_replies, n_used;
    asked *requests;
    size_t n_requests, capacity;
} speaker;

static struct {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    speaker speakers[MAX_AGENTS];
    size_t n_speakers, n_held;
    int gate; // an eventfd; readable: open
} driven = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .gate = -1};

static speaker *find_locked(const char *name)
{
    for (size_t i = 0; i < driven.n_speakers; i++)
        if (strcmp(driven.speakers[i].name, name) == 0)
            return &driven.speakers[i];
    if (driven.n_speakers == MAX_AGENTS)
        abort();
    speaker *made = &driven.speakers[driven.n_speakers++];
    strncpy(made->name, name, sizeof made->name - 1);
    return made;
}

// --- What was asked ---

static void write_message(cdr_buf *to, const cadre_request_item *item)
{
    const cadre_message *m = item->message;
    if (item->rendering != CADRE_AS_OWN) {
        cdr_buf_printf(to, "user: %s\n", item->text);
        return;
    }
    if (m->role == CADRE_ROLE_TOOL) {
        cdr_buf_printf(to, "tool %s: %s\n", m->call_id, item->text);
        return;
    }
    cdr_buf_printf(to, "assistant: %s\n", item->text);
    for (size_t i = 0; i < m->n_tool_calls; i++)
        cdr_buf_printf(to, "call %s %s %s\n", m->tool_calls[i].id,
                       m->tool_calls[i].name, m->tool_calls[i].arguments);
}

static char *schema_text(const cadre_request *request)
{
    cdr_buf text = CDR_BUF_INIT;
    if (request->output_schema == NULL)
        return strdup("");
    char *json = json_dumps(request->output_schema, JSON_COMPACT);
    cdr_buf_printf(&text, "%s %s", request->output_name, json);
    free(json);
    return cdr_buf_take(&text);
}

static void remember_locked(speaker *who, const cadre_request *request, int64_t at_ms)
{
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf tools = CDR_BUF_INIT;
    if (who->n_requests == who->capacity) {
        who->capacity = who->capacity == 0 ? 8 : who->capacity * 2;
        who->requests = realloc(who->requests, who->capacity * sizeof(asked));
    }
    for (size_t i = 0; i < request->n_items; i++)
        write_message(&text, &request->items[i]);
    for (size_t i = 0; i < request->n_tools; i++)
        cdr_buf_printf(&tools, "%s%s", i == 0 ? "" : ", ", request->tools[i].name);
    char *system = strdup(request->system);
    char *schema = schema_text(request);
    if (who->requests == NULL || text.failed || tools.failed || system == NULL)
        abort();
    who->requests[who->n_requests++] =
        (asked){cdr_buf_take(&text), system, cdr_buf_take(&tools), schema, at_ms};
}

// --- Answering ---

// The first word of a line and what stands behind it, both ended.
static char *split(char *line)
{
    char *blank = strchr(line, ' ');
    if (blank == NULL)
        return line + strlen(line);
    *blank = '\0';
    return blank + 1;
}

static void play_call(cadre_sink *sink, char *name)
{
    char *arguments = split(name);
    size_t call = cadre_sink_add_call(sink);
    cadre_sink_call_name(sink, call, name, strlen(name));
    cadre_sink_call_arguments(sink, call, arguments, strlen(arguments));
}

static void play_transfer(cadre_sink *sink, char *to)
{
    static const char name[] = "transfer_to_agent";
    char *message = split(to);
    json_t *arguments = json_pack("{s:s}", "agent", to);
    if (message[0] != '\0')
        json_object_set_new(arguments, "message", json_string(message));
    char *text = json_dumps(arguments, JSON_COMPACT);
    size_t call = cadre_sink_add_call(sink);
    cadre_sink_call_name(sink, call, name, sizeof name - 1);
    cadre_sink_call_arguments(sink, call, text, strlen(text));
    free(text);
    json_decref(arguments);
}

static void count_held(void)
{
    pthread_mutex_lock(&driven.mu);
    driven.n_held++;
    pthread_cond_broadcast(&driven.changed);
    pthread_mutex_unlock(&driven.mu);
}

// Waits for driven_release, or until the frame must stop.
static cadre_status pass_gate(cadre_frame *frame, cadre_error *err)
{
    struct pollfd fds[] = {{driven.gate, POLLIN, 0},
                           {cadre_frame_cancel_fd(frame), POLLIN, 0}};
    count_held();
    while (poll(fds, 2, -1) < 0)
        continue;
    return cadre_frame_is_stopped(frame) ? cadre_frame_sleep(frame, 0, err) : CADRE_OK;
}

static bool may_pass(cadre_error_class error_class)
{
    switch (error_class) {
    case CADRE_CLASS_RATE_LIMITED:
    case CADRE_CLASS_OVERLOADED:
    case CADRE_CLASS_SERVER:
    case CADRE_CLASS_CONNECTION:
    case CADRE_CLASS_TIMEOUT:
    case CADRE_CLASS_TRUNCATED:
        return true;
    default:
        return false;
    }
}

static cadre_status play_line(cadre_frame *frame, char *line, cadre_sink *sink,
                              cadre_error *err)
{
    char *rest = split(line);
    if (strcmp(line, "say") == 0) {
        cadre_sink_text(sink, rest, strlen(rest));
    } else if (strcmp(line, "think") == 0) {
        cadre_sink_reasoning(sink, rest, strlen(rest));
    } else if (strcmp(line, "call") == 0) {
        play_call(sink, rest);
    } else if (strcmp(line, "to") == 0) {
        play_transfer(sink, rest);
    } else if (strcmp(line, "hold") == 0) {
        count_held();
        return cadre_frame_sleep(frame, INT64_MAX, err);
    } else if (strcmp(line, "gate") == 0) {
        return pass_gate(frame, err);
    } else if (strcmp(line, "usage") == 0) {
        char *more = split(rest);
        cadre_sink_usage(sink, &(cadre_usage){.input_tokens = strtol(rest, NULL, 10),
                                              .output_tokens = strtol(more, NULL, 10)});
    } else if (strcmp(line, "fail") == 0) {
        char *text = split(rest);
        cadre_error_class error_class = cadre_error_class_from_name(rest);
        return cadre_fail_class(err, CADRE_EFAILED, error_class, may_pass(error_class),
                                "%s", text);
    } else if (strcmp(line, "die") == 0) {
        mortal_store_die();
    } else if (strcmp(line, "wait") == 0) {
        err->retry_after_ms = strtol(rest, NULL, 10);
    } else if (strcmp(line, "always") != 0) {
        return cadre_fail(err, CADRE_EINVAL, "driven: unknown line '%s'", line);
    }
    return CADRE_OK;
}

// Whose replies these are: the model's own, if it has any.
static speaker *speaker_locked(const driven_state *model, const char *agent)
{
    for (size_t i = 0; i < driven.n_speakers; i++)
        if (strcmp(driven.speakers[i].name, model->name) == 0)
            return &driven.speakers[i];
    return find_locked(agent);
}

static const char *take_reply(const driven_state *model, const cadre_request *request,
                              int64_t at_ms)
{
    pthread_mutex_lock(&driven.mu);
    speaker *who = speaker_locked(model, request->agent);
    const char *reply = NULL;
    remember_locked(who, request, at_ms);
    if (who->n_used < who->n_replies)
        reply = who->replies[who->n_used++];
    else if (who->n_replies > 0 &&
             strncmp(who->replies[who->n_replies - 1], "always", 6) == 0)
        reply = who->replies[who->n_replies - 1];
    pthread_mutex_unlock(&driven.mu);
    return reply;
}

static cadre_status driven_answer(const void *state, cadre_frame *frame,
                                  const cadre_request *request, cadre_sink *sink,
                                  cadre_error *err)
{
    cadre_status status = CADRE_OK;
    bool was_cut = false;
    const char *reply = take_reply(state, request, cdr_tree_now_ms(frame->tree));
    if (reply == NULL)
        return cadre_fail(err, CADRE_EINVAL, "driven: no reply is left for '%s'",
                          request->agent);
    char *lines = strdup(reply);
    char *place = NULL;
    for (char *line = strtok_r(lines, "\n", &place); line != NULL && status == CADRE_OK;
         line = strtok_r(NULL, "\n", &place)) {
        was_cut = strcmp(line, "cut") == 0;
        status = was_cut ? CADRE_OK : play_line(frame, line, sink, err);
    }
    free(lines);
    if (status != CADRE_OK)
        return status;
    cadre_finish whole =
        cadre_sink_call_count(sink) > 0 ? CADRE_FINISH_TOOL_CALLS : CADRE_FINISH_STOP;
    cadre_sink_finish(sink, was_cut ? CADRE_FINISH_LENGTH : whole);
    cadre_sink_end(sink);
    return CADRE_OK;
}

static cadre_status driven_init(void *state, const cadre_model_config *config,
                                cadre_error *err)
{
    driven_state *model = state;
    (void)err;
    snprintf(model->name, sizeof model->name, "driven/%s", config->model);
    return CADRE_OK;
}

static const cadre_model_ops driven_ops = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "driven",
    .summary = "answers as a test says",
    .state_size = sizeof(driven_state),
    .init = driven_init,
    .answer = driven_answer,
};

// --- The test's side ---

void driven_register(cadre_runtime *runtime)
{
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_runtime_register_model(runtime, &driven_ops, &err), &err);
}

void driven_open(cadre_runtime *runtime)
{
    driven_close();
    driven.gate = eventfd(0, EFD_CLOEXEC);
    driven_register(runtime);
}

void driven_close(void)
{
    pthread_mutex_lock(&driven.mu);
    for (size_t i = 0; i < driven.n_speakers; i++) {
        speaker *who = &driven.speakers[i];
        for (size_t k = 0; k < who->n_requests; k++) {
            free(who->requests[k].request);
            free(who->requests[k].system);
            free(who->requests[k].tools);
            free(who->requests[k].schema);
        }
        free(who->requests);
    }
    memset(driven.speakers, 0, sizeof driven.speakers);
    driven.n_speakers = driven.n_held = 0;
    if (driven.gate >= 0)
        close(driven.gate);
    driven.gate = -1;
    pthread_mutex_unlock(&driven.mu);
}

void driven_add(const char *agent, const char *const *replies, size_t n)
{
    pthread_mutex_lock(&driven.mu);
    speaker *who = find_locked(agent);
    for (size_t i = 0; i < n; i++) {
        if (who->n_replies == MAX_REPLIES)
            abort();
        who->replies[who->n_replies++] = replies[i];
    }
    pthread_mutex_unlock(&driven.mu);
}

static const asked *find_request(const char *agent, size_t nth)
{
    static const asked none = {nothing, nothing, nothing, nothing, 0};
    pthread_mutex_lock(&driven.mu);
    const speaker *who = find_locked(agent);
    const asked *found = nth < who->n_requests ? &who->requests[nth] : &none;
    pthread_mutex_unlock(&driven.mu);
    return found;
}

const char *driven_request(const char *agent, size_t nth)
{
    return find_request(agent, nth)->request;
}

const char *driven_system(const char *agent, size_t nth)
{
    return find_request(agent, nth)->system;
}

const char *driven_tools(const char *agent, size_t nth)
{
    return find_request(agent, nth)->tools;
}

int64_t driven_asked_at(const char *agent, size_t nth)
{
    return find_request(agent, nth)->at_ms;
}

const char *driven_schema(const char *agent, size_t nth)
{
    return find_request(agent, nth)->schema;
}

size_t driven_count(const char *agent)
{
    pthread_mutex_lock(&driven.mu);
    size_t n = find_locked(agent)->n_requests;
    pthread_mutex_unlock(&driven.mu);
    return n;
}

bool driven_await_held(size_t n)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 20;
    int waited = 0;
    pthread_mutex_lock(&driven.mu);
    while (driven.n_held < n && waited == 0)
        waited = pthread_cond_clockwait(&driven.changed, &driven.mu, CLOCK_MONOTONIC,
                                        &until);
    pthread_mutex_unlock(&driven.mu);
    return waited == 0;
}

void driven_release(void)
{
    uint64_t one = 1;
    CHECK(write(driven.gate, &one, sizeof one) == (ssize_t)sizeof one);
}
