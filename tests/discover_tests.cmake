# Run by taskbench_gtest when a test executable has been linked: a test of ctest for each of its
# cases, with all parameters of that case, or for each of its suites. The start of a process takes
# longer than most cases do, above all under a sanitizer.
#
#   cmake -D EACH=case|suite -D LAUNCHER=... -D EXECUTABLE=... -D PREFIX=... -D PROPERTIES=...
#     -D FILE=... -P ...
cmake_minimum_required(VERSION 3.24)
execute_process(
  COMMAND ${LAUNCHER} "${EXECUTABLE}" --gtest_list_tests
  OUTPUT_VARIABLE listing RESULT_VARIABLE result TIMEOUT 120
)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${EXECUTABLE} --gtest_list_tests: ${result}\n${listing}")
endif()
list(JOIN LAUNCHER " " launcher)
set(script "")

# add(<name> <filter> <what ctest makes of a part that was skipped>)
function(add name filter skipped)
  set(name "[==[${PREFIX}${name}]==]")
  set(filter "[==[--gtest_filter=${filter}]==]")
  string(APPEND script
    "add_test(${name} ${launcher} [==[${EXECUTABLE}]==] ${filter})\n"
    "set_tests_properties(${name} PROPERTIES"
    " ${skipped}_REGULAR_EXPRESSION [=[\\[  SKIPPED \\]]=] ${PROPERTIES})\n"
  )
  set(script "${script}" PARENT_SCOPE)
endfunction()

# A suite begins a line: "Schedulers/MutexOn." or "Suite/0.  # TypeParam = X". A case is indented:
# "  name" or "  name/parameter  # GetParam() = Y". What is skipped in part must not look whole.
string(REGEX REPLACE " *#[^\n]*" "" listing "${listing}")
string(REGEX MATCHALL "[^\n]+" lines "${listing}")
set(last "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)\\.$")
    set(suite "${CMAKE_MATCH_1}")
    if(EACH STREQUAL "suite")
      add("${suite}" "${suite}.*" FAIL)
    endif()
  elseif(EACH STREQUAL "case" AND line MATCHES "^  ([^ /]+)(/?)")
    set(case "${suite}.${CMAKE_MATCH_1}")
    if(case STREQUAL last)
      continue()
    elseif(CMAKE_MATCH_2)
      add("${case}" "${case}/*" FAIL)
    else()
      add("${case}" "${case}" SKIP)
    endif()
    set(last "${case}")
  endif()
endforeach()
if(NOT script)
  message(FATAL_ERROR "${EXECUTABLE} has no tests")
endif()
file(WRITE "${FILE}" "${script}")
