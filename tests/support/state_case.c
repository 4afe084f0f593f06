// See state_case.h.
#include "support/state_case.h"

#include <stdlib.h>
#include <string.h>

const char *state_seen(cadre_frame *frame)
{
    char *text = json_dumps(cadre_frame_state(frame), JSON_COMPACT | JSON_SORT_KEYS);
    const char *kept = cadre_frame_printf(frame, "%s", text);
    free(text);
    return kept;
}

cadre_status state_put(cadre_frame *frame, const char *key, const char *text,
                       cadre_error *err)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    cadre_status status = cadre_frame_set_state(frame, key, value, err);
    json_decref(value);
    return status;
}

void state_check_delta(team_case *t, const char *key, const char *expected)
{
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(t->run, &frames, &n, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        if (strcmp(frames[i].key, key) == 0) {
            CHECK_TEXT(frames[i].delta, expected);
            return;
        }
    CHECK(false);
}
