#!/bin/sh
# Fuzzes one target for $seconds; see scripts/fuzz.
set -eu
target=$1
found=build-fuzz/found
log=$found/$target.log
mkdir -p "build-fuzz/corpus/$target"

# -timeout: an input that takes 1 s is a mistake, and all checks slow it down fivefold;
# -rss_limit_mb: so is one that takes so much memory. A script may take 5 s of a
# processor before its sandbox stops it (CDR_SANDBOX_CPU_MS).
timeout=5
[ "$target" != expression ] || timeout=15
if "build-fuzz/tests/fuzz/$target" -max_total_time="$seconds" -timeout="$timeout" \
    -rss_limit_mb=512 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$found/$target-" \
    "build-fuzz/corpus/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
    awk -v target="$target" '
        /number_of_executed_units:/ { units = $2 }
        /slowest_unit_time_sec:/ { slowest = $2 }
        /peak_rss_mb:/ { memory = $2 }
        END { printf "%-16s %9d inputs, the slowest %d s, %4d MiB\n",
              target, units, slowest, memory }' "$log"
    exit
fi
tail -n 60 "$log"
echo "$target: failed; the input is in $found"
exit 1
