// command: a tool that is a program. It gets its arguments as JSON on stdin and gives
// its result on stdout; stderr is shown while it runs. No shell is involved.
//
// The environment is taken over when the team is made, so that a host program that
// changes its own meanwhile does not race with tools that start.
#include "command/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

// Of the 500 bytes of an error: the rest is for who failed and how.
#define ERROR_TAIL_BYTES 400

static const char schema[] =
    "{"
    "\"argv\": {\"type\": \"array\", \"minItems\": 1,"
    " \"items\": {\"type\": \"string\", \"x-env\": true},"
    " \"description\": \"The program and its arguments, as they are: no shell. With a"
    " slash the program is absolute, or in the folder of the team file; else it is"
    " looked for in PATH\"},"
    "\"env\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"default\": [],"
    " \"description\": \"Names of variables to pass on, beside PATH, HOME, LANG, "
    "LC_ALL,"
    " TMPDIR and TZ\"},"
    "\"grace\": {\"type\": \"string\", \"format\": \"duration\", \"default\": \"1s\","
    " \"minimum\": 0, \"maximum\": 600000,"
    " \"description\": \"How long it may go on after TERM, before KILL\"},"
    "\"max_output\": {\"type\": \"string\", \"format\": \"size\","
    " \"default\": \"256KiB\", \"minimum\": 1024, \"maximum\": 262144,"
    " \"description\": \"What is kept of its output\"}"
    "}";

// --- Options ---

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "no memory for a tool");
}

static cadre_status read_argv(cdr_command *command, const json_t *argv,
                              cadre_error *err)
{
    size_t n = json_array_size(argv);
    if (n == 0 || json_string_length(json_array_get(argv, 0)) == 0)
        return cadre_fail(err, CADRE_EINVAL,
                          "argv must name a program, for example argv: [./%s]",
                          command->name);
    command->argv = calloc(n + 1, sizeof(*command->argv));
    if (command->argv == NULL)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(argv, i);
        if (strlen(json_string_value(item)) != json_string_length(item))
            return cadre_fail(err, CADRE_EINVAL, "argv[%zu] holds a NUL byte", i);
        command->argv[i] = strdup(json_string_value(item));
        if (command->argv[i] == NULL)
            return no_memory(err);
    }
    const char *slash = strrchr(command->argv[0], '/');
    command->program = slash == NULL || slash[1] == '\0' ? command->argv[0] : slash + 1;
    return CADRE_OK;
}

static bool is_in_environment(const cdr_command *command, const char *name)
{
    size_t len = strlen(name);
    for (char *const *at = command->environment; *at != NULL; at++)
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
            return true;
    return false;
}

// Takes a variable over, if it is set. False: no memory.
static bool pass_on(cdr_command *command, const char *name)
{
    // The library never changes the environment. NOLINTNEXTLINE(concurrency-mt-unsafe)
    const char *value = getenv(name);
    char *entry = NULL;
    if (value == NULL || is_in_environment(command, name))
        return true;
    if (asprintf(&entry, "%s=%s", name, value) < 0)
        return false;
    command->environment[command->n_environment++] = entry;
    return true;
}

static cadre_status read_env(cdr_command *command, const json_t *env, cadre_error *err)
{
    static const char *const always[] = {"PATH",   "HOME",   "LANG",
                                         "LC_ALL", "TMPDIR", "TZ"};
    const size_t n_always = sizeof(always) / sizeof(always[0]);
    command->environment =
        calloc(n_always + json_array_size(env) + 1, sizeof(*command->environment));
    if (command->environment == NULL)
        return no_memory(err);
    for (size_t i = 0; i < n_always; i++)
        if (!pass_on(command, always[i]))
            return no_memory(err);
    for (size_t i = 0; i < json_array_size(env); i++) {
        const char *name = json_string_value(json_array_get(env, i));
        if (name[0] == '\0' || strchr(name, '=') != NULL)
            return cadre_fail(err, CADRE_EINVAL,
                              "env[%zu] must be the name of a variable, got '%s'; its "
                              "value is taken from the environment",
                              i, name);
        if (!pass_on(command, name))
            return no_memory(err);
    }
    return CADRE_OK;
}

