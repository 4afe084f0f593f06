#!/bin/sh
# A C sample does what its first comment promises: a line `//   $ ./NAME ARGUMENTS` and,
# below, all of its output.
#
#   promise.sh SOURCE PROGRAM
set -eu
source=$1
program=$2
cd "$CADRE_SOURCE_DIR"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! awk -v arguments="$work/arguments" '
    /^\/\/ +\$ \.\/[a-z_]+/ { found = 1; sub(/^\/\/ +\$ \.\/[a-z_]+ */, "")
                              print > arguments; next }
    found && /^\/\/ +[^ ]/  { sub(/^\/\/ +/, ""); print; next }
    found                   { exit }
    END                     { exit !found }' "$source" >"$work/expected"; then
    echo "$source: no line '//   \$ ./NAME ...' says how to run it"
    exit 1
fi
eval "set -- $(cat "$work/arguments")"
if ! "$program" "$@" >"$work/output"; then
    echo "$source: failed"
    exit 1
fi
if ! diff -u "$work/expected" "$work/output"; then
    echo "$source: says something else than its first comment promises"
    exit 1
fi

# What it does with a script that is not there: one line on stderr, and a failure.
if "$program" "$work/none.yaml" >"$work/output" 2>"$work/failure"; then
    echo "$source: succeeds without its script"
    exit 1
fi
if [ -s "$work/output" ] || ! grep -qF "$work/none.yaml" "$work/failure"; then
    echo "$source: does not say that its script is missing"
    cat "$work/output" "$work/failure"
    exit 1
fi
