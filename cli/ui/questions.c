// See questions.h.
#include "questions.h"

#include "report.h"
#include "shell.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// With more choices than this, one command stands for all.
#define MAX_COMMANDS 4

static bool is_kind(const cadre_frame_info *frame, const char *kind)
{
    return strcmp(frame->kind, kind) == 0;
}

// --- Finding ---

static bool waits(const cadre_frame_info *frame)
{
    return is_kind(frame, "ask") && frame->status == CADRE_FRAME_WAITING;
}

// The tool whose call a person is to allow. What a model says in a question of its own
// makes no approval of it.
static const char *approved_tool(cli_frames frames, const cadre_frame_info *ask)
{
    const cadre_frame_info *above = ask->parent < 0 ? NULL : &frames.items[ask->parent];

    return above && is_kind(above, "tool") && strcmp(ask->key, "approval") == 0
               ? above->name
               : NULL;
}

static const char *agent_above(cli_frames frames, const cadre_frame_info *frame)
{
    while (frame->parent >= 0 && !is_kind(frame, "agent"))
        frame = &frames.items[frame->parent];
    return frame->name;
}

// Tools of one turn ask at the same time: the frames of their questions come in any
// order, those of their calls do not.
static void add(cli_questions *questions, const cli_question *question)
{
    size_t at = questions->n++;

    for (; at > 0 && questions->items[at - 1].parent > question->parent; at--)
        questions->items[at] = questions->items[at - 1];
    questions->items[at] = *question;
}

bool cli_questions_init(cli_questions *questions, cli_frames frames)
{
    size_t n_waiting = 0;

    for (size_t i = 0; i < frames.count; i++)
        n_waiting += waits(&frames.items[i]);
    *questions = (cli_questions){.items = calloc(n_waiting + 1, sizeof(cli_question))};
    for (size_t i = 0; questions->items && i < frames.count; i++) {
        const cadre_frame_info *frame = &frames.items[i];
        if (waits(frame))
            add(questions,
                &(cli_question){.id = frame->id,
                                .agent = agent_above(frames, frame),
                                .parent = frame->parent,
                                .tool = approved_tool(frames, frame),
                                .stored = json_loads(frame->input, 0, NULL)});
    }
    questions->n_open = questions->n;
    if (!questions->items)
        cli_report("out of memory");
    return questions->items != NULL;
}

void cli_questions_fini(cli_questions *questions)
{
    for (size_t i = 0; i < questions->n; i++)
        json_decref(questions->items[i].stored);
    free(questions->items);
    cadre_record_close(questions->record);
    *questions = (cli_questions){.items = NULL};
}

// An answer stays in the inbox until the run reads it.
static const char *answer_to(const char *id, const cadre_record_message *messages,
                             size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const cadre_message *message = messages[i].message;
        if (message->position < 0 && message->is_input &&
            strcmp(message->frame_id, id) == 0)
            return message->text;
    }
    return NULL;
}

bool cli_questions_init_record(cli_questions *questions, const cadre_record *record)
{
    cli_frames frames;
    size_t n_messages = 0;
    const cadre_record_message *messages = cadre_record_messages(record, &n_messages);

    frames.items = cadre_record_frames(record, &frames.count);
    if (!cli_questions_init(questions, frames))
        return false;
    for (size_t i = 0; i < questions->n; i++) {
        cli_question *question = &questions->items[i];
        question->answer = answer_to(question->id, messages, n_messages);
        questions->n_open -= question->answer != NULL;
    }
    return true;
}

bool cli_questions_read(cli_questions *questions, cadre_runtime *runtime,
                        const char *trace)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_record *record = NULL;

    *questions = (cli_questions){.items = NULL};
    if (cadre_record_open(runtime, trace, &record, &err) != CADRE_OK) {
        cli_report("%s", err.text);
        return false;
    }
    bool is_read = cli_questions_init_record(questions, record);
    questions->record = record;
    return is_read;
}

const cli_question *cli_questions_find(const cli_questions *questions, const char *id)
{
    for (size_t i = 0; i < questions->n; i++)
        if (strcmp(questions->items[i].id, id) == 0)
            return &questions->items[i];
    return NULL;
}

