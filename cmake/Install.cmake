# `cmake --install`: the runtime as a package that find_package(taskbench) finds, and the command.
#
# Headers go below include/taskbench/ with their paths kept, and that directory is what the imported
# target adds, so that #include "runtime/runtime.hpp" reads the same inside and outside.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(_headers "${CMAKE_INSTALL_INCLUDEDIR}/taskbench")
set(_package "${CMAKE_INSTALL_LIBDIR}/cmake/taskbench")

install(TARGETS taskbench_runtime
  EXPORT taskbenchTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${_headers}"
  FILE_SET HEADERS DESTINATION "${_headers}"
)
install(EXPORT taskbenchTargets
  NAMESPACE taskbench::
  DESTINATION "${_package}"
)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/taskbenchConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/taskbenchConfig.cmake"
  INSTALL_DESTINATION "${_package}"
  NO_SET_AND_CHECK_MACRO
)
# Before 1.0 a minor version may break what users wrote.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/taskbenchConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion
)
install(FILES
  "${PROJECT_BINARY_DIR}/taskbenchConfig.cmake"
  "${PROJECT_BINARY_DIR}/taskbenchConfigVersion.cmake"
  DESTINATION "${_package}"
)

if(TASKBENCH_BUILD_TOOLS)
  install(TARGETS taskbench RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES docs/man/taskbench.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
