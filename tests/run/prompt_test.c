// Prompts: what is kept of the last request is what would be written anew, for every
// wire format, whatever the history is and however it goes on.
#include "run/prompt.h"

#include "support/check.h"
#include "support/dice.h"
#include "support/model_call.h"

#include "team/kinds.h"
#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_HISTORIES = 60, // of each format
    N_REQUESTS = 30,  // of one history
    MAX_ITEMS = 400
};

typedef struct stored {
    cadre_message m;
    cdr_fragments fragments;
    char id[16];
} stored;

// One frame's history as its view shows it, and two models that are asked in turn.
typedef struct fixture {
    dice dice;
    cdr_prompt prompt;
    cadre_model models[2];
    cadre_request request;
    stored *messages;
    size_t n_messages;
    int64_t max_tokens;
    size_t n_kept_turns; // in all requests
    size_t n_cut_kept;   // of these, where something was left out
} fixture;

static const cadre_tool_call calls[] = {
    {"a", "f", "{}"}, {"b", "g.h", "{\"x\":1}"}, {"a", "f", "no"},
    {"", "f", ""},    {"c", "k l", "[]"},        {"call_0", "f", "{\"y\": \"z\"}"},
};

static const char *draw(fixture *f, const char *const *texts, int n)
{
    return texts[dice_throw(&f->dice, n)];
}

static void draw_message(fixture *f, cadre_message *m)
{
    static const char *const texts[] = {"", " \n", "text", "\xC3\xA9\"\\", "\xFF"};
    static const char *const ids[] = {"a", "b", "c", "", "call_0"};
    static const char *const models[] = {"p/one", "p/two", ""};
    int what = dice_throw(&f->dice, 10);
    m->text = draw(f, texts, 5);
    m->role = what < 3   ? CADRE_ROLE_USER
              : what < 7 ? CADRE_ROLE_ASSISTANT
                         : CADRE_ROLE_TOOL;
    if (m->role == CADRE_ROLE_USER && dice_percent(&f->dice, 20))
        m->parts = "[{\"type\":\"image\",\"media_type\":\"image/png\","
                   "\"url\":\"https://h/c.png\"}]";
    if (m->role == CADRE_ROLE_TOOL) {
        m->call_id = draw(f, ids, 5);
        m->code =
            dice_percent(&f->dice, 20) ? CADRE_RESULT_TOOL_ERROR : CADRE_RESULT_OK;
    }
    if (m->role != CADRE_ROLE_ASSISTANT)
        return;
    m->model = draw(f, models, 3);
    m->reasoning = dice_percent(&f->dice, 30) ? "so it is" : "";
    m->tool_calls = calls + dice_throw(&f->dice, 4);
    m->n_tool_calls = (size_t)dice_throw(&f->dice, 4);
}

static void add_message(fixture *f)
{
    cdr_view *view = &f->prompt.view;
    stored *made = &f->messages[f->n_messages];
    bool is_speech = dice_percent(&f->dice, 10);
    snprintf(made->id, sizeof made->id, "m%zu", f->n_messages++);
    made->m = (cadre_message){.id = made->id,
                              .frame_id = "",
                              .agent = "a",
                              .to = "",
                              .reasoning = "",
                              .call_id = "",
                              .tool_name = "f",
                              .position = (int64_t)f->n_messages};
    draw_message(f, &made->m);
    view->items[view->n_items++] = (cadre_request_item){
        .message = &made->m,
        .text = made->m.text,
        .rendering = is_speech                         ? CADRE_AS_SPEECH
                     : made->m.role == CADRE_ROLE_USER ? CADRE_AS_USER
                                                       : CADRE_AS_OWN,
        .cache = dice_percent(&f->dice, 80) ? &made->fragments : NULL};
}

// What is settled stays; the rest is replaced, and more comes behind it.
static void go_on(fixture *f)
{
    cdr_view *view = &f->prompt.view;
    size_t settled = view->settled.n_items;
    view->n_items = settled;
    for (int n = 1 + dice_throw(&f->dice, 8); n > 0; n--)
        add_message(f);
    size_t n_new = view->n_items - settled;
    view->settled.n_items =
        dice_percent(&f->dice, 70)
            ? view->n_items
            : settled + (size_t)dice_throw(&f->dice, (int)n_new + 1);
}

// As a narrow history does that begins elsewhere.
static void drop_oldest(fixture *f)
{
    cdr_view *view = &f->prompt.view;
    size_t n = (size_t)dice_throw(&f->dice, (int)view->n_items);
    view->n_items -= n;
    memmove(view->items, view->items + n, view->n_items * sizeof *view->items);
    view->settled.n_items = view->n_items;
    view->edition++;
}

// It grows, so it stands elsewhere.
static void move_items(fixture *f)
{
    cdr_view *view = &f->prompt.view;
    cadre_request_item *moved = malloc(MAX_ITEMS * sizeof *moved);
    if (moved == NULL)
        abort();
    memcpy(moved, view->items, view->n_items * sizeof *moved);
    memset(view->items, 0x5a, MAX_ITEMS * sizeof *moved);
    free(view->items);
    view->items = moved;
}