static void command_fini(void *state)
{
    cdr_command *command = state;
    for (size_t i = 0; command->argv != NULL && command->argv[i] != NULL; i++)
        free(command->argv[i]);
    for (size_t i = 0; i < command->n_environment; i++)
        free(command->environment[i]);
    free(command->argv);
    free(command->environment);
    free(command->directory);
}

// A program may be installed later, so one that is not there is no mistake yet.
static void note_missing(const cdr_command *command, const cadre_tool_config *config)
{
    char text[300];
    int rc = cdr_command_find(command);
    if (rc == 0 || config->note == NULL)
        return;
    const char *where = strchr(command->argv[0], '/') == NULL ? " (not in PATH)" : "";
    (void)snprintf(text, sizeof(text), "cannot be run: %.200s: %s%s", command->argv[0],
                   strerrordesc_np(rc), where);
    config->note(config, text);
}

static cadre_status command_init(void *state, const cadre_tool_config *config,
                                 cadre_error *err)
{
    cdr_command *command = state;
    const json_t *options = config->options;
    command->name = config->info.name;
    command->grace_ms = json_integer_value(json_object_get(options, "grace"));
    command->max_output =
        (size_t)json_integer_value(json_object_get(options, "max_output"));
    cadre_status status = read_argv(command, json_object_get(options, "argv"), err);
    if (status == CADRE_OK)
        status = cdr_command_check_path(command, err);
    if (status == CADRE_OK)
        status = read_env(command, json_object_get(options, "env"), err);
    if (status != CADRE_OK)
        return status;
    command->directory = realpath(config->directory, NULL);
    if (command->directory == NULL)
        return cadre_fail(err, CADRE_EINVAL, "cannot use the folder '%s': %s",
                          config->directory, strerrordesc_np(errno));
    note_missing(command, config);
    return CADRE_OK;
}

// --- Results ---

// The end of `text` that fits into an error, where line ends take two bytes.
static const char *shorten(const char *text)
{
    size_t at = strlen(text);
    size_t cost = 0;
    while (at > 0 && cost + 4 < ERROR_TAIL_BYTES)
        cost += text[--at] == '\n' || text[at] == '\t' ? 2 : 1;
    if (at == 0)
        return text;
    while (((unsigned char)text[at] & 0xc0) == 0x80)
        at++;
    const char *line_end = strchr(text + at, '\n');
    return line_end != NULL ? line_end + 1 : text + at;
}

// Fails with `what` and the last lines the program wrote: to stderr, or to stdout when
// that is where it complains. The frame's output has more of them than an error holds.
static cadre_status fail_with_tail(cadre_frame *frame, const char *what,
                                   const cdr_command_output *output,
                                   const cdr_command_log *log, cadre_error *err)
{
    char *tail = log->tail_len > 0 ? cdr_command_tail_text(log->tail, log->tail_len)
                                   : cdr_command_tail_text(output->data, output->len);
    const char *text = tail == NULL ? "" : tail;
    const char *shown = shorten(text);
    const char *colon = text[0] == '\0' ? "" : ": ";
    const char *whole = cadre_frame_printf(frame, "%s%s%s", what, colon, text);
    if (whole != NULL)
        (void)cadre_frame_set_output(frame, whole, NULL);
    cadre_status status =
        cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_TOOL, false, "%s%s%s%s", what,
                         colon, shown == text ? "" : "...", shown);
    free(tail);
    return status;
}

static cadre_status fail_stopped(const cdr_command *command, cadre_frame *frame,
                                 const cdr_command_log *log, cadre_error *err)
{
    cadre_error why = CADRE_ERROR_INIT;
    cadre_status status = cadre_frame_sleep(frame, 0, &why); // tells why
    char *tail = cdr_command_tail_text(log->tail, log->tail_len);
    const char *text = tail == NULL ? "" : shorten(tail);
    if (status == CADRE_ETIMEOUT)
        status = cadre_fail_class(err, status, why.error_class, why.retryable,
                                  "%.64s was stopped: its time is up%s%s",
                                  command->program, text[0] == '\0' ? "" : ": ", text);
    else
        status = cadre_fail_class(err, status, why.error_class, why.retryable, "%s",
                                  why.text);
    free(tail);
    return status;
}

