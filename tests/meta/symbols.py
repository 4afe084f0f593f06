"""What the built library shows, keeps and calls.

    symbols.py LIBCADRE.so LIBCADRE.a

1. libcadre.so exports cadre_ names only.
2. No object has a writable variable. Exceptions stand in symbols.allow and must exist,
   so the list only shrinks.
3. No object calls a banned function: unbounded copies, hidden state, printing, exits.
"""

import re
import subprocess
import sys

import tree

BANNED = set(
    """
    strcpy strcat sprintf vsprintf strtok gets alloca system sleep usleep nanosleep
    stpcpy __strcpy_chk __strcat_chk __sprintf_chk __vsprintf_chk __stpcpy_chk
    printf vprintf puts putchar perror __printf_chk __vprintf_chk stdout stderr
    exit abort
    rand srand random srandom localtime gmtime asctime ctime
    setenv unsetenv putenv setlocale signal
    """.split()
)


WRITABLE = (".data", ".bss", ".tdata", ".tbss")
MEMBER = re.compile(r"^(\S+): +file format ")
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+ +(?:\.hidden )?(\S+)$")


def tool_output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(shared):
    lines = tool_output("nm", "-D", "--defined-only", "--format=posix", shared)
    return [line.split()[0] for line in lines.splitlines()]


def symbols(archive):
    """Yields (member, section, name, is a variable) of each symbol of the objects."""
    member = ""
    for line in tool_output("objdump", "--syms", archive).splitlines():
        if match := MEMBER.match(line):
            member = match[1]
        elif match := SYMBOL.match(line):
            flags, section, name = match.groups()
            # A static variable of a function gets a number, which is not in its source.
            yield member, section, name.split(".")[0], "O" in flags or section == "*COM*"


def is_writable(section):
    """Tables of pointers are in .data.rel.ro: written by the loader, then read-only."""
    if section.startswith(".data.rel.ro"):
        return False
    return section == "*COM*" or section.startswith(WRITABLE)


def main():
    shared, archive = sys.argv[1:]
    problems = []

    names = exported(shared)
    if not names:
        problems.append(f"{shared}: exports nothing")
    problems += [f"exported: {name}" for name in names if not name.startswith("cadre_")]

    exceptions = set(tree.allowed("symbols.allow"))
    found = set()
    for member, section, symbol, is_variable in symbols(archive):
        if is_variable and is_writable(section):
            variable = f"{member.removesuffix('.o')}:{symbol}"
            found.add(variable)
            if variable not in exceptions:
                problems.append(f"{variable}: a writable variable, in {section}")
        elif section == "*UND*" and symbol in BANNED:
            problems.append(f"{member}: uses {symbol}, which is banned in the library")
    problems += [f"symbols.allow: no variable '{name}'" for name in exceptions - found]
    return tree.verdict(problems)


if __name__ == "__main__":
    sys.exit(main())
