# The settings that all targets of taskbench share.

# taskbench_target(<target> [LTO | COLD])
# C++20 without extensions, the project's warnings, and includes written from the project's root.
# The presets decide whether a warning is an error.
#
#   LTO   takes part in link-time optimisation: for code that runs while times are measured
#   COLD  runs outside the measured time and has no threads in it, and so is hardly optimised in
#         Release builds, and still less in Debug builds, whatever their flags: optimising CLI11
#         and nlohmann_json takes minutes. g++'s -Og takes as long as -O0, and the command's tests
#         need half the CPU time. With TASKBENCH_LINK_ORDER and CMAKE_UNITY_BUILD its sources keep
#         their order: otherwise other groups would be compiled as one
#
# With CMAKE_UNITY_BUILD several COLD sources are compiled as one, and in Debug builds, which nobody
# measures, several sources of any target: so names in anonymous namespaces are unique in a target.
function(taskbench_target target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LTO;COLD" "" "")
  if(TASKBENCH_LINK_ORDER AND NOT (arg_COLD AND CMAKE_UNITY_BUILD))
    taskbench_reorder_sources(${target} ${TASKBENCH_LINK_ORDER})
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    )
    # Checks the annotations of runtime/base/thread_safety.hpp: guarded members need their lock.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      target_compile_options(${target} PRIVATE -Wthread-safety -Wthread-safety-beta)
    endif()
    # g++ 12 sees overlapping copies of 2^63 bytes in std::string's operators (GCC bug 105651).
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      target_compile_options(${target} PRIVATE -Wno-restrict)
    endif()
  endif()
  # For __FILE__, and for the paths that debuggers read.
  if(TASKBENCH_COMPARABLE)
    target_compile_options(${target} PRIVATE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
  endif()
  if(arg_COLD)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # With -Og it reports std::stop_source as uninitialised.
      target_compile_options(${target} PRIVATE -Og -Wno-maybe-uninitialized)
    elseif(CMAKE_BUILD_TYPE STREQUAL "Debug")
      target_compile_options(${target} PRIVATE -O0)
    endif()
  elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
  # The speed of a loop of a few nanoseconds depends on its position relative to the lines in which
  # instructions are fetched. Aligned, it is the same wherever the linker puts it: over six links of
  # one build the slowest was 16 % behind the fastest on yield_many, and is 4 % with these options.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT arg_COLD)
    target_compile_options(${target} PRIVATE
      -falign-functions=64 -falign-loops=32 $<$<CXX_COMPILER_ID:GNU>:-falign-jumps=32>
    )
  endif()
  # To link-time optimisation the whole program is one unit. g++ lets it grow by 40 %, of which the
  # rungs of the ladder take so much that the queues were no longer inlined into the worker's loop.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT arg_COLD)
    target_compile_options(${target} PRIVATE --param=inline-unit-growth=400)
  endif()
  if(arg_LTO AND TASKBENCH_USE_LTO)
    set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
endfunction()

# taskbench_reorder_sources(<target> <order>)
# Changes the order of the target's files, and so the layout of their code: the same code runs, at
# other addresses. Each number gives one order.
function(taskbench_reorder_sources target order)
  get_target_property(sources ${target} SOURCES)
  set(keyed "")
  foreach(source IN LISTS sources)
    string(SHA1 key "${order} ${source}")
    list(APPEND keyed "${key} ${source}")
  endforeach()
  list(SORT keyed)
  list(TRANSFORM keyed REPLACE "^[0-9a-f]+ " "")
  set_target_properties(${target} PROPERTIES SOURCES "${keyed}")
endfunction()
