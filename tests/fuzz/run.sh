#!/bin/sh
# Fuzzes one target for $seconds; see scripts/fuzz.
set -eu
target=$1
found=build-fuzz/found
log=$found/$target.log
mkdir -p "build-fuzz/corpus/$target"

# -timeout: a single input that takes so long, also on a loaded machine and with all
# checks on, is a mistake; -rss_limit_mb: so is one that takes so much.
if "build-fuzz/tests/fuzz/$target" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=512 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$found/$target-" \
    "build-fuzz/corpus/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
    awk -v target="$target" '
        /number_of_executed_units:/ { units = $2 }
        /peak_rss_mb:/ { memory = $2 }
        END { printf "%-16s %9d inputs, %4d MiB\n", target, units, memory }' "$log"
    exit
fi
tail -n 60 "$log"
echo "$target: failed; the input is in $found"
exit 1
