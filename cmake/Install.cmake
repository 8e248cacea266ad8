# `cmake --install`: the runtime and the permutation tester as a package, which
# find_package(taskbench) finds (the component development), and the command with its manual page,
# its completions, and the recipes for CI (the component command). cmake/Package.cmake makes one
# Debian package of each.
#
# Headers go below include/taskbench/. The imported targets and taskbench.pc add include/, so that
# they are included as <taskbench/runtime/...> and <taskbench/model/...>.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(_package "${CMAKE_INSTALL_LIBDIR}/cmake/taskbench")

install(TARGETS taskbench_runtime taskbench_model
  EXPORT taskbenchTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
)
install(DIRECTORY "${PROJECT_BINARY_DIR}/include/taskbench"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development
)
# The code for link-time optimisation is only for the command. A user who links the library with it
# waits for seconds, and needs exactly our compiler: g++ 12 fails if the program has -g1.
if(TASKBENCH_USE_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(_archive "${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:taskbench_runtime>")
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    string(PREPEND _archive "\${CMAKE_INSTALL_PREFIX}/")
  endif()
  install(CODE "
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" -R .gnu.lto_* -R .gnu.debuglto_* -N __gnu_lto_slim
      \"\$ENV{DESTDIR}${_archive}\"
      COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT development
  )
endif()

# For builds without CMake. It finds the other files relative to its own place, unless their folders
# are given as absolute paths, as by Nix.
set(_pc "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${_pc}")
  set(TASKBENCH_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH TASKBENCH_PC_PREFIX "/prefix/${_pc}" "/prefix")
  string(PREPEND TASKBENCH_PC_PREFIX "\${pcfiledir}/")
endif()
foreach(_dir IN ITEMS LIBDIR INCLUDEDIR)
  set(TASKBENCH_PC_${_dir} "${CMAKE_INSTALL_${_dir}}")
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_${_dir}}")
    string(PREPEND TASKBENCH_PC_${_dir} "\${prefix}/")
  endif()
endforeach()
set(TASKBENCH_PC_DEFINITIONS)
if(NOT TASKBENCH_COUNTERS)
  string(APPEND TASKBENCH_PC_DEFINITIONS " -DTASKBENCH_NO_COUNTERS=1")
endif()
if(TASKBENCH_PLANT)
  string(APPEND TASKBENCH_PC_DEFINITIONS " -DTASKBENCH_PLANT=1")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/taskbench.pc.in" "${PROJECT_BINARY_DIR}/taskbench.pc"
  @ONLY
)
install(FILES "${PROJECT_BINARY_DIR}/taskbench.pc" DESTINATION "${_pc}" COMPONENT development)

install(EXPORT taskbenchTargets
  NAMESPACE taskbench::
  DESTINATION "${_package}"
  COMPONENT development
)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/taskbenchConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/taskbenchConfig.cmake"
  INSTALL_DESTINATION "${_package}"
  NO_SET_AND_CHECK_MACRO
)
# Before 1.0 a minor version may break users' code.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/taskbenchConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion
)
install(FILES
  "${PROJECT_BINARY_DIR}/taskbenchConfig.cmake"
  "${PROJECT_BINARY_DIR}/taskbenchConfigVersion.cmake"
  DESTINATION "${_package}"
  COMPONENT development
)

# taskbench_install_completion(<shell> <folder> <name>)
# Asks the command for its completions when it is installed, not when it is built: a build with
# ThreadSanitizer does not run on every kernel.
function(taskbench_install_completion shell folder name)
  set(file "${PROJECT_BINARY_DIR}/completion/${shell}/${name}")
  install(CODE "
    file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/completion/${shell}\")
    execute_process(COMMAND \"$<TARGET_FILE:taskbench>\" completion ${shell}
      OUTPUT_FILE \"${file}\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT command
  )
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}" COMPONENT command)
endfunction()

# The manual page consists of the command's own help and docs/man/taskbench.h2m. Made at
# installation, like the completions.
function(taskbench_install_manual)
  find_program(HELP2MAN help2man)
  if(NOT HELP2MAN)
    message(STATUS "There is no help2man: no manual page will be installed")
    return()
  endif()
  set(page "${PROJECT_BINARY_DIR}/taskbench.1")
  install(CODE "
    execute_process(COMMAND \"${HELP2MAN}\" --no-info \"--help-option=help --all\"
      --version-string=${PROJECT_VERSION} --include=${PROJECT_SOURCE_DIR}/docs/man/taskbench.h2m
      --output=${page} \"$<TARGET_FILE:taskbench>\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT command
  )
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command)
endfunction()

if(TASKBENCH_BUILD_TOOLS)
  # `cmake --install` copies all libraries, also where only the command was asked for, as by
  # scripts/bench.
  add_dependencies(taskbench taskbench_model)
  install(TARGETS taskbench RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
  taskbench_install_manual()
  taskbench_install_completion(bash bash-completion/completions taskbench)
  taskbench_install_completion(zsh zsh/site-functions _taskbench)
  taskbench_install_completion(fish fish/vendor_completions.d taskbench.fish)
  # As in the sources, so that paths in the recipes hold in both places.
  install(DIRECTORY ci/github ci/gitlab ci/kubernetes
    DESTINATION "${CMAKE_INSTALL_DATADIR}/taskbench/ci"
    COMPONENT command
  )
  install(FILES action.yml
    DESTINATION "${CMAKE_INSTALL_DATADIR}/taskbench"
    COMPONENT command
  )
  install(FILES ci/README.md
    DESTINATION "${CMAKE_INSTALL_DATADIR}/taskbench/ci"
    COMPONENT command
  )
  # What the recipes and --help refer to.
  install(FILES docs/commands.md docs/parts.md docs/programs.md
    DESTINATION "${CMAKE_INSTALL_DATADIR}/taskbench/docs"
    COMPONENT command
  )
  install(DIRECTORY examples/gate
    DESTINATION "${CMAKE_INSTALL_DATADIR}/taskbench/examples"
    COMPONENT command
    REGEX "/(count|build-benchmarks)$" PERMISSIONS
      OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE
  )
  install(PROGRAMS
    scripts/diff-baseline
    scripts/gate-comment
    scripts/gate-merge
    scripts/gate-pr
    scripts/gate-slurm
    scripts/gate-ssh
    scripts/install-taskbench
    scripts/relink
    DESTINATION "${CMAKE_INSTALL_DATADIR}/taskbench/scripts"
    COMPONENT command
  )
  include(Package)
endif()
