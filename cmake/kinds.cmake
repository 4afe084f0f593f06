# Kinds: a folder of implementations, each one file with one const ops table.
#
# topologies/NAME.c defines `const cadre_agent_ops cadre_topology_NAME`, tools/NAME.c
# `const cadre_tool_ops cadre_tool_NAME`, and so on. From the names of the files this
# writes generated/kinds.c, whose NULL-terminated arrays team/kinds.h declares. So
# adding a file adds the kind, and none can be dropped by the linker or forgotten in a
# list. What one implementation splits off goes to FOLDER/NAME/*.c: built, not listed.

# Gives the C text of a table of pointers to the symbols of the sources, by name.
#   cadre_table(OUT_VARIABLE TYPE PREFIX TABLE SOURCE...)
function(cadre_table out type prefix table)
    set(declarations "")
    set(entries "")
    foreach(source IN LISTS ARGN)
        cmake_path(GET source STEM name)
        if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
            message(FATAL_ERROR "${source}: '${name}' cannot be the end of a C name; "
                "use small letters, digits and _")
        endif()
        string(APPEND declarations "extern const ${type} ${prefix}_${name};\n")
        string(APPEND entries "    &${prefix}_${name},\n")
    endforeach()
    set(${out}
        "${declarations}\nconst ${type} *const ${table}[] = {\n${entries}    NULL,\n};\n"
        PARENT_SCOPE)
endfunction()

# Builds a folder of implementations and remembers its part of the table.
#   cadre_kind(FOLDER SYMBOL TYPE TABLE)
function(cadre_kind folder symbol type table)
    file(GLOB listed CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c)
    file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*/*.c)
    cadre_table(text ${type} cadre_${symbol} ${table} ${listed})
    set_property(GLOBAL APPEND_STRING PROPERTY CADRE_KINDS_TEXT "\n${text}")
    if(listed OR parts)
        add_library(cadre_${folder} OBJECT ${listed} ${parts})
        target_link_libraries(cadre_${folder} PRIVATE cadre_flags cadre_headers)
        set_property(GLOBAL APPEND PROPERTY CADRE_OBJECT_LIBRARIES cadre_${folder})
    endif()
endfunction()

# Writes and builds the table of all kinds named so far.
function(cadre_kinds_finish)
    get_property(text GLOBAL PROPERTY CADRE_KINDS_TEXT)
    set(file ${PROJECT_BINARY_DIR}/generated/kinds.c)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
        "// Written by cmake/kinds.cmake from the names of files; edits are lost.
#include \"team/kinds.h\"

#include <stddef.h>
@text@")
    add_library(cadre_kinds OBJECT ${file})
    target_link_libraries(cadre_kinds PRIVATE cadre_flags cadre_internal)
    set_property(GLOBAL APPEND PROPERTY CADRE_OBJECT_LIBRARIES cadre_kinds)
endfunction()