static const json_t *choices_of(const cli_question *question)
{
    const json_t *choices = json_object_get(question->stored, "choices");

    return json_array_size(choices) > 0 ? choices : NULL;
}

bool cli_question_allows(const cli_question *question, const json_t *answer)
{
    const json_t *choices = choices_of(question);
    bool is_known = choices == NULL;

    for (size_t i = 0; i < json_array_size(choices); i++)
        is_known |= json_equal(json_array_get(choices, i), answer) == 1;
    return is_known;
}

static const char *find_choice(const json_t *choices, const char *text)
{
    for (size_t i = 0; i < json_array_size(choices); i++) {
        const char *choice = json_string_value(json_array_get(choices, i));
        if (choice && strcmp(choice, text) == 0)
            return choice;
    }
    return NULL;
}

const char *cli_question_match(const cli_question *question, const char *typed)
{
    static const char *const words[][2] = {{"y", "yes"}, {"n", "no"}};
    const json_t *choices = choices_of(question);
    const char *choice = choices ? find_choice(choices, typed) : typed;

    for (size_t i = 0; choices && i < 2 && !choice; i++)
        if (strcasecmp(typed, words[i][0]) == 0 || strcasecmp(typed, words[i][1]) == 0)
            choice = find_choice(choices, words[i][1]);
    return choice;
}

// --- For programs ---

static json_t *copy_of(const json_t *value)
{
    return value ? json_deep_copy(value) : json_null();
}

static const char *text_of(const json_t *stored)
{
    const char *text = json_string_value(json_object_get(stored, "question"));

    return text ? text : "";
}

json_t *cli_questions_json(const cli_questions *questions)
{
    json_t *array = json_array();

    for (size_t i = 0; i < questions->n; i++) {
        const cli_question *question = &questions->items[i];
        if (question->answer)
            continue;
        json_t *object = json_object();
        json_object_set_new(object, "id", cli_json_text(question->id));
        json_object_set_new(object, "agent", cli_json_text(question->agent));
        json_object_set_new(object, "question",
                            cli_json_text(text_of(question->stored)));
        json_object_set_new(object, "choices", copy_of(choices_of(question)));
        json_object_set_new(object, "tool", cli_json_text(question->tool));
        json_object_set_new(object, "arguments",
                            copy_of(question->tool
                                        ? json_object_get(question->stored, "arguments")
                                        : NULL));
        json_array_append_new(array, object);
    }
    return array;
}

// --- For people ---

static void print_words(FILE *stream, const char *text)
{
    cli_text_print(stream, text, strlen(text), CLI_TEXT_ONE_LINE);
}

// A model's further lines cannot pass for lines of the program's own.
static void print_lines(FILE *stream, const char *text)
{
    for (size_t len = strcspn(text, "\n");; len = strcspn(text, "\n")) {
        cli_text_print(stream, text, len, CLI_TEXT_LINES);
        fputc('\n', stream);
        if (!text[len])
            return;
        text += len + 1;
        fputs("  | ", stream);
    }
}

static void print_json(FILE *stream, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    print_words(stream, text ? text : "...");
    free(text);
}

// All that one must know to allow a call; and what else stands with a question.
static void print_rest(FILE *stream, const cli_question *question)
{
    static const char *const known[] = {"question", "choices", "tool", "arguments",
                                        "agent"};
    const char *key = NULL;
    json_t *value = NULL;

    if (question->tool) {
        fputs("  ", stream);
        print_words(stream, question->tool);
        fputc(' ', stream);
        print_json(stream, json_object_get(question->stored, "arguments"));
        fputc('\n', stream);
    }
    json_object_foreach(question->stored, key, value)
    {
        bool is_known = false;
        // Only an approval has more than a question and its choices by itself.
        for (size_t i = 0; i < (question->tool ? 5U : 2U); i++)
            is_known |= strcmp(key, known[i]) == 0;
        if (is_known)
            continue;
        fputs("  ", stream);
        print_words(stream, key);
        fputs(": ", stream);
        print_json(stream, value);
        fputc('\n', stream);
    }
}

