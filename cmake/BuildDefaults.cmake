# Defaults of the whole build: the compilers that are known to work, the build type, ccache, and
# whether link-time optimisation is available.

set(_minimum_GNU 12)
set(_minimum_Clang 16)
if(DEFINED _minimum_${CMAKE_CXX_COMPILER_ID}
    AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS _minimum_${CMAKE_CXX_COMPILER_ID})
  message(FATAL_ERROR
    "taskbench needs g++ 12 or clang 16 at least, for C++20 coroutines; found "
    "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER}). "
    "Choose another with -DCMAKE_CXX_COMPILER=g++-12, in an empty build directory."
  )
endif()

if(PROJECT_IS_TOP_LEVEL)
  # An unoptimised benchmark measures nothing, so a bare `cmake -B build` builds Release.
  get_property(_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT _multi_config)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
  endif()

  find_program(TASKBENCH_CCACHE ccache)
  mark_as_advanced(TASKBENCH_CCACHE)
  if(TASKBENCH_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TASKBENCH_CCACHE}")
  endif()
endif()

# g++ runs its garbage collector far too often for a batch of sources: compiling takes a sixth less
# time if collection starts only at 1.5 GB. The output is the same.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_UNITY_BUILD AND CMAKE_BUILD_TYPE STREQUAL "Debug"
    AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=1500000)
endif()

# TASKBENCH_USE_LTO: whether the request in TASKBENCH_LTO is met. Only for Release builds, since all
# other builds are for quick compiling or debugging.
set(TASKBENCH_USE_LTO OFF)
if(TASKBENCH_LTO AND TASKBENCH_BUILD_TOOLS AND CMAKE_BUILD_TYPE STREQUAL "Release")
  include(CheckIPOSupported)
  check_ipo_supported(RESULT TASKBENCH_USE_LTO OUTPUT _reason LANGUAGES CXX)
  if(NOT TASKBENCH_USE_LTO)
    string(REGEX REPLACE "\n.*" "" _reason "${_reason}")
    message(STATUS "Link-time optimisation is off: this tool chain cannot (${_reason})")
  endif()
endif()