static cadre_status give_output(cadre_frame *frame, const cdr_command_output *output,
                                cadre_error *err)
{
    char *text = output->failed ? NULL : cdr_command_output_text(output);
    if (text == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for the output of a program");
    cadre_status status = cadre_frame_set_output(frame, text, err);
    free(text);
    return status;
}

// Says how the program failed; "" when it did not.
static void describe_failure(const cdr_command *command, const cdr_command_end *end,
                             char *what, size_t size)
{
    int number = end->wait_status;
    what[0] = '\0';
    if (!end->is_known) {
        (void)snprintf(what, size, CDR_COMMAND_LOST, command->program);
    } else if (WIFSIGNALED(number)) {
        number = WTERMSIG(number);
        const char *name = sigabbrev_np(number);
        const char *meaning = sigdescr_np(number);
        (void)snprintf(what, size, "%.64s was killed by signal %d (SIG%s, %s)",
                       command->program, number, name == NULL ? "?" : name,
                       meaning == NULL ? "?" : meaning);
    } else if (WEXITSTATUS(number) != 0) {
        (void)snprintf(what, size, "%.64s exited with status %d", command->program,
                       WEXITSTATUS(number));
    }
}

static cadre_status finish(const cdr_command *command,
                           const cdr_command_exchange *exchange,
                           const cdr_command_end *end, cadre_error *err)
{
    char what[256];
    if (end->was_stopped)
        return fail_stopped(command, exchange->frame, exchange->log, err);
    describe_failure(command, end, what, sizeof(what));
    if (what[0] == '\0')
        return give_output(exchange->frame, exchange->output, err);
    return fail_with_tail(exchange->frame, what, exchange->output, exchange->log, err);
}

// --- Running ---

// With a line end, for programs that read a line.
static char *make_input(const json_t *arguments)
{
    char *json = json_dumps(arguments, JSON_COMPACT);
    char *input = NULL;
    if (json != NULL && asprintf(&input, "%s\n", json) < 0)
        input = NULL;
    free(json);
    return input;
}

static cadre_status command_run(void *state, cadre_frame *frame,
                                const json_t *arguments, cadre_error *err)
{
    const cdr_command *command = state;
    cdr_command_process process;
    cdr_command_output output = {.max = command->max_output};
    cdr_command_log *log = cadre_frame_alloc(frame, sizeof(*log));
    char *input = make_input(arguments);
    if (input == NULL || log == NULL) {
        free(input);
        return no_memory(err);
    }
    log->frame = frame;
    log->line_len = log->tail_len = 0;
    cdr_command_exchange exchange = {.frame = frame,
                                     .cancel_fd = cadre_frame_cancel_fd(frame),
                                     .grace_ms = command->grace_ms,
                                     .input = input,
                                     .input_len = strlen(input),
                                     .output = &output,
                                     .log = log};
    cadre_status status =
        exchange.cancel_fd >= 0
            ? cdr_command_start(command, frame, &process, err)
            : cadre_fail(err, CADRE_EBUSY, "cannot start '%s': no descriptor is left",
                         command->argv[0]);
    if (status == CADRE_OK) {
        cdr_command_end end = cdr_command_run(&process, &exchange);
        status = finish(command, &exchange, &end, err);
    }
    cdr_command_output_fini(&output);
    free(input);
    return status;
}

extern const cadre_tool_ops cadre_tool_command;

const cadre_tool_ops cadre_tool_command = {
    .struct_size = sizeof(cadre_tool_ops),
    .type = "command",
    .summary = "a program: arguments as JSON on stdin, the result on stdout",
    .options_schema = schema,
    .state_size = sizeof(cdr_command),
    .init = command_init,
    .run = command_run,
    .fini = command_fini,
};
