"""Sizes: files, public headers, functions, their parameters and their nesting.

A function is found by the layout that clang-format enforces: its body is what stands
between a '{' and a '}' in the first column. Exceptions stand in sizes.allow, each with
the size it may have; one that is no longer needed fails, so the list only shrinks.
"""

import re
import sys

import tree

FILE_LINES, FILE_LINES_WARNED = 1000, 600
HEADER_LINES = 150
FUNCTION_LINES = 80
PARAMETERS = 5
NESTING = 4

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(match):
    """Replaces a comment or literal by as many line ends."""
    return "\n" * match.group().count("\n") or " "


def functions(lines):
    """Yields (name, parameters, lines of the body, nesting) of each function."""
    code = NOT_CODE.sub(blank, "\n".join(lines)).split("\n")
    for start, line in enumerate(code):
        if line != "{":
            continue
        head = start
        while head > 0 and code[head - 1].strip() and code[head - 1][0] not in "}#;":
            head -= 1
        declarator = " ".join(code[head:start])
        match = re.search(r"(\w+)\s*\((.*)\)", declarator)
        if not match:
            continue
        end = code.index("}", start)
        yield match[1], parameters(match[2]), end - start + 1, nesting(code[start:end])


def parameters(text):
    """Counts what stands between the outer commas; "..." is not counted."""
    while (flat := re.sub(r"\([^()]*\)", "", text)) != text:
        text = flat
    names = [name.strip() for name in text.split(",")]
    return sum(name not in ("", "void", "...") for name in names)


def nesting(body):
    """Returns how deep statements with braces stand in each other, the body not counted.

    Braces of initialisers do not count: they follow '=', ',', '(' , ')' of a cast or
    another such brace, and not a statement's head.
    """
    kinds, deepest = [], 0
    text = "\n".join(body)
    for match in re.finditer(r"[{}]", text):
        if match.group() == "}":
            kinds.pop()
            continue
        before = text[:match.start()].rstrip()
        line = before.rsplit("\n", 1)[-1]
        opens = (
            not before
            or before[-1] in "{};:"
            and "=" not in line
            or re.search(r"(\belse|\bdo)$", before) is not None
            or (before[-1] == ")" and heads_statement(before))
        )
        if kinds and not kinds[-1]:
            opens = False  # inside an initialiser
        kinds.append(opens)
        deepest = max(deepest, sum(kinds) - 1)
    return deepest


def heads_statement(before):
    """Does the parenthesis that ends `before` belong to if, for, while or switch?"""
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(before[at], 0)
        if depth == 0:
            word = re.search(r"(\w+)\s*$", before[:at])
            return word is not None and not_a_cast(word[1])
    return False


def not_a_cast(word):
    """A macro that loops (json_object_foreach) heads a statement like a keyword."""
    return word in ("if", "for", "while", "switch") or word.endswith("foreach")


def measure():
    """Yields (what, size, limit) of everything that has a limit."""
    for path, lines in tree.c_files():
        n_lines = len(lines) - 1
        yield f"{path} lines", n_lines, FILE_LINES
        if path.startswith("framework/include/"):
            yield f"{path} header", n_lines, HEADER_LINES
        if FILE_LINES_WARNED < n_lines <= FILE_LINES:
            print(f"look again: {path} has {n_lines} lines (over {FILE_LINES_WARNED})")
        for name, n_parameters, n_body, depth in functions(lines):
            yield f"{path}:{name} lines", n_body, FUNCTION_LINES
            yield f"{path}:{name} parameters", n_parameters, PARAMETERS
            yield f"{path}:{name} nesting", depth, NESTING


def main():
    exceptions = {}
    for line in tree.allowed("sizes.allow"):
        what, limit = line.rsplit(" ", 1)
        exceptions[what] = int(limit)
    problems = []
    for what, size, limit in measure():
        most = exceptions.pop(what, None)
        if most is not None and size <= limit:
            problems.append(f"sizes.allow: '{what}' is no longer needed, remove it")
        elif size > (most or limit):
            problems.append(f"{what}: {size}, at most {most or limit}")
    problems += [f"sizes.allow: no such thing: '{what}'" for what in exceptions]
    return tree.verdict(problems)


if __name__ == "__main__":
    sys.exit(main())
