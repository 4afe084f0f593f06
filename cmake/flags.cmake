# How everything of this project is compiled: link `cadre_flags` to get it.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
# One set of objects serves the shared and the static library.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

find_program(CADRE_CCACHE ccache DOC "Compiler cache, used when there")
mark_as_advanced(CADRE_CCACHE)
if(CADRE_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER ${CADRE_CCACHE})
endif()

set(CADRE_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wconversion -Wvla -Wwrite-strings -Wformat=2 -Wundef -Wcast-qual
    -Wredundant-decls)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    # Reads the lock attributes of base/mutex.h; gcc has no such check.
    list(APPEND CADRE_WARNINGS -Wthread-safety)
endif()
if(CADRE_WERROR)
    list(APPEND CADRE_WARNINGS -Werror)
endif()

add_library(cadre_flags INTERFACE)
target_compile_definitions(cadre_flags INTERFACE _GNU_SOURCE)
target_compile_options(cadre_flags INTERFACE ${CADRE_WARNINGS})
if(CADRE_SANITIZE)
    set(sanitize -fsanitize=${CADRE_SANITIZE} -fno-sanitize-recover=all)
    target_compile_options(cadre_flags INTERFACE ${sanitize} -fno-omit-frame-pointer)
    target_link_options(cadre_flags INTERFACE ${sanitize})
endif()
if(CADRE_FUZZ)
    # Counts what was reached; tests/fuzz links the fuzzer itself.
    target_compile_options(cadre_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
