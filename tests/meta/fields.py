"""What the documents name is there.

The fields in docs/events.md are those that are printed, its promises hold, and its words for
ends and errors are those of the headers; docs/models.md explains the keys of a model and
docs/team-file.md all others of the schema; functions, types, files and links that any document
names exist.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tree

TEAM = """
agents:
  desk: {type: handoff, members: [triage, tech]}
  triage: {model: m, tools: [tool]}
  tech: {model: m, tools: [done], output_key: solution}
models: {m: {model: openai/any, retry: {backoff: 1ms}}}
tools:
  tool: {type: command, argv: [sh, -c, "echo working >&2; echo ok"]}
  done: {type: escalate}
"""
SCRIPT = """
agents:
  triage:
    - {error: {status: 503}}
    - {text: "One moment, please.", chunks: 4, tool_calls: [{name: tool}, {name: tool}]}
    - {handoffs: [{to: triage}, {to: tech, message: help}, {to: tech}]}
  tech: [{text: "Solved.", tool_calls: [{name: escalate}]}]
"""
ASKING_TEAM = """
agents: {desk: {model: openai/any, tools: [person]}}
tools: {person: {type: ask}}
"""
ASKING_SCRIPT = """
agents: {desk: [{tool_calls: [{name: person, arguments: {question: Which?}}]}]}
"""
# What no script can make happen.
UNSEEN = {"reasoning_delta", "wait"}
# Names that CONTRIBUTING.md makes up.
EXAMPLES = {"topologies/star.c", "cadre_topology_star"}


def document(name):
    return (tree.ROOT / "docs" / name).read_text(encoding="utf-8")


def rows(text, heading):
    """The rows of the table with that first cell in its head: lists of cells."""
    lines = text.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names(cell):
    """The names in a cell, those in parentheses left out."""
    return set(re.findall(r"`([a-z_]+)`", re.sub(r"\([^)]*\)", "", cell)))


def run(folder, *options, name="team"):
    """Returns what a run of the team prints, and its exit status."""
    ended = subprocess.run(
        [os.environ["CADRE_BIN"], "run", f"{name}.yaml", "Help", "--quiet", "--script",
         f"{name}-script.yaml", *options],
        cwd=folder, capture_output=True, text=True, check=False)
    return ended.stdout, ended.returncode


def compare(what, documented, printed):
    if documented != printed:
        yield (f"{what}: only in docs/events.md: {sorted(documented - printed)}; "
               f"only printed: {sorted(printed - documented)}")


def check_events(folder):
    text = document("events.md")
    common = names(" ".join(row[0] for row in rows(text, "field")))
    kinds = {names(row[0]).pop(): names(row[1]) for row in rows(text, "`type` | further fields")}
    printed, status = run(folder, "--events")
    events = [json.loads(line) for line in printed.splitlines()]
    refused, _ = run(folder, "--events", "--set", "unknown=1")
    asking, waits = run(folder, "--events", name="asking")
    if waits != 3:
        yield f"the run that asks exits with {waits}"
    seen = set()
    for event in [*events, *map(json.loads, [refused, *asking.splitlines()])]:
        seen.add(event["type"])
        yield from compare(event["type"], kinds.get(event["type"], set()) | common,
                           set(event))
    yield from compare("event types", set(kinds) - UNSEEN, seen)
    if status != 0:
        yield f"the run with --events exits with {status}"
    yield from check_order(events)


def check_order(events):
    """The numbered promises, as far as one run can show them."""
    numbered = [event["seq"] for event in events if event["seq"] is not None]
    if numbered != list(range(1, len(numbered) + 1)):
        yield f"seq has gaps: {numbered}"
    ends = [event["type"] for event in (events[0], events[-1])]
    if ends != ["stream_start", "stream_end"]:
        yield f"the first and the last event are {ends}"
    started, ended, calls, text = {}, set(), set(), ""
    for event in events:
        kind = event["type"]
        if kind == "frame_start":
            started[event["frame"]] = event["parent"]
        elif kind == "frame_end":
            ended.add(event["frame"])
            if event["frame"] not in started or started[event["frame"]] in ended:
                yield f"frame_end out of order: {event}"
        elif kind == "tool_call":
            calls.add((event["frame"], event["call_id"]))
        elif kind == "tool_result":
            calls.discard((event["frame"], event["call_id"]))
        elif kind in ("message_start", "retry"):
            text = ""
        elif kind == "text_delta":
            text += event["text"]
        elif kind == "message_end" and event["message"]["role"] == "assistant":
            if event["message"]["content"] != text:
                yield f"the deltas are {text!r}, the message is {event['message']}"
    if calls or ended != set(started):
        yield f"not ended: {calls}, {set(started) - ended}"


def check_json(folder):
    text = document("events.md")
    whole, frames = text.split("A frame:", 1)
    printed, _ = run(folder, "--json", "--all")
    result = json.loads(printed)
    fields = names(" ".join(row[0] for row in rows(whole.split("## `--json`")[1], "field")))
    yield from compare("--json", fields, set(result))
    documented = names(" ".join(row[0] for row in rows(frames, "field")))
    asking, _ = run(folder, "--json", "--all", name="asking")
    waiting = json.loads(asking)
    for frame in [*result["frames"], *waiting["frames"]]:
        kinds = {"agent", "model", "tool", "ask"} - {frame["kind"]}
        yield from compare("a frame", documented - kinds, set(frame))
    asked = set(re.findall(r"\w+", re.search(r"`questions` .*\{(.*?)\}", whole)[1]))
    yield from compare("a question", asked, set(waiting["questions"][0]))


def schema_keys(schema):
    """All property names below a schema of the team file."""
    if not isinstance(schema, dict):
        return  # `true`: anything
    for name, below in schema.get("properties", {}).items():
        yield name
        yield from schema_keys(below)
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            yield from schema_keys(schema[word])
    for below in schema.get("anyOf", ()):
        yield from schema_keys(below)


def code_words(text):
    """The words that its prose and tables write as code."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", prose))))


