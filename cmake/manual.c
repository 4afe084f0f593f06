// Prints the manual page cadre(1) from the table of commands. Run by the build.
#include "ui/command.h"

#include "cadre/runtime.h"

#include <stdio.h>

// Prints text so that troff takes no character of it for a request of its own.
static void print_text(const char *text)
{
    bool starts_line = true;

    for (; *text; text++) {
        if (starts_line && (*text == '.' || *text == '\'')) {
            fputs("\\&", stdout);
        }
        starts_line = *text == '\n';
        if (*text == '\\') {
            fputs("\\e", stdout);
        } else if (*text == '-') {
            fputs("\\-", stdout);
        } else {
            putchar(*text);
        }
    }
}

static void print_line(const char *text)
{
    print_text(text);
    putchar('\n');
}

// Paragraphs are kept apart by an empty line; indented lines stay as they are.
static void print_details(const char *details)
{
    puts(".PP\n.nf");
    print_line(details);
    puts(".fi");
}

static void print_option(const cli_option *option)
{
    printf(".TP\n.B \\-\\-");
    print_text(option->name);
    if (option->value) {
        printf(" \\fI");
        print_text(option->value);
        printf("\\fR");
    }
    putchar('\n');
    print_line(option->summary);
}

static void print_command(const cadre_command *command)
{
    printf(".SS cadre ");
    print_text(command->name);
    putchar(' ');
    print_line(command->arguments);
    print_line(command->summary);
    for (size_t i = 0; i < command->n_options; i++) {
        print_option(&command->options[i]);
    }
    if (command->details) {
        print_details(command->details);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: cadre-manual DESCRIPTION\n", stderr);
        return 2;
    }
    printf(".TH CADRE 1 \"\" \"cadre %s\"\n.SH NAME\ncadre \\- ", cadre_version());
    print_line(argv[1]);
    puts(".SH SYNOPSIS\n.B cadre\n\\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH COMMANDS");
    for (size_t i = 0; cadre_commands[i]; i++) {
        print_command(cadre_commands[i]);
    }
    puts(".SH EXIT STATUS\n"
         ".IP 0\nthe run completed\n"
         ".IP 1\nthe run failed, or standard output cannot be written\n"
         ".IP 2\na mistake on the command line or in the team file\n"
         ".IP 3\nthe run waits for an answer\n"
         ".IP 4\nthe run was aborted or timed out, or nobody reads its output\n"
         ".IP 5\nthe store or a lease refused\n"
         ".IP 6\nthe run was ended by a limit, with an answer");
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
