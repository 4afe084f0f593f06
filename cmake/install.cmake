# `cmake --install`: the program and its manual page, the libraries, the headers, and
# how to find them: cadre.pc for pkg-config, cadre::cadre for CMake (as component
# `static` cadre::cadre-static).

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cadre)

if(TARGET cadre-cli)
    install(TARGETS cadre-cli)
    install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(DIRECTORY framework/include/cadre TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(TARGETS cadre EXPORT cadre-shared)
install(TARGETS cadre-static EXPORT cadre-static)
install(EXPORT cadre-shared DESTINATION ${package_dir} NAMESPACE cadre::)
install(EXPORT cadre-static DESTINATION ${package_dir} NAMESPACE cadre::)

configure_package_config_file(cmake/cadre-config.cmake.in
    ${PROJECT_BINARY_DIR}/generated/cadre-config.cmake
    INSTALL_DESTINATION ${package_dir}
    NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may break its users.
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/generated/cadre-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/generated/cadre-config.cmake
    ${PROJECT_BINARY_DIR}/generated/cadre-config-version.cmake
    DESTINATION ${package_dir})

# The prefix is told from where cadre.pc stands, so that an installed tree can be moved.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
    set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
    set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
        BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE up)
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/cadre.pc.in generated/cadre.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/cadre.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
