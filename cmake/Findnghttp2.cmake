# nghttp2, as nghttp2::nghttp2: a header and a library. Few systems have its CMake configuration.
find_path(nghttp2_INCLUDE_DIR nghttp2/nghttp2.h)
find_library(nghttp2_LIBRARY nghttp2)
mark_as_advanced(nghttp2_INCLUDE_DIR nghttp2_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(nghttp2 REQUIRED_VARS nghttp2_LIBRARY nghttp2_INCLUDE_DIR)
if(nghttp2_FOUND AND NOT TARGET nghttp2::nghttp2)
  add_library(nghttp2::nghttp2 UNKNOWN IMPORTED)
  set_target_properties(nghttp2::nghttp2 PROPERTIES
    IMPORTED_LOCATION "${nghttp2_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${nghttp2_INCLUDE_DIR}")
endif()
if(nghttp2_FOUND AND NOT DEFINED nghttp2_HAS_LIMITS)
  # Limits on resets and on CONTINUATION: since 1.57 and 1.61, and backported by some distributions.
  include(CheckCXXSymbolExists)
  set(CMAKE_REQUIRED_INCLUDES "${nghttp2_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_LIBRARIES "${nghttp2_LIBRARY}")
  check_cxx_symbol_exists(
    nghttp2_option_set_max_continuations nghttp2/nghttp2.h nghttp2_HAS_LIMITS
  )
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
