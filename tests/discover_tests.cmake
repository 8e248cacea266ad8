# Run by taskbench_gtest when a test executable has been linked: makes a test of ctest for each of
# its cases, with all parameters of that case, or for each of its suites. Starting a process takes
# longer than most cases, above all under a sanitizer. LATER names parameters for which a suite runs
# in the nightly run, in a test of its own.
#
#   cmake -D EACH=case|suite -D LAUNCHER=... -D EXECUTABLE=... -D PREFIX=... -D PROPERTIES=...
#     -D LATER=... -D FILE=... -P ...
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

# add(<name> <filter> <how ctest treats a test that was skipped in part> <properties>)
function(add name filter skipped properties)
  set(name "[==[${PREFIX}${name}]==]")
  set(filter "[==[--gtest_filter=${filter}]==]")
  string(APPEND script
    "add_test(${name} ${launcher} [==[${EXECUTABLE}]==] ${filter})\n"
    "set_tests_properties(${name} PROPERTIES"
    " ${skipped}_REGULAR_EXPRESSION [=[\\[  SKIPPED \\]]=] ${properties})\n"
  )
  set(script "${script}" PARENT_SCOPE)
endfunction()

# A suite begins a line: "Schedulers/MutexOn." or "Suite/0.  # TypeParam = X". A case is indented: "
# name" or "  name/parameter  # GetParam() = Y". A test skipped in part must not look complete.
string(REGEX REPLACE " *#[^\n]*" "" listing "${listing}")
string(REGEX MATCHALL "[^\n]+" lines "${listing}")
string(REGEX REPLACE "^LABELS ([a-z]+)" "LABELS \\1.nightly" at_night "${PROPERTIES}")
set(last "")
set(suites "")
set(with_later "")
list(JOIN LATER "|" later)
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)\\.$")
    set(suite "${CMAKE_MATCH_1}")
    list(APPEND suites "${suite}")
  elseif(later AND line MATCHES "/(${later})$")
    list(APPEND with_later "${suite}")
  elseif(EACH STREQUAL "case" AND line MATCHES "^  ([^ /]+)(/?)")
    set(case "${suite}.${CMAKE_MATCH_1}")
    if(case STREQUAL last)
      continue()
    elseif(CMAKE_MATCH_2)
      add("${case}" "${case}/*" FAIL "${PROPERTIES}")
    else()
      add("${case}" "${case}" SKIP "${PROPERTIES}")
    endif()
    set(last "${case}")
  endif()
endforeach()
if(EACH STREQUAL "suite")
  foreach(suite IN LISTS suites)
    set(all "${suite}.*")
    if(suite IN_LIST with_later)
      list(TRANSFORM LATER PREPEND "${all}/" OUTPUT_VARIABLE parts)
      list(JOIN parts ":" parts)
      add("${suite}.compared" "${parts}" FAIL "${at_night}")
      string(APPEND all "-${parts}")
    endif()
    add("${suite}" "${all}" FAIL "${PROPERTIES}")
  endforeach()
endif()
if(NOT script)
  message(FATAL_ERROR "${EXECUTABLE} has no tests")
endif()
file(WRITE "${FILE}" "${script}")
