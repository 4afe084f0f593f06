// cadre list: what is built in.
#include "ui/command.h"
#include "ui/output.h"

#include <cadre/runtime.h>

#include <string.h>

// `cadre_kind` in words, in the order they are listed.
static const struct {
    cadre_kind kind;
    const char *name;
} kinds[] = {
    {CADRE_KIND_TOPOLOGY, "topology"}, {CADRE_KIND_AGENT, "agent"},
    {CADRE_KIND_TOOL, "tool"},         {CADRE_KIND_MODEL, "model"},
    {CADRE_KIND_STORE, "store"},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t widest_type(void)
{
    cadre_kind_info info;
    size_t widest = 0;

    for (size_t i = 0; i < N_KINDS; i++) {
        for (size_t nth = 0; cadre_kind_at(kinds[i].kind, nth, &info); nth++) {
            size_t width = strlen(info.type);
            widest = width > widest ? width : widest;
        }
    }
    return widest;
}

static void print_type(FILE *stream, const char *kind, int widest,
                       const cadre_kind_info *info)
{
    fprintf(stream, "%-8s  %-*s  %s", kind, widest, info->type,
            info->summary ? info->summary : "");
    if (info->origin)
        fprintf(stream, " (%s)", info->origin);
    fputc('\n', stream);
}

static int list_run(const cli_arguments *arguments)
{
    cadre_kind_info info;
    cli_page page;
    int widest = (int)widest_type();

    (void)arguments;
    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    for (size_t i = 0; i < N_KINDS; i++)
        for (size_t nth = 0; cadre_kind_at(kinds[i].kind, nth, &info); nth++)
            print_type(page.stream, kinds[i].name, widest, &info);
    return cli_page_finish(&page, CLI_EXIT_OK);
}

const cadre_command cadre_command_list = {
    .name = "list",
    .summary = "Lists the built-in topologies, agents, tools, models and stores",
    .arguments = "",
    .details = "One line each: the kind, the type as team files write it, and what it "
               "is.\nAt a type that they cannot write stands where it comes from.\n",
    .run = list_run,
};
