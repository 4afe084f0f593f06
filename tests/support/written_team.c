// See written_team.h.
#include "support/written_team.h"

#include "support/folder.h"

#include "base/buf.h"
#include "cadre/record.h"

#include <stdlib.h>
#include <string.h>

static cadre_status load(team_case *t, const char *text)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    cadre_team_free(t->team);
    t->team = NULL;
    if (!folder_make(&folder) || !folder_write(&folder, "team.yaml", text, path))
        abort();
    cadre_status status = cadre_team_load(t->runtime, path, &t->team, &t->err);
    folder_remove(&folder);
    return status;
}

bool written_team_open(team_case *t, const char *text)
{
    team_case_open(t);
    return CHECK_OK(load(t, text), &t->err);
}

bool written_team_open_fake(team_case *t, const char *text)
{
    team_case_open_fake(t);
    return CHECK_OK(load(t, text), &t->err);
}

// --- What is wrong with one ---

static void add_line(cdr_buf *told, const char *line)
{
    const char *place = strstr(line, "team.yaml:");
    cdr_buf_printf(told, "%s\n", place == NULL ? line : place + strlen("team.yaml:"));
}

static void check_told(const char *text, const char *expected, cadre_status status,
                       const char *const *(*list)(const cadre_team *, size_t *))
{
    team_case t;
    size_t n = 0;
    cdr_buf told = CDR_BUF_INIT;
    team_case_open(&t);
    CHECK_STATUS(load(&t, text), status, &t.err);
    const char *const *lines = list(t.team, &n);
    for (size_t i = 0; i < n; i++)
        add_line(&told, lines[i]);
    CHECK_TEXT(cdr_buf_text(&told), expected);
    cdr_buf_fini(&told);
    team_case_close(&t);
}

void written_team_check_problems(const char *text, const char *problems)
{
    check_told(text, problems, CADRE_ECONFIG, cadre_team_problems);
}

void written_team_check_notes(const char *text, const char *notes)
{
    check_told(text, notes, CADRE_OK, cadre_team_notes);
}

// --- What a run left ---

static void add_message(cdr_buf *said, const cadre_message *m)
{
    if (m->role == CADRE_ROLE_TOOL)
        cdr_buf_printf(said, "tool %s: %s", m->tool_name, m->text);
    else if (m->is_input)
        cdr_buf_printf(said, "%s>%s: %s", m->agent, m->to, m->text);
    else
        cdr_buf_printf(said, "%s: %s", m->agent[0] == '\0' ? "user" : m->agent,
                       m->text);
    for (size_t i = 0; i < m->n_tool_calls; i++)
        cdr_buf_printf(said, "[%s]", m->tool_calls[i].name);
    cdr_buf_append_text(said, "\n");
}

void written_team_check_said(team_case *t, const char *expected)
{
    cadre_record *record = NULL;
    cdr_buf said = CDR_BUF_INIT;
    cadre_error err = CADRE_ERROR_INIT;
    size_t n_frames = 0;
    size_t n = 0;
    if (!CHECK(t->run != NULL) ||
        !CHECK_OK(
            cadre_record_open(t->runtime, cadre_run_trace_id(t->run), &record, &err),
            &err))
        return;
    const cadre_frame_info *root = cadre_record_frames(record, &n_frames);
    const cadre_record_message *messages = cadre_record_messages(record, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(messages[i].conversation_id, root->conversation_id) == 0)
            add_message(&said, messages[i].message);
    CHECK_TEXT(cdr_buf_text(&said), expected);
    cdr_buf_fini(&said);
    cadre_record_close(record);
}

void written_team_check_agents(team_case *t, const char *expected)
{
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    cdr_buf agents = CDR_BUF_INIT;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_run_frames(t->run, &frames, &n, &err), &err);
    for (size_t i = 0; i < n; i++)
        if (strcmp(frames[i].kind, "agent") == 0)
            cdr_buf_printf(&agents, "%*s%s %s %s %s\n", 2 * frames[i].depth, "",
                           frames[i].name, frames[i].key,
                           cadre_frame_status_name(frames[i].status),
                           cadre_stop_reason_name(frames[i].stop_reason));
    CHECK_TEXT(cdr_buf_text(&agents), expected);
    cdr_buf_fini(&agents);
}

bool written_team_read_until(team_case *t, cadre_event_type type, const char *agent,
                             int nth)
{
    const cadre_event *event = NULL;
    cadre_status status = CADRE_OK;
    while (nth > 0) {
        status = cadre_run_next(t->run, &event, &t->err);
        if (!CHECK_OK(status, &t->err))
            return false;
        recorder_add(&t->recorder, event);
        nth -= event->type == type && strcmp(event->agent, agent) == 0;
    }
    return true;
}
