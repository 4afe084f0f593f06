# The program: cli/NAME.c is the command NAME, cli/ui what the commands share.
#
# It links the static library: one file that starts without a library path and without
# one more object for the dynamic linker to find and relocate. It sees the public headers
# only, so everything it does a user's program can do.

file(GLOB commands CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c)
file(GLOB shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/ui/*.c)
set(main ${PROJECT_SOURCE_DIR}/cli/ui/main.c)
list(REMOVE_ITEM shared ${main})
if(NOT EXISTS ${main})
    return()
endif()

cadre_table(text cadre_command cadre_command cadre_commands ${commands})
set(table ${PROJECT_BINARY_DIR}/generated/commands.c)
file(CONFIGURE OUTPUT ${table} @ONLY CONTENT
    "// Written by cmake/program.cmake from the names of files; edits are lost.
#include \"ui/command.h\"

#include <stddef.h>

@text@")

add_library(cadre_cli OBJECT ${commands} ${shared} ${table})
target_include_directories(cadre_cli PUBLIC ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(cadre_cli PUBLIC cadre-static PkgConfig::CADRE_EDIT PRIVATE cadre_flags)

add_executable(cadre-cli ${main})
set_target_properties(cadre-cli PROPERTIES
    OUTPUT_NAME cadre
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(cadre-cli PRIVATE cadre_flags cadre_cli)

# The manual page is printed from the table of commands, as `cadre help` is.
add_executable(cadre-manual ${CMAKE_CURRENT_LIST_DIR}/manual.c)
target_link_libraries(cadre-manual PRIVATE cadre_flags cadre_cli)
set(manual ${PROJECT_BINARY_DIR}/generated/cadre.1)
add_custom_command(OUTPUT ${manual}
    COMMAND cadre-manual "${PROJECT_DESCRIPTION}" > ${manual}
    VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual})
