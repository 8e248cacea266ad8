# Writes build_info.hpp: what the JSON files say about the build. The git commit changes without
# CMake being run again, so the header is made at build time by this same file run as a script; it
# is rewritten only when its text changes, so that an unchanged commit compiles nothing.
#
#   include(BuildInfo)
#   taskbench_build_info(<target>)   # makes "harness/machine/build_info.hpp" includable

if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(taskbench_build_info target)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    set(flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
    if(TASKBENCH_USE_LTO)
      list(GET CMAKE_CXX_COMPILE_OPTIONS_IPO 0 lto)
      string(APPEND flags " ${lto}")
    endif()
    if(NOT TASKBENCH_COUNTERS)
      string(APPEND flags " -DTASKBENCH_NO_COUNTERS=1")
    endif()
    if(TASKBENCH_PLANT)
      string(APPEND flags " -DTASKBENCH_PLANT=1")
    endif()
    string(REGEX REPLACE "  +" " " flags "${flags}")
    string(STRIP "${flags}" flags)

    set(directory "${PROJECT_BINARY_DIR}/generated")
    set(header "${directory}/harness/machine/build_info.hpp")
    find_package(Git QUIET)
    set(git "${GIT_EXECUTABLE}")
    if(TASKBENCH_COMPARABLE)
      set(git "")
    endif()
    add_custom_target(taskbench_build_info
      COMMAND "${CMAKE_COMMAND}"
        "-DHEADER=${header}"
        "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
        "-DGIT=${git}"
        "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
        "-DFLAGS=${flags}"
        "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
        "-DVERSION=${PROJECT_VERSION}"
        -P "${PROJECT_SOURCE_DIR}/cmake/BuildInfo.cmake"
      BYPRODUCTS "${header}"
      COMMENT "Looking at the git commit"
      VERBATIM
    )
    add_dependencies(${target} taskbench_build_info)
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${directory}>")
  endfunction()
  return()
endif()

# A tarball unpacked inside another repository must not report that repository's commit.
set(GIT_COMMIT "")
if(GIT AND EXISTS "${SOURCE_DIR}/.git")
  execute_process(
    COMMAND "${GIT}" -C "${SOURCE_DIR}" describe --always --abbrev=40 --exclude=* --dirty
    OUTPUT_VARIABLE GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  )
endif()
configure_file("${SOURCE_DIR}/cmake/build_info.hpp.in" "${HEADER}" @ONLY)
