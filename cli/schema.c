// cadre schema: the JSON Schema of the team file, for editors.
#include "ui/command.h"
#include "ui/output.h"

#include <cadre/runtime.h>

static int schema_run(const cli_arguments *arguments)
{
    cli_output output;
    json_t *schema = cadre_team_file_schema();

    (void)arguments;
    cli_output_init(&output);
    cli_output_write_json(&output, schema, JSON_INDENT(2));
    json_decref(schema);
    return cli_output_finish(&output, CLI_EXIT_OK);
}

const cadre_command cadre_command_schema = {
    .name = "schema",
    .summary = "Prints the JSON Schema of the team file",
    .arguments = "",
    .details =
        "Made from the types that are built in. Editors with a YAML language server\n"
        "read it from the first line of a team file:\n"
        "  # yaml-language-server: $schema=./team.schema.json\n",
    .run = schema_run,
};
