# The libraries the product links. jansson is the only one that its headers show.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(CURL 7.88 REQUIRED)
pkg_check_modules(CADRE_JANSSON REQUIRED IMPORTED_TARGET jansson>=2.14)
pkg_check_modules(CADRE_YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(CADRE_SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.40)
# Expressions. Distributions do not agree on how Lua's file is called.
pkg_search_module(CADRE_LUA IMPORTED_TARGET lua5.4 lua-5.4 lua54 lua>=5.4)
if(NOT CADRE_LUA_FOUND OR CADRE_LUA_VERSION VERSION_GREATER_EQUAL 5.5)
    message(FATAL_ERROR "Lua 5.4 is not there; on Debian it is in the package "
        "liblua5.4-dev, which ./scripts/setup installs")
endif()
pkg_check_modules(CADRE_PCRE2 IMPORTED_TARGET libpcre2-8>=10.40)
if(NOT CADRE_PCRE2_FOUND)
    message(FATAL_ERROR "PCRE2 10.40 or newer is not there; on Debian it is in the "
        "package libpcre2-dev, which ./scripts/setup installs")
endif()
# For the program alone: editing lines.
pkg_check_modules(CADRE_EDIT IMPORTED_TARGET libedit>=3.1)
if(NOT CADRE_EDIT_FOUND)
    message(FATAL_ERROR "libedit 3.1 or newer is not there; on Debian it is in the "
        "package libedit-dev, which ./scripts/setup installs")
endif()
