// Team files, from their text to the sealed team: a team or problems that say where,
// never both nor neither; a sound team has a shape that can be told.
#include "fuzz/fuzz.h"

#include "cadre/cadre.h"
#include "cadre/shape.h"

#include "fuzz/input_file.h"

#include <string.h>

static void check_shapes(const cadre_team *team)
{
    cadre_agents agents = cadre_team_agents(team);
    FUZZ_CHECK(cadre_team_root(team) != NULL && agents.count > 0);
    for (size_t i = 0; i < agents.count; i++) {
        cadre_shape *shape = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        cadre_status status = cadre_shape_new(agents.items[i], &shape, &err);
        FUZZ_CHECK(status == CADRE_OK || err.text[0] != '\0');
        cadre_shape_free(shape);
    }
}

static void load(cadre_runtime *runtime, const char *path)
{
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    cadre_status status = cadre_team_load(runtime, path, &team, &err);
    FUZZ_CHECK(team != NULL && status == err.status);
    const char *const *problems = cadre_team_problems(team, &n);
    FUZZ_CHECK((n == 0) == (status == CADRE_OK));
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(problems[i][0] != '\0' && cadre_team_problem_file(team, i) != NULL);
    if (status == CADRE_OK)
        check_shapes(team);
    cadre_team_free(team);
}

// One for all inputs: nothing of a team stays in it.
static cadre_runtime *runtime_of_all(void)
{
    static cadre_runtime *runtime;
    cadre_error err = CADRE_ERROR_INIT;
    if (!runtime)
        FUZZ_CHECK(cadre_runtime_open(CADRE_RUNTIME(.offline = true), &runtime, &err) ==
                   CADRE_OK);
    return runtime;
}

void fuzz_one(const uint8_t *data, size_t len)
{
    cadre_runtime *runtime = runtime_of_all();
    load(runtime, input_file_write("team.yaml", data, len));
    if (len > 0 && memchr(" \t\r\n{", data[0], 5))
        load(runtime, input_file_write("team.json", data, len));
}
