// cadre tree: who called whom in a recorded run.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/print_tree.h"
#include "ui/record.h"
#include "ui/report.h"
#include "ui/spawned.h"
#include "ui/store.h"
#include "ui/summary.h"

#include <unistd.h>

static int print_json(const cli_record *it, const cli_tree *tree)
{
    json_t *object = cli_record_json(it->info);
    cli_output output;

    json_object_set_new(object, "spawned", cli_spawned_json(&tree->spawned));
    json_object_set_new(object, "frames",
                        cli_json_frames(it->frames, tree->scope == CLI_TREE_ALL));
    cli_output_init(&output);
    cli_output_write_json(&output, object, JSON_INDENT(2));
    json_decref(object);
    return cli_output_finish(&output, CLI_EXIT_OK);
}

static int print_tree(const cli_record *it, const cli_tree *tree, bool is_plain)
{
    cli_terminal terminal;
    cli_page page;

    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    cli_terminal_init(&terminal, STDOUT_FILENO, is_plain);
    bool has_memory = cli_tree_print_run(tree, &terminal, page.stream);
    cli_summary_print_record(page.stream, it->info, it->frames);
    if (!has_memory)
        cli_report("out of memory");
    return cli_page_finish(&page, has_memory ? CLI_EXIT_OK : CLI_EXIT_FAILED);
}

static int show_tree(const cli_record *it, const cli_arguments *arguments)
{
    bool wants_all = cli_arguments_has(arguments, "all");
    cli_tree tree = {.frames = it->frames,
                     .scope = wants_all ? CLI_TREE_ALL : CLI_TREE_AGENTS};

    if (!cli_spawned_init(&tree.spawned, it->runtime, it->info->trace_id))
        return CLI_EXIT_STORE;
    int exit_status =
        cli_arguments_has(arguments, "json")
            ? print_json(it, &tree)
            : print_tree(it, &tree, cli_arguments_has(arguments, "plain"));
    cli_spawned_fini(&tree.spawned);
    return exit_status;
}

static int tree_run(const cli_arguments *arguments)
{
    cli_record it;
    int exit_status = cli_record_open(&it, arguments, cli_arguments_text(arguments, 0));

    if (exit_status == CLI_EXIT_OK)
        exit_status = show_tree(&it, arguments);
    cli_record_close(&it);
    return exit_status;
}

static const cli_option options[] = {
    {"all", NULL, "models, tools and questions too"},
    {"json", NULL, "print one JSON object: the run, its frames and what it spawned"},
    {"store", "URL", "where runs are recorded: " CLI_STORE_OPTION},
    {"plain", NULL, "no colours on a terminal"},
};

const cadre_command cadre_command_tree = {
    .name = "tree",
    .summary = "Shows the stack tree of a recorded run",
    .arguments = "[TRACE]",
    .max_arguments = 1,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "Without TRACE it is the newest run of the store. The tree is a picture of\n"
        "now: that of a run which goes on grows. A background run stands below who\n"
        "spawned it, by its trace id and status; it has a tree of its own.\n",
    .run = tree_run,
};
