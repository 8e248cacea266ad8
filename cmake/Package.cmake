# `cpack` in a build directory, and scripts/package, make two Debian packages: taskbench, the
# command, and libtaskbench-dev, the runtime library. Run as a script by cpack, this same file gives
# their files the names and formats that Debian requires.

if(NOT CMAKE_SCRIPT_MODE_FILE AND NOT CPACK_TEMPORARY_DIRECTORY)
  set(TASKBENCH_PACKAGE_CONTACT "The taskbench authors <taskbench@localhost>" CACHE STRING
    "Who answers for the packages that cpack makes: NAME <ADDRESS>"
  )
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_CONTACT "${TASKBENCH_PACKAGE_CONTACT}")
  set(CPACK_PACKAGE_VENDOR "The taskbench authors")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_VERBATIM_VARIABLES ON)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has a synopsis of its own
  set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_FILE}")
  set(CPACK_TASKBENCH_SOURCE_DIR "${PROJECT_SOURCE_DIR}")

  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING IGNORE)
  set(CPACK_COMPONENTS_ALL command development)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

  set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME taskbench)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
  # For revisions, plots, --counters, scripts/gate-comment, --counters instructions-exact, --load
  # wrk, and scripts/relink. Messages name a missing one, and everything else works.
  set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS
    "git, gnuplot-nox | gnuplot, linux-perf | linux-tools-generic, python3, valgrind, wrk, binutils"
  )
  set(CPACK_DEBIAN_COMMAND_DESCRIPTION
"measure task schedulers, and gate performance regressions
taskbench runs small programs made of tasks on a work-stealing scheduler, and
prints and stores what they cost. It compares two programs that use Google
Benchmark, or two git revisions of one, and says for each benchmark whether it
became slower, with recipes for the CI of GitHub and GitLab in
/usr/share/taskbench/ci."
  )

  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtaskbench-dev)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libstdc++-12-dev | libstdc++-dev")
  set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"work-stealing task scheduler for C++20 coroutines (development files)
The library that taskbench measures: spawning, joining, aborting and yielding
tasks, with channels and locks for them, on a pool of workers or on one thread.
Found by CMake's find_package(taskbench)."
  )
  include(CPack)
  return()
endif()

# cpack has installed each component's files in a folder of its name.
find_program(gzip gzip REQUIRED)
foreach(component IN ITEMS command development)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}")
  string(TOUPPER "${component}" name)
  set(package "${CPACK_DEBIAN_${name}_PACKAGE_NAME}")

  set(doc "${root}/share/doc/${package}")
  file(READ "${CPACK_TASKBENCH_SOURCE_DIR}/LICENSE" license)
  file(WRITE "${doc}/copyright" "${license}")
  configure_file("${CPACK_TASKBENCH_SOURCE_DIR}/CHANGELOG.md" "${doc}/changelog" COPYONLY)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE "${doc}/changelog.Debian"
"${package} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Made by cpack; what is new stands in changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  set(compressed "${doc}/changelog" "${doc}/changelog.Debian")

  if(component STREQUAL "command")
    set(page "${root}/share/man/man1/taskbench.1")
    if(NOT EXISTS "${page}")
      message(FATAL_ERROR "a package has a manual page: install help2man, and configure again")
    endif()
    list(APPEND compressed "${page}")
    # Debian's zsh looks here; others, and a prefix like /usr/local, have site-functions.
    file(MAKE_DIRECTORY "${root}/share/zsh/vendor-completions")
    file(RENAME "${root}/share/zsh/site-functions/_taskbench"
      "${root}/share/zsh/vendor-completions/_taskbench"
    )
    file(REMOVE_RECURSE "${root}/share/zsh/site-functions")
  endif()
  execute_process(
    COMMAND "${gzip}" --no-name --best --force ${compressed}
    COMMAND_ERROR_IS_FATAL ANY
  )
endforeach()
