// See live_frames.h.
#include "live_frames.h"

#include "duration.h"

#include <stdlib.h>
#include <string.h>

bool cli_live_frames_init(cli_live_frames *frames)
{
    *frames = (cli_live_frames){.index = json_object()};
    return frames->index != NULL;
}

void cli_live_frames_fini(cli_live_frames *frames)
{
    for (size_t i = 0; i < frames->n; i++) {
        free(frames->items[i].name);
        json_decref(frames->items[i].tools);
    }
    free(frames->items);
    free(frames->parents);
    free(frames->rows);
    json_decref(frames->index);
}

static bool grow(void *array, size_t item_size, size_t room)
{
    void *old = NULL;

    memcpy(&old, array, sizeof(old));
    void *grown = reallocarray(old, room, item_size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof(grown));
    return true;
}

static bool make_room(cli_live_frames *frames)
{
    size_t room = frames->room ? frames->room * 2 : 16;

    if (frames->n < frames->room)
        return true;
    if (!grow(&frames->items, sizeof(*frames->items), room) ||
        !grow(&frames->parents, sizeof(*frames->parents), room) ||
        !grow(&frames->rows, sizeof(*frames->rows), room))
        return false;
    frames->room = room;
    return true;
}

static int find(const cli_live_frames *frames, const char *id)
{
    const json_t *at = id ? json_object_get(frames->index, id) : NULL;

    return at ? (int)json_integer_value(at) : -1;
}

// The agent whose work an event tells of: the root's comes without a thread.
static int find_agent(const cli_live_frames *frames, const cadre_event *event)
{
    if (event->thread_id)
        return find(frames, event->thread_id);
    return frames->n > 0 ? 0 : -1;
}

static void remember(cli_live_frames *frames, const char *id, size_t position)
{
    json_object_set_new(frames->index, id, json_integer((json_int_t)position));
}

static void add(cli_live_frames *frames, const cadre_event *event)
{
    if (!make_room(frames))
        return;
    cli_live_frame *frame = &frames->items[frames->n];
    *frame = (cli_live_frame){.name = strdup(event->agent ? event->agent : ""),
                              .is_transfer =
                                  strcmp(event->u.frame_start.key, "transfer") == 0,
                              .status = CADRE_FRAME_RUNNING,
                              .started_ms = cli_duration_clock_ms()};
    if (!frame->name)
        return;
    snprintf(frame->referer, sizeof(frame->referer), "%s",
             event->u.frame_start.referer);
    int parent = find(frames, event->u.frame_start.parent_id);
    // Unknown is who was called by something that is not shown.
    frames->parents[frames->n] = parent < 0 && frames->n > 0 ? 0 : parent;
    remember(frames, event->frame_id, frames->n);
    frames->n++;
}

static void end(cli_live_frame *frame, const cadre_event *event)
{
    frame->has_ended = true;
    frame->status = event->u.frame_end.status;
    frame->duration_ms = event->u.frame_end.duration_ms;
}

static void say(cli_live_frame *frame, const char *verb, const char *object)
{
    // What is too long is cut; half a character at its end is shown as \x...
    snprintf(frame->doing, sizeof(frame->doing), "%s%s%s", verb,
             *verb && *object ? " " : "", object);
}

static void append(cli_live_frame *frame, const char *text)
{
    size_t len = strlen(frame->doing);

    snprintf(frame->doing + len, sizeof(frame->doing) - len, "%s", text);
}

static void say_retry(cli_live_frame *frame, const cadre_event *event)
{
    const char *message = event->u.retry.error.message;

    say(frame, "asks",
        *event->u.retry.next_model ? event->u.retry.next_model : "again");
    append(frame, " after: ");
    append(frame, message ? message : "");
}

static void say_tools(cli_live_frame *frame)
{
    const char *id = NULL, *before = " ";
    json_t *name = NULL;

    say(frame, "runs", "");
    json_object_foreach(frame->tools, id, name)
    {
        append(frame, before);
        append(frame, json_string_value(name));
        before = ", ";
    }
}

// The last line that one of them told, as long as that one runs.
static void say_progress(cli_live_frame *frame, const cadre_event *event)
{
    if (frame->is_asking)
        return;
    snprintf(frame->told_by, sizeof(frame->told_by), "%s",
             event->u.tool_progress.call_id);
    say(frame, "runs", event->u.tool_progress.name);
    append(frame, ": ");
    append(frame, event->u.tool_progress.text);
}

static void start_tool(cli_live_frame *frame, const cadre_event *event)
{
    if (!frame->tools)
        frame->tools = json_object();
    json_object_set_new(frame->tools, event->u.tool_call.call_id,
                        json_string(event->u.tool_call.name));
    if (!*frame->told_by && !frame->is_asking)
        say_tools(frame);
}

static void end_tool(cli_live_frame *frame, const cadre_event *event)
{
    const char *id = event->u.tool_result.call_id;

    json_object_del(frame->tools, id);
    if (strncmp(frame->told_by, id, sizeof(frame->told_by) - 1) == 0)
        frame->told_by[0] = '\0';
    if (*frame->told_by || frame->is_asking)
        return;
    if (json_object_size(frame->tools) > 0)
        say_tools(frame);
    else if (!frame->has_handed_over)
        say(frame, "works", "");
}

