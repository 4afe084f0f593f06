// See team_type.h.
#include "team_type.h"

#include "report.h"
#include "suggest.h"

#include <cadre/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *type_at(const void *table, size_t nth)
{
    cadre_kind_info info;

    (void)table;
    return cadre_kind_at(CADRE_KIND_TOPOLOGY, nth, &info) ? info.type : NULL;
}

// "handoff, swarm"; owned by the caller. NULL: no memory.
static char *list_types(void)
{
    char *text = NULL;
    size_t len = 0;
    const char *type;
    FILE *stream = open_memstream(&text, &len);

    if (!stream)
        return NULL;
    for (size_t i = 0; (type = type_at(NULL, i)) != NULL; i++)
        fprintf(stream, "%s%s", i > 0 ? ", " : "", type);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

int cli_team_type_check(const cli_arguments *arguments, const char *what,
                        const char *type)
{
    const char *known;

    for (size_t i = 0; (known = type_at(NULL, i)) != NULL; i++)
        if (strcmp(known, type) == 0)
            return CLI_EXIT_OK;
    const char *nearest = cli_suggest(type, type_at, NULL);
    char *all = list_types();
    cli_report_usage(arguments->command, "%s: unknown type '%s'%s%s%s (types: %s)",
                     what, type, nearest ? "; did you mean '" : "",
                     nearest ? nearest : "", nearest ? "'?" : "", all ? all : "");
    free(all);
    return CLI_EXIT_USAGE;
}

int cli_team_type_read(const cli_arguments *arguments, const char **type)
{
    *type = cli_arguments_find(arguments, "type");
    return *type ? cli_team_type_check(arguments, "option '--type'", *type)
                 : CLI_EXIT_OK;
}
