# Run by taskbench_gtest when a test executable has been linked: a test of ctest for each of its
# suites. Under a sanitizer the start of a process takes longer than most tests do.
#
#   cmake -D LAUNCHER=... -D EXECUTABLE=... -D PREFIX=... -D PROPERTIES=... -D FILE=... -P ...
execute_process(
  COMMAND ${LAUNCHER} "${EXECUTABLE}" --gtest_list_tests
  OUTPUT_VARIABLE listing RESULT_VARIABLE result TIMEOUT 120
)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${EXECUTABLE} --gtest_list_tests: ${result}\n${listing}")
endif()
# A suite begins a line: "Schedulers/MutexOn." or "Suite/0.  # TypeParam = X".
string(REGEX MATCHALL "(^|\n)[^ \n]+\\." suites "${listing}")
list(TRANSFORM suites STRIP)
if(NOT suites)
  message(FATAL_ERROR "${EXECUTABLE} has no tests")
endif()
list(JOIN LAUNCHER " " launcher)
# A suite of which a part was skipped must not look whole. SKIP_REGULAR_EXPRESSION, as for tests
# that run alone, would hide what else failed in it.
set(skipped [==[FAIL_REGULAR_EXPRESSION [=[\[  SKIPPED \]]=]]==])
set(script "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "\\.$" "" name "${PREFIX}${suite}")
  set(command "${launcher} [==[${EXECUTABLE}]==] [==[--gtest_filter=${suite}*]==]")
  string(APPEND script
    "add_test([==[${name}]==] ${command})\n"
    "set_tests_properties([==[${name}]==] PROPERTIES ${skipped} ${PROPERTIES})\n"
  )
endforeach()
file(WRITE "${FILE}" "${script}")
