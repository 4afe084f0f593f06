#!/bin/sh
# Stores what was found for one target: few inputs that reach all that is known to be
# reached, see scripts/fuzz. Inputs with a name of their own (a mistake that was, a protocol)
# stay; the others, named by libFuzzer, are replaced.
set -eu
target=$1
stored=tests/fuzz/corpus/$target
merged=build-fuzz/merged/$target
max_inputs=50
rm -rf "$merged"
mkdir -p "$merged" "$stored" "build-fuzz/corpus/$target"
"build-fuzz/tests/fuzz/$target" -set_cover_merge=1 -use_counters=0 -max_len=4096 \
    "$merged" "$stored" "build-fuzz/corpus/$target" >"build-fuzz/found/$target.log" 2>&1
n_needed=$(ls "$merged" | wc -l)
find "$stored" -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
# Where there are too many, the largest, which reach most.
ls -S "$merged" | head -n "$max_inputs" | while read -r name; do
    cp "$merged/$name" "$stored/"
done
echo "$target: $(ls "$stored" | wc -l) inputs stored, $n_needed reach all"
