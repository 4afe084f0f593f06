// The program: finds the command, reads its options, runs it.
#include "command.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "usage.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

// With one of the first three descriptors closed, the next file that is opened would
// become stdin, stdout or stderr. A stand-in opened the wrong way round keeps the place
// and still fails when it is used.
static bool keep_standard_descriptors(void)
{
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
            return false;
    return true;
}

// Widths of characters are a matter of the locale; texts are UTF-8 in any. There is one
// thread yet.
static void set_locale(void)
{
    // NOLINTBEGIN(concurrency-mt-unsafe)
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        setlocale(LC_CTYPE, "C.UTF-8");
    // NOLINTEND(concurrency-mt-unsafe)
}

static int show_all_help(void)
{
    cli_page page;

    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    cli_usage_print_all(page.stream);
    return cli_page_finish(&page, CLI_EXIT_OK);
}

static int show_help(const cadre_command *command)
{
    cli_page page;

    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    cli_usage_print(page.stream, command);
    return cli_page_finish(&page, CLI_EXIT_OK);
}

static int run_command(const char *name, char **argv, size_t n)
{
    cli_arguments arguments;
    const cadre_command *command = cli_usage_find(name);

    if (!command)
        return CLI_EXIT_USAGE;
    int exit_status = cli_arguments_init(&arguments, command, argv, n);
    if (exit_status == CLI_EXIT_OK)
        exit_status =
            arguments.wants_help ? show_help(command) : command->run(&arguments);
    cli_arguments_fini(&arguments);
    return exit_status;
}

int main(int argc, char **argv)
{
    if (!keep_standard_descriptors())
        return CLI_EXIT_FAILED;
    signal(SIGPIPE, SIG_IGN); // writes tell by EPIPE
    set_locale();
    if (argc < 2) {
        cli_usage_print_all(stderr);
        return CLI_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return show_all_help();
    if (strcmp(argv[1], "--version") == 0)
        return run_command("version", NULL, 0);
    if (argv[1][0] == '-')
        return cli_report_usage(NULL, "unknown option '%s' before a command", argv[1]);
    return run_command(argv[1], argv + 2, (size_t)argc - 2);
}
