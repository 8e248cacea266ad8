# RE2, as re2::re2. Releases since 2022-12 include a CMake configuration, which knows the other
# libraries to link (Abseil); Debian 12 has an older one without it, with a header and a library.
find_package(re2 CONFIG QUIET)
if(NOT TARGET re2::re2)
  find_path(re2_INCLUDE_DIR re2/re2.h)
  find_library(re2_LIBRARY re2)
  mark_as_advanced(re2_INCLUDE_DIR re2_LIBRARY)
  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(re2 REQUIRED_VARS re2_LIBRARY re2_INCLUDE_DIR)
  if(re2_FOUND)
    find_package(Threads REQUIRED)
    add_library(re2::re2 UNKNOWN IMPORTED)
    set_target_properties(re2::re2 PROPERTIES
      IMPORTED_LOCATION "${re2_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${re2_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES Threads::Threads)
  endif()
endif()