static void hand_over(cli_live_frame *frame, const cadre_event *event)
{
    if (strcmp(event->u.transfer.decision, "done") != 0)
        return;
    frame->has_handed_over = true;
    say(frame, "handed over to", event->u.transfer.to);
}

static void ask(cli_live_frame *frame, const cadre_event *event)
{
    frame->is_asking = true;
    say(frame, "", event->u.interrupt.question);
}

// Nobody tells of the answer: it is there when the agent is heard of again. Tools of
// the same turn go on meanwhile.
static bool is_still_asking(const cli_live_frame *frame, const cadre_event *event)
{
    switch (event->type) {
    case CADRE_EVENT_TOOL_RESULT:
        return json_object_size(frame->tools) > 1 ||
               !json_object_get(frame->tools, event->u.tool_result.call_id);
    case CADRE_EVENT_INTERRUPT:
    case CADRE_EVENT_TOOL_CALL:
    case CADRE_EVENT_TOOL_PROGRESS:
        return true;
    default:
        return false;
    }
}

static void update(cli_live_frame *frame, const cadre_event *event)
{
    frame->is_asking = frame->is_asking && is_still_asking(frame, event);
    switch (event->type) {
    case CADRE_EVENT_INTERRUPT:
        ask(frame, event);
        break;
    case CADRE_EVENT_MESSAGE_START:
        say(frame, "asks its model", "");
        break;
    case CADRE_EVENT_TEXT_DELTA:
        say(frame, "writes", "");
        break;
    case CADRE_EVENT_REASONING_DELTA:
        say(frame, "thinks", "");
        break;
    case CADRE_EVENT_MESSAGE_END:
        frame->input_tokens += event->u.message_end.usage.input_tokens;
        frame->output_tokens += event->u.message_end.usage.output_tokens;
        frame->cost_usd_micros += event->u.message_end.usage.cost_usd_micros;
        break;
    case CADRE_EVENT_TOOL_CALL:
        start_tool(frame, event);
        break;
    case CADRE_EVENT_TOOL_PROGRESS:
        say_progress(frame, event);
        break;
    case CADRE_EVENT_TOOL_RESULT:
        end_tool(frame, event);
        break;
    case CADRE_EVENT_TRANSFER:
        hand_over(frame, event);
        break;
    case CADRE_EVENT_ESCALATE:
        say(frame, "escalates", "");
        break;
    case CADRE_EVENT_RETRY:
        say_retry(frame, event);
        break;
    case CADRE_EVENT_WAIT:
        if (event->u.wait.wait_ms == 0)
            say(frame, "asks its model", "");
        else
            snprintf(frame->doing, sizeof(frame->doing),
                     "waits for its turn at %s (%s)", event->u.wait.model,
                     event->u.wait.reason);
        break;
    case CADRE_EVENT_FRAME_END:
        end(frame, event);
        break;
    default:
        break;
    }
}

void cli_live_frames_take(cli_live_frames *frames, const cadre_event *event)
{
    if (event->type == CADRE_EVENT_FRAME_START) {
        add(frames, event);
        return;
    }
    int at = find_agent(frames, event);
    if (at < 0)
        return;
    if (event->type == CADRE_EVENT_TOOL_CALL) // what it calls hangs under its agent
        remember(frames, event->frame_id, (size_t)at);
    update(&frames->items[at], event);
}

// How it was reached, and what it does.
static const char *note_of(cli_live_frame *frame)
{
    const char *doing = frame->has_ended ? "" : frame->doing;

    snprintf(frame->note, sizeof(frame->note), "%s%s%s",
             frame->is_transfer ? "(transfer)" : "",
             frame->is_transfer && *doing ? " " : "", doing);
    return frame->note;
}

static void fill_row(cli_tree_row *row, cli_live_frame *frame, unsigned n_draws,
                     int64_t now_ms)
{
    // Marks of one column that every terminal has.
    static const char *const working[] = {"running -", "running \\", "running |",
                                          "running /"};

    *row = (cli_tree_row){.name = frame->name,
                          .referer = frame->referer,
                          .note = note_of(frame),
                          .colour = cli_tree_status_colour(frame->status),
                          .input_tokens = frame->input_tokens,
                          .output_tokens = frame->output_tokens,
                          .cost_usd_micros = frame->cost_usd_micros};
    if (frame->has_ended) {
        row->state = cadre_frame_status_name(frame->status);
        row->duration_ms = frame->duration_ms;
    } else {
        row->state = frame->is_asking ? "asks a person" : working[n_draws % 4];
        row->duration_ms = now_ms - frame->started_ms;
    }
}

bool cli_live_frames_page(cli_live_frames *frames, unsigned n_draws,
                          cli_tree_page *page)
{
    int64_t now_ms = cli_duration_clock_ms();

    for (size_t i = 0; i < frames->n; i++)
        fill_row(&frames->rows[i], &frames->items[i], n_draws, now_ms);
    page->rows = frames->rows;
    page->parents = frames->parents;
    page->n = frames->n;
    return frames->n > 0;
}
