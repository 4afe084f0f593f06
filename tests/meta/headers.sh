#!/bin/sh
# Each public header compiles alone, as C17 and as C++17, and each private one as C17.
#
#   headers.sh CC
set -eu
cc=$1
cxx=${CXX:-c++}
cd "$CADRE_SOURCE_DIR"

include="-Iframework/include $(pkg-config --cflags jansson)"
warn="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wcast-qual -Werror"
warn_c="$warn -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings"
failed=0

# compiles HEADER COMPILER FLAG...: reads a file that includes just this header.
compiles() {
    header=$1
    shift
    # shellcheck disable=SC2086 # lists of flags
    if ! printf '#include "%s"\n' "$header" | "$@" -fsyntax-only -; then
        echo "$header does not compile alone: $*"
        failed=1
    fi
}

if ! command -v "$cxx" >/dev/null; then
    echo "no C++ compiler ($cxx)"
    exit 77
fi
for file in $(find framework/include -name '*.h' | sort); do
    header=${file#framework/include/}
    # shellcheck disable=SC2086
    compiles "$header" "$cc" -x c -std=c17 $include $warn_c
    # shellcheck disable=SC2086
    compiles "$header" "$cxx" -x c++ -std=c++17 $include $warn
done
# shellcheck disable=SC2086
if ! "$cxx" -std=c++17 $include $warn -fsyntax-only tests/meta/from_cpp.cpp; then
    echo "what cadre.h says of C++ is not true"
    failed=1
fi
private="-Iframework/src $(pkg-config --cflags lua5.4)"
for file in $(find framework/src -name '*.h' | sort); do
    # shellcheck disable=SC2086
    compiles "${file#framework/src/}" "$cc" -x c -std=c17 -D_GNU_SOURCE \
        $private $include $warn_c
done
exit $failed
