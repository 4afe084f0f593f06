// Script files: one that is taken gives each of its steps, and then says that none is
// left.
#include "fuzz/fuzz.h"

#include "cadre/ext/script.h"

#include "fuzz/input_file.h"

#define MAX_STEPS 200

static void check_step(const cadre_script_step *step)
{
    FUZZ_CHECK(step->chunks >= 1 && step->delay_ms >= 0);
    FUZZ_CHECK(step->error_status >= -1 && step->error_status < 1000);
    FUZZ_CHECK(step->error_retry_after_ms >= -1);
    FUZZ_CHECK(!step->tool_calls || json_is_array(step->tool_calls));
    FUZZ_CHECK(!step->handoffs || json_is_array(step->handoffs));
}

static void play(const cadre_script *script, const char *agent)
{
    int n = cadre_script_length(script, agent);
    int used = 0;
    FUZZ_CHECK(n >= 0);
    for (int i = 0; i < MAX_STEPS; i++) {
        const cadre_script_step *step = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        int before = used;
        cadre_status status =
            cadre_script_next(script, agent, "I want a refund", &used, &step, &err);
        FUZZ_CHECK(used == before || used == before + 1);
        if (status != CADRE_OK) {
            FUZZ_CHECK(used == n && err.text[0] != '\0');
            return;
        }
        check_step(step);
    }
}

void fuzz_one(const uint8_t *data, size_t len)
{
    cadre_script *script = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    const char *path = input_file_write("case.yaml", data, len);
    cadre_status status = cadre_script_load(path, &script, &err);
    FUZZ_CHECK((status == CADRE_OK) == (script != NULL));
    if (!script) {
        FUZZ_CHECK(err.text[0] != '\0');
        return;
    }
    cadre_names agents = cadre_script_agents(script);
    for (size_t i = 0; i < agents.count; i++)
        play(script, agents.items[i]);
    cadre_script_free(script);
}
