#!/bin/sh
# An installed copy is whole: the program runs, each C sample builds with what pkg-config
# says and nothing else and answers what its first comment promises, and a CMake project
# finds both libraries.
#
#   install.sh BUILD_DIR CC CMAKE
set -eu
build=$1
cc=$2
cmake=$3
cd "$CADRE_SOURCE_DIR"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/usr
"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log"

pc=$(find "$prefix" -name cadre.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
version=$(pkg-config --modversion cadre)
failed=0

wrong() {
    echo "$*"
    failed=1
}

run_sample() {
    source=$1
    name=$(basename "$source" .c)
    # shellcheck disable=SC2046 # pkg-config prints words
    if ! "$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror "$source" -o "$work/$name" \
        $(pkg-config --cflags --libs cadre); then
        wrong "$source: does not build against the installed copy"
        return
    fi
    sh tests/meta/promise.sh "$source" "$work/$name" || failed=1
}

if [ ! -x "$prefix/bin/cadre" ]; then
    wrong "the program is not installed"
elif ! "$prefix/bin/cadre" --version | grep -qF "$version"; then
    wrong "cadre --version does not say $version"
fi

grep -qF "cadre $version" "$prefix/share/man/man1/cadre.1" || wrong "no manual page"

for source in samples/c/*.c; do
    run_sample "$source"
done

if ! {
    "$cmake" -S tests/meta/consumer -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$cc" && "$cmake" --build "$work/consumer"
} >"$work/consumer.log" 2>&1; then
    cat "$work/consumer.log"
    wrong "find_package(cadre): the consumer does not build"
else
    for kind in shared static; do
        "$work/consumer/$kind" || wrong "find_package(cadre): the $kind consumer fails"
    done
fi
exit $failed
