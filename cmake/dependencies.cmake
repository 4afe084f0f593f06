# The libraries the product links. jansson is the only one that its headers show.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(CURL 7.88 REQUIRED)
pkg_check_modules(CADRE_JANSSON REQUIRED IMPORTED_TARGET jansson>=2.14)
pkg_check_modules(CADRE_YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(CADRE_SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.40)
# For the program alone: editing lines.
pkg_check_modules(CADRE_EDIT IMPORTED_TARGET libedit>=3.1)
if(NOT CADRE_EDIT_FOUND)
    message(FATAL_ERROR "libedit 3.1 or newer is not there; on Debian it is in the "
        "package libedit-dev, which ./scripts/setup installs")
endif()
