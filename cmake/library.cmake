# libcadre, shared and static, from the same objects.

get_property(folders GLOBAL PROPERTY CADRE_OBJECT_LIBRARIES)
list(TRANSFORM folders REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)

add_library(cadre SHARED ${objects})
add_library(cadre-static STATIC ${objects})
add_library(cadre::cadre ALIAS cadre)
add_library(cadre::cadre-static ALIAS cadre-static)
set_target_properties(cadre PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION 0)
set_target_properties(cadre-static PROPERTIES OUTPUT_NAME cadre)

foreach(library IN ITEMS cadre cadre-static)
    target_compile_features(${library} INTERFACE c_std_11)
    target_include_directories(${library} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/framework/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${library}
        PUBLIC PkgConfig::CADRE_JANSSON
        PRIVATE CURL::libcurl PkgConfig::CADRE_LUA PkgConfig::CADRE_PCRE2
            PkgConfig::CADRE_SQLITE PkgConfig::CADRE_YAML Threads::Threads m
            $<BUILD_INTERFACE:cadre_flags>)
endforeach()
if(NOT CADRE_SANITIZE)
    # A symbol that nobody defines fails here and not in the user's link.
    target_link_options(cadre PRIVATE LINKER:-z,defs)
endif()
