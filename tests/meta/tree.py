"""The C files of this tree, for the scripts beside it."""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("topologies", "agents", "tools", "models", "stores")
FOLDERS = ("framework", *KINDS, "cli", "samples", "tests", "bench", "cmake")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def c_files(*folders):
    """Yields (path as text from the root, lines) of each .c and .h in the folders."""
    for folder in folders or FOLDERS:
        for at, below, names in os.walk(ROOT / folder):
            below[:] = sorted(name for name in below if name != "node_modules")
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = pathlib.Path(at, name)
                    text = path.read_text(encoding="utf-8")
                    yield path.relative_to(ROOT).as_posix(), text.split("\n")


def allowed(name):
    """Reads a list of exceptions: one a line, '#' starts a comment."""
    path = ROOT / "tests" / "meta" / name
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def verdict(problems):
    """Prints the problems and returns the exit status."""
    for problem in problems:
        print(problem)
    return 1 if problems else 0
