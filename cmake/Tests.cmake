# The two kinds of tests, and the set that scripts/test builds. For tests/CMakeLists.txt, which sets
# under_sanitizer, under_tsan, launcher and environment_of_scripts.

# For scripts/test without --ci, and with --ci under a sanitizer.
add_custom_target(taskbench_tests)
add_custom_target(taskbench_ci_tests)

# The schedulers that ours are compared with: the runtime tests that use them run under a sanitizer
# only in the nightly run. Storms pick them at random in each run.
set(compared global_queue_3 sharded_3 channel tokio01_3)
if(under_tsan)  # in_turn runs all of its workers on one thread
  list(APPEND compared in_turn_3)
endif()

# TIER: the first run of `scripts/test` that a test is in: `ci` is --ci, `nightly` is --all; a test
# without one is in all of them. It becomes a suffix of the label, by which scripts/test leaves
# tests out.
#
# SUITES: a test of ctest is a suite, not a case: to start a process takes longer than most cases.
# Under a sanitizer, where it takes longest, it is a group of small suites, or one of many cases,
# unless CASES is given: a case that a machine cannot run is skipped then, where in a group it would
# count as a failure.
#
# taskbench_gtest(<target> [COLD] [ALONE] [SUITES | CASES] [TIER <tier>] LABEL <folder>
#   LIBRARIES <library>... SOURCES <source>...)
function(taskbench_gtest target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD;ALONE;SUITES;CASES" "LABEL;TIER" "LIBRARIES;SOURCES")
  add_executable(${target} ${arg_SOURCES})
  if(arg_COLD)
    taskbench_target(${target} COLD)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # clang's archives contain only code for link-time optimisation; g++ links any mixture.
    taskbench_target(${target} LTO)
  else()
    taskbench_target(${target})
  endif()
  # To optimise what is compiled once and run once takes longer than it saves where every access is
  # watched. A storm is as good as what it does in its time.
  if(under_sanitizer AND NOT arg_LABEL STREQUAL "stress")
    target_compile_options(${target} PRIVATE -O0)
  endif()
  # No test is timed, so all may be compiled in batches.
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${CMAKE_UNITY_BUILD}")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  set(properties LABELS ${arg_LABEL})
  if(arg_TIER)
    set(properties LABELS ${arg_LABEL}.${arg_TIER})
  else()
    add_dependencies(taskbench_tests ${target})
  endif()
  if(NOT arg_TIER STREQUAL "nightly")
    add_dependencies(taskbench_ci_tests ${target})
  endif()
  # Long ones begin before short ones, so that none runs alone at the end.
  if(arg_LABEL STREQUAL "workloads" OR under_sanitizer)
    list(APPEND properties COST 1)
  endif()
  # ALONE: other tests running beside it would change what it observes of the machine.
  if(arg_ALONE)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  set(each case)
  if(arg_SUITES)
    set(each suite)
  endif()
  set(timeout_s 300)
  set(later)
  if(under_sanitizer)
    if(NOT arg_CASES)
      set(each group)
    endif()
    set(timeout_s 600)
  endif()
  if(under_sanitizer AND arg_SUITES)
    set(later "${compared}")
  endif()
  list(APPEND properties TIMEOUT ${timeout_s})
  list(JOIN properties " " properties)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_tests.cmake")
  if(NOT EXISTS "${file}")
    file(WRITE "${file}"
      "add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\n"
      "set_tests_properties(${target}_NOT_BUILT PROPERTIES ${properties})\n"
    )
  endif()
  add_custom_command(TARGET ${target} POST_BUILD
    BYPRODUCTS "${file}"
    COMMAND "${CMAKE_COMMAND}"
      -D "EACH=${each}"
      -D "LAUNCHER=${launcher}"
      -D "EXECUTABLE=$<TARGET_FILE:${target}>"
      -D "PREFIX=${TASKBENCH_TEST_PREFIX}"
      -D "PROPERTIES=${properties}"
      -D "LATER=${later}"
      -D "FILE=${file}"
      -P "${PROJECT_SOURCE_DIR}/tests/discover_tests.cmake"
    VERBATIM
  )
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

# taskbench_script_test(<name> [TIER <tier>] LABEL <folder> COMMAND <command>...)
function(taskbench_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIER" "COMMAND")
  set(name "${TASKBENCH_TEST_PREFIX}${arg_LABEL}.${name}")
  add_test(NAME "${name}" COMMAND ${arg_COMMAND})
  # Under a sanitizer the command is built only for these tests.
  if(under_sanitizer)
    set(arg_TIER nightly)
  endif()
  if(arg_TIER)
    string(APPEND arg_LABEL ".${arg_TIER}")
  endif()
  # COST: the slowest tests begin first, so that none runs alone at the end.
  set_tests_properties("${name}" PROPERTIES
    TIMEOUT 600 LABELS ${arg_LABEL} SKIP_RETURN_CODE 77 COST 2
    ENVIRONMENT_MODIFICATION "${environment_of_scripts}"
  )
  set(name "${name}" PARENT_SCOPE)
endfunction()
