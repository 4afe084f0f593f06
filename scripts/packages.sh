# shellcheck shell=sh
# Debian packages, installed only where something is missing. To be sourced.
#
#   need_command COMMAND PACKAGE     wants PACKAGE unless COMMAND is on the PATH
#   need_library NAME PACKAGE        wants PACKAGE unless pkg-config knows NAME
#   need_file FILE PACKAGE           wants PACKAGE unless FILE is there
#   install_needed                   installs what is wanted; fails with its names
#
# What is there counts wherever it came from, so that an npm of another source, say, is
# not fought over.

needed=

want() {
    case "$needed " in
    *" $1 "*) ;;
    *) needed="$needed $1" ;;
    esac
}

need_command() {
    command -v "$1" >/dev/null 2>&1 || want "$2"
}

need_library() {
    pkg-config --exists "$1" 2>/dev/null || want "$2"
}

need_file() {
    [ -e "$1" ] || want "$2"
}

install_needed() {
    [ -n "$needed" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "missing, and no apt-get to install them:$needed" >&2
        return 1
    fi
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "missing; install them as root:$needed" >&2
            return 1
        fi
        as_root=sudo
    fi
    echo "installing:$needed"
    # shellcheck disable=SC2086 # $needed is a list of words
    if ! $as_root apt-get update -qq ||
        ! $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends $needed >/dev/null; then
        echo "could not install:$needed" >&2
        return 1
    fi
    needed=
}

need_build() {
    need_command cc build-essential
    need_file /usr/include/stdio.h build-essential
    need_command make build-essential
    need_command cmake cmake
    need_command pkg-config pkg-config
    need_library libcurl libcurl4-openssl-dev
    need_library jansson libjansson-dev
    need_library yaml-0.1 libyaml-dev
    need_library sqlite3 libsqlite3-dev
    need_library lua5.4 liblua5.4-dev
    need_library libpcre2-8 libpcre2-dev
    need_library libedit libedit-dev
    need_file /etc/ssl/certs/ca-certificates.crt ca-certificates
}

# What the tests need on top.
need_tests() {
    need_build
    need_command c++ build-essential
    need_command python3 python3
    need_library cunit libcunit1-dev
    need_command npm npm
    need_command sqlite3 sqlite3
    # The official cases of JSON Schema: drafts 4 to 7, and those up to 2020-12.
    need_file /usr/share/json-schema-test-suite json-schema-test-suite
    need_file /usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance \
        libtest-json-schema-acceptance-perl
}

# What fuzzing needs on top.
need_fuzz() {
    need_command clang-14 clang-14
    need_file "/usr/lib/clang/14/lib/linux/libclang_rt.fuzzer-$(uname -m).a" \
        libclang-rt-14-dev
}
