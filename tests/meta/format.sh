#!/bin/sh
# All C files stand as .clang-format says. Not run without clang-format-14: another
# version formats otherwise.
set -eu
if ! command -v clang-format-14 >/dev/null; then
    echo "clang-format-14 is not installed"
    exit 77
fi
cd "$CADRE_SOURCE_DIR"
for folder in framework topologies agents tools models stores cli samples tests bench \
    cmake; do
    if [ -d "$folder" ]; then
        find "$folder" -name node_modules -prune -o -name '*.[ch]' -print
    fi
done | xargs clang-format-14 --dry-run --Werror --ferror-limit=1