def explained(text):
    """The keys that its tables of keys explain."""
    tables = re.findall(r"^\| key\b.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    return names(" ".join(row.split("|")[1] for table in tables
                          for row in table.splitlines()))


def check_keys():
    schema = json.loads(subprocess.run([os.environ["CADRE_BIN"], "schema"],
                                       capture_output=True, text=True, check=True).stdout)
    models = set(schema_keys(schema["properties"].pop("models")))
    others = {*schema_keys(schema), "models"}
    for name, keys in (("models.md", models), ("team-file.md", others)):
        text = document(name)
        for key in sorted(keys - code_words(text)):
            yield f"docs/{name} does not name the key '{key}'"
        for key in sorted(explained(text) - keys):
            yield f"docs/{name} explains the key '{key}', which there is not"


def check_words():
    """Why a run ends and what kinds of errors there are."""
    text = document("events.md")
    ends = " ".join(row[0] for row in rows(text, "reason"))
    classes = text.split("## Classes of errors\n\n", 1)[1].split("\n\n", 1)[0]
    for header, prefix, words in (("call.h", "CADRE_STOP_", ends),
                                  ("error.h", "CADRE_CLASS_", classes)):
        header = tree.ROOT / "framework/include/cadre" / header
        known = re.findall(rf"^    {prefix}(\w+)", header.read_text(encoding="utf-8"), re.M)
        yield from compare(header.name, names(words), {w.lower() for w in known} - {"none"})


def anchors(page):
    """What links may lead to in it: its headings, as web pages of Markdown name them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_names():
    """Functions and types, in prose and in pictures; files; links."""
    text = "\n".join("\n".join(lines) for _, lines in tree.c_files())
    known = set(re.findall(r"\w+", text))
    pages = [*tree.ROOT.glob("*.md"), *tree.ROOT.glob("docs/*.md"),
             *tree.ROOT.glob("*/README.md"), *tree.ROOT.glob("samples/*/README.md")]
    for page in pages:
        name = page.relative_to(tree.ROOT).as_posix()
        text = page.read_text(encoding="utf-8")
        for word in sorted(set(re.findall(r"\b(?:cadre|cdr|cli)_\w+", text)) - known):
            if not word.endswith("NAME") and word not in EXAMPLES:
                yield f"{name}: there is no '{word}'"
        for picture in re.findall(r"^```text\n(.*?)^```", text, re.S | re.M):
            for word in sorted(set(re.findall(r"\b[a-z]+_\w+", picture)) - known):
                yield f"{name}: there is no '{word}'"
        for path in re.findall(r"`([\w./-]+/[\w.-]+\.(?:c|h|py|cmake))`", text):
            if "NAME" not in path and "MODULE" not in path and path not in EXAMPLES:
                places = (tree.ROOT, tree.ROOT / "framework/include", tree.ROOT / "samples")
                if not any((place / path).is_file() for place in places):
                    yield f"{name}: there is no file '{path}'"
        for path, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
            target = page.parent / path if path else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                yield f"{name}: the link '{path}#{anchor}' leads nowhere"


def main():
    problems = [*check_keys(), *check_words(), *check_names()]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("team", TEAM), ("team-script", SCRIPT),
                           ("asking", ASKING_TEAM), ("asking-script", ASKING_SCRIPT)):
            pathlib.Path(folder, f"{name}.yaml").write_text(text, encoding="utf-8")
        problems += check_events(folder)
        problems += check_json(folder)
    return tree.verdict(problems)


if __name__ == "__main__":
    sys.exit(main())