static void look(fixture *f)
{
    const cdr_view *view = &f->prompt.view;
    const cdr_window *window = &f->prompt.window;
    const cdr_window_view said = {.items = view->items,
                                  .n_items = view->n_items,
                                  .n_said = view->n_items,
                                  .n_settled = view->settled.n_items,
                                  .edition = view->edition};
    CHECK(cdr_window_update(&f->prompt.window, &said, f->max_tokens));
    f->request.items = window->items;
    f->request.n_items = window->n_items;
}

static void check_same_bytes(fixture *f, const cadre_model *model)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_prompt fresh = {.model = NULL};
    cadre_request_item items[MAX_ITEMS];
    look(f);
    cadre_request request = f->request;
    size_t n = request.n_items;
    CHECK_OK(cdr_prompt_encode(&f->prompt, model, &f->request, &err), &err);
    memcpy(items, request.items, n * sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i].cache = NULL;
    request.items = items;
    CHECK_OK(cdr_prompt_encode(&fresh, model, &request, &err), &err);
    CHECK_BYTES(f->prompt.http.body.data, f->prompt.http.body.len, fresh.http.body.data,
                fresh.http.body.len);
    CHECK_TEXT(f->prompt.http.url, fresh.http.url);
    CHECK_INT(f->prompt.http.n_headers, fresh.http.n_headers);
    cdr_http_fini(&fresh.http);
    cdr_transcript_fini(&fresh.transcript);
}

static int64_t draw_limit(fixture *f)
{
    return dice_percent(&f->dice, 50) ? 0 : 100 + dice_throw(&f->dice, 400);
}

static void check_history(fixture *f)
{
    static const char *const systems[] = {"Be brief.", "", "Be \"long\"."};
    static const cadre_tool_info tool = {.name = "files.read", .description = "Reads"};
    int at = 0;
    f->request = (cadre_request){.system = systems[0],
                                 .tools = &tool,
                                 .api_key = "",
                                 .agent = "a",
                                 .model = f->models[0].full_name};
    f->max_tokens = draw_limit(f);
    for (int i = 0; i < N_REQUESTS; i++) {
        if (dice_percent(&f->dice, 5))
            f->request.system = draw(f, systems, 3);
        if (dice_percent(&f->dice, 5))
            at = 1 - at;
        if (dice_percent(&f->dice, 20))
            f->request.n_tools = 1 - f->request.n_tools;
        if (dice_percent(&f->dice, 10))
            drop_oldest(f);
        if (dice_percent(&f->dice, 20))
            move_items(f);
        if (dice_percent(&f->dice, 5))
            f->max_tokens = draw_limit(f);
        f->request.model = f->models[at].full_name;
        go_on(f);
        check_same_bytes(f, &f->models[at]);
        f->n_kept_turns += f->prompt.transcript.n_same;
        if (f->prompt.window.is_cut)
            f->n_cut_kept += f->prompt.transcript.n_same;
    }
}

static void fixture_init(fixture *f, const cadre_model_ops *ops, void *state, int seed)
{
    *f = (fixture){.dice = dice_of((uint64_t)seed, ops->provider)};
    for (int i = 0; i < 2; i++)
        f->models[i] = (cadre_model){.name = "m",
                                     .full_name = i == 0 ? "p/one" : "p/two",
                                     .ops = ops,
                                     .state = state};
    f->messages = calloc(MAX_ITEMS, sizeof *f->messages);
    f->prompt.view.items = calloc(MAX_ITEMS, sizeof(cadre_request_item));
    if (f->messages == NULL || f->prompt.view.items == NULL)
        abort();
}

static void fixture_fini(fixture *f)
{
    for (size_t i = 0; i < f->n_messages; i++)
        cdr_fragments_fini(&f->messages[i].fragments);
    free(f->messages);
    cdr_window_fini(&f->prompt.window);
    cdr_view_fini(&f->prompt.view);
    cdr_transcript_fini(&f->prompt.transcript);
    cdr_http_fini(&f->prompt.http);
    free(f->prompt.system);
}

static void check_format(const cadre_model_ops *ops)
{
    cadre_error err = CADRE_ERROR_INIT;
    size_t n_kept_turns = 0;
    size_t n_cut_kept = 0;
    void *state = model_open(ops, "http://h/v1", NULL, &err);
    if (!CHECK(state != NULL))
        return;
    for (int seed = 0; seed < N_HISTORIES; seed++) {
        fixture f;
        unsigned n_before = CU_get_number_of_failures();
        fixture_init(&f, ops, state, seed);
        check_history(&f);
        n_kept_turns += f.n_kept_turns;
        n_cut_kept += f.n_cut_kept;
        fixture_fini(&f);
        if (CU_get_number_of_failures() != n_before) {
            printf("\n  %s, history %d\n", ops->provider, seed);
            break;
        }
    }
    CHECK(n_kept_turns > N_HISTORIES * N_REQUESTS); // else nothing was tried
    CHECK(n_cut_kept > N_HISTORIES * N_REQUESTS / 8);
    model_close(ops, state);
}

static void test_prompt__what_is_kept_is_what_would_be_written_anew(void)
{
    for (size_t i = 0; cdr_kinds_models[i] != NULL; i++)
        if (cdr_kinds_models[i]->encode != NULL)
            check_format(cdr_kinds_models[i]);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_prompt__what_is_kept_is_what_would_be_written_anew),
        CU_TEST_INFO_NULL,
    };
    return check_main("run/prompt", tests);
}