// Can it stand on a command line as it is, and be read there?
static bool is_plain(const char *text)
{
    size_t len = strlen(text);

    if (len == 0 || *text == '-')
        return false;
    while (len > 0) {
        uint32_t character = 0;
        size_t n = cli_text_decode(text, len, &character);
        if (n == 0 || cli_text_is_unsafe(character))
            return false;
        text += n;
        len -= n;
    }
    return true;
}

// DEL is the one unsafe character of ASCII that JSON leaves as it is.
static void print_json_word(FILE *stream, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII);
    char *safe = NULL;
    size_t len = 0;
    FILE *escaped = open_memstream(&safe, &len);

    for (const char *c = text; escaped && c && *c; c++) {
        if (*c == '\177')
            fputs("\\u007f", escaped);
        else
            fputc(*c, escaped);
    }
    if (escaped && fclose(escaped) == 0)
        cli_shell_print(stream, safe);
    free(safe);
    free(text);
}

// What is no plain word is written as JSON, which has escapes.
static void print_answer(FILE *stream, const char *id, const char *choice)
{
    if (!choice || is_plain(choice)) {
        fprintf(stream, " %s ", id);
        if (choice)
            cli_shell_print(stream, choice);
        else
            fputs("ANSWER", stream);
        return;
    }
    json_t *object = json_pack("{s:s}", id, choice);
    fputs(" --json ", stream);
    print_json_word(stream, object);
    json_decref(object);
}

static void print_commands(FILE *stream, const cli_question *question,
                           const char *trace, const char *options)
{
    const json_t *choices = choices_of(question);
    size_t n = json_array_size(choices);
    bool is_each = n > 0 && n <= MAX_COMMANDS;

    for (size_t i = 0; i < (is_each ? n : 1); i++) {
        fprintf(stream, "  cadre answer %s", trace);
        print_answer(stream, question->id,
                     is_each ? json_string_value(json_array_get(choices, i)) : NULL);
        print_words(stream, options);
        fputc('\n', stream);
    }
}

static void print_choices(FILE *stream, const cli_question *question)
{
    const json_t *choices = choices_of(question);

    for (size_t i = 0; i < json_array_size(choices); i++) {
        const char *choice = json_string_value(json_array_get(choices, i));
        fputs(i == 0 ? "  choices: " : ", ", stream);
        print_words(stream, choice ? choice : "");
    }
    if (choices)
        fputc('\n', stream);
}

static void print_colour(FILE *stream, const cli_terminal *terminal, cli_colour colour)
{
    if (terminal)
        cli_terminal_colour(terminal, stream, colour);
}

void cli_question_print(FILE *stream, const cli_question *question,
                        const cli_terminal *terminal)
{
    print_colour(stream, terminal, CLI_COLOUR_YELLOW);
    print_words(stream, question->agent);
    fputs(" asks:", stream);
    print_colour(stream, terminal, CLI_COLOUR_NONE);
    fputc(' ', stream);
    print_lines(stream, text_of(question->stored));
    print_rest(stream, question);
    print_choices(stream, question);
}

void cli_questions_print(FILE *stream, const cli_questions *questions,
                         const char *trace, const char *options)
{
    for (size_t i = 0; i < questions->n; i++) {
        const cli_question *question = &questions->items[i];
        if (question->answer)
            continue;
        cli_question_print(stream, question, NULL);
        if (options)
            print_commands(stream, question, trace, options);
    }
}

void cli_questions_report(const cli_questions *questions, const char *trace,
                          const char *options)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);

    if (!stream)
        return;
    cli_questions_print(stream, questions, trace, options);
    if (fclose(stream) == 0)
        fwrite(text, 1, len, stderr);
    free(text);
}

// --- Of a frame ---

char *cli_question_text(const cadre_frame_info *frame)
{
    json_t *stored = json_loads(frame->input, 0, NULL);
    char *text = strdup(text_of(stored));

    json_decref(stored);
    return text;
}

char *cli_question_said(const char *answer)
{
    json_t *value = json_loads(answer, JSON_DECODE_ANY, NULL);
    const char *said = json_string_value(value);
    char *text = strdup(said ? said : answer);

    json_decref(value);
    return text;
}
