"""Who may include whom: the one arrow of the design.

Kinds, the program and the samples see the public headers; the core never sees a kind.
"""

import sys

import tree

CORE = ("base", "tree", "run", "net", "team", "expression")


def own_folder(path):
    """A folder that belongs to one implementation: agents/llm/view.c may include the
    headers of agents/llm, and agents/llm.c too."""
    parts = path.split("/")
    return parts[1].removesuffix(".c") if len(parts) > 1 else ""


def may_include(path, name):
    """May the file include the quoted name?"""
    folder = path.split("/")[0]
    if name.startswith("cadre/"):
        # The program is a user like any other: no extension interface.
        return folder not in ("cli", "samples") or path in OUTSIDERS or (
            not name.startswith("cadre/ext/"))
    if folder in tree.KINDS:
        beside = tree.ROOT / path
        inside = name.split("/")[0] == own_folder(path) and "/" in name
        sibling = path.count("/") > 1 and (beside.parent / name).is_file()
        return inside or (sibling and "/" not in name)
    if folder in ("cli", "cmake"):
        return name.startswith("ui/") or (path.startswith("cli/ui/") and "/" not in name)
    if path.startswith("framework/include/"):
        return False
    if path.startswith("framework/src/"):
        # The bottom layer sees nothing above itself.
        layers = ("base",) if path.startswith("framework/src/base/") else CORE
        return "/" not in name or name.split("/")[0] in layers
    return folder in ("tests", "bench")


# Samples that are extensions.
OUTSIDERS = ("samples/c/debate.c",)

# A wire format turns requests into bytes and bytes into answers; sending is the core's.
IMPURE = ("curl/", "sys/socket.h", "netinet/", "netdb.h")


def main():
    problems = []
    for path, lines in tree.c_files():
        for number, line in enumerate(lines, 1):
            match = tree.INCLUDE.match(line)
            if not match:
                continue
            quote, name = match.groups()
            if quote == '"' or name.startswith("cadre/"):
                if not may_include(path, name):
                    problems.append(f"{path}:{number}: may not include {name}")
            elif path.startswith("models/") and name.startswith(IMPURE):
                problems.append(f"{path}:{number}: a wire format is pure: {name}")
            elif name.endswith(".c"):
                problems.append(f"{path}:{number}: includes a source file: {name}")
    return tree.verdict(problems)


if __name__ == "__main__":
    sys.exit(main())
