"""What the documents show is what happens: every block is run.

    docs.py [--no-install] DOCUMENT...

A line `<!-- file: NAME -->` before a block: the block is written to that file.
A `console` block is one shell session: lines after `$ ` are commands, and what follows
them is all they print, both streams together; `...` stands for any lines, and a command
that shows nothing must only succeed. Ids, times and addresses may differ, and so may the
space between columns. With `<!-- installed -->` before it, it is skipped where the
library needs a sanitizer's runtime.
A `sh` block is too large to run here: each of its lines must be a command of .ci/run, or
of scripts/check.
"""

import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import tree

FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.S | re.M
)
ADDRESS = "http://127.0.0.1:8080"
CHANGING = (
    (re.compile(r"\b[0-9a-z]{12}-[0-9a-f]+\b"), "ID"),
    (re.compile(r"\b\d+(\.\d+)? m?s\b"), "TIME"),
    (re.compile(r'("duration_ms": ?)\d+'), r"\g<1>0"),
    (re.compile(r'("wait_ms": ?)\d+'), r"\g<1>0"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "DATE"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"[ \t]+"), " "),
)


def normal(text):
    """What does not change from run to run, as lines."""
    for pattern, word in CHANGING:
        text = pattern.sub(word, text)
    return [line.strip() for line in text.strip().splitlines()]


def matches(expected, printed):
    """Do the lines match? `...` stands for any."""
    parts = "\n".join(expected).split("...\n")
    parts = [part.removesuffix("...") for part in parts]
    pattern = ".*".join(re.escape(part) for part in parts)
    if expected and expected[-1] == "...":
        pattern += ".*"
    return re.fullmatch(pattern, "\n".join(printed), re.S) is not None


class Completions(http.server.BaseHTTPRequestHandler):
    """Answers each chat completion in three pieces, if it came with the key."""

    pieces = ("Hello, Ada. ", "It is good ", "to see you.")

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        known = self.path == "/v1/chat/completions"
        known = known and self.headers.get("Authorization") == "Bearer any"
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for piece in self.pieces if known else ():
            self.event({"choices": [{"index": 0, "delta": {"content": piece}}]})
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.event({"choices": [], "usage": {"prompt_tokens": 31, "completion_tokens": 9}})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, value):
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")

    def log_message(self, *_):
        pass


class Session:
    """A folder that looks like the root of a built tree, and a shell in it."""

    def __init__(self, folder, port):
        self.folder = pathlib.Path(folder)
        self.port = port
        program = pathlib.Path(os.environ["CADRE_BIN"])
        for name in ("samples", "scripts", "tests"):
            (self.folder / name).symlink_to(tree.ROOT / name)
        (self.folder / "build").symlink_to(program.parent)
        self.environment = dict(os.environ, HOME=str(self.folder))
        # Where nobody says where, runs are recorded below the home folder.
        self.environment.pop("CADRE_STORE", None)
        self.environment.pop("XDG_STATE_HOME", None)
        self.environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"

    def run(self, commands):
        """Yields (printed, exit status) of each command."""
        lines = [f"{c.replace(ADDRESS, f'http://127.0.0.1:{self.port}')}\n"
                 "printf '\\001%d\\002' $?\n" for c in commands]
        ended = subprocess.run(
            ["sh"], input="".join(lines), cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100,
            check=False)
        return re.findall(r"(.*?)\x01(\d+)\x02", ended.stdout, re.S)


def split_console(text):
    """Returns [(command, its expected lines)]."""
    steps = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps[-1][0].endswith("\\") and not steps[-1][1]:
            steps[-1] = (steps[-1][0] + "\n" + line, [])
        else:
            steps[-1][1].append(line)
    return steps


def check_console(session, name, text):
    steps = split_console(text)
    results = session.run([command for command, _ in steps])
    for (command, expected), (printed, status) in zip(steps, results):
        if expected and not matches(normal("\n".join(expected)), normal(printed)):
            yield f"{name}: $ {command}\n--- said\n" + "\n".join(expected) + (
                f"\n--- happens\n{printed}")
        elif status != "0":
            yield f"{name}: $ {command}: exit status {status}\n{printed}"
    if len(results) < len(steps):
        yield f"{name}: the session ended at $ {steps[len(results)][0]}"


def check_heavy(name, text):
    known = (tree.ROOT / ".ci/run").read_text() + (tree.ROOT / "scripts/check").read_text()
    for line in text.splitlines():
        command = line.split("#")[0].strip().removeprefix("./")
        if command not in known:
            yield f"{name}: '{command}' is neither run by CI nor by a test"


def check(document, session, installs):
    """Yields the problems of one document."""
    text = (tree.ROOT / document).read_text(encoding="utf-8")
    blocks = 0
    for block in FENCE.finditer(text):
        blocks += 1
        mark, kind = block["mark"] or "", block["kind"]
        place = f"{document}:{text.count(chr(10), 0, block.start('text'))}"
        if mark.startswith("file: "):
            (session.folder / mark.removeprefix("file: ")).write_text(block["text"])
        elif kind == "console" and (installs or mark != "installed"):
            yield from check_console(session, place, block["text"])
        elif kind == "sh":
            yield from check_heavy(place, block["text"])
    if blocks != len(re.findall(r"^```\w", text, re.M)):
        yield f"{document}: a block is not read; is its end missing?"


def main(arguments):
    installs = "--no-install" not in arguments
    documents = [name for name in arguments if not name.startswith("--")]
    problems = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Completions)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for document in documents:
        with tempfile.TemporaryDirectory() as folder:
            session = Session(folder, server.server_address[1])
            problems += check(document, session, installs)
    server.shutdown()
    return tree.verdict(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
