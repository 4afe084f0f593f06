// What cadre.h says of C++: structs filled by hand stand in for the macros.
#include "cadre/cadre.h"

#include <cstdio>

static cadre_status greet(void *, cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_set_output(frame, "hello", err);
}

int main()
{
    cadre_runtime *runtime = nullptr;
    cadre_run *run = nullptr;
    const cadre_result *result = nullptr;
    cadre_error err = CADRE_ERROR_INIT;
    if (cadre_runtime_open(nullptr, &runtime, &err) != CADRE_OK)
        return 1;
    cadre_team *team = cadre_team_new(runtime, "team");

    cadre_function greeter{};
    greeter.struct_size = sizeof greeter;
    greeter.name = "greeter";
    greeter.run = greet;
    cadre_team_add_function(team, &greeter);

    cadre_run_config config{};
    config.struct_size = sizeof config;
    config.input = "hi";
    cadre_status status = cadre_run_start(team, &config, &run, &err);
    if (status == CADRE_OK)
        status = cadre_run_wait(run, &result, &err);
    std::puts(status == CADRE_OK ? result->text : err.text);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return status == CADRE_OK ? 0 : 1;
}
