# Run by taskbench_gtest when a test executable has been linked: makes a test of ctest for each of
# its cases, with all parameters of that case, or for each of its suites, or for each group of small
# suites that follow each other. Starting a process takes longer than most cases, and under a
# sanitizer than most suites: 0.17 s of CPU time where there are thousands of cases to register.
# LATER names parameters for which a suite runs in the nightly run, in a test of its own.
#
#   cmake -D EACH=case|suite|group -D LAUNCHER=... -D EXECUTABLE=... -D PREFIX=... -D PROPERTIES=...
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
    set("cases_of_${suite}" 0)
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
  elseif(line MATCHES "^  ")
    math(EXPR "cases_of_${suite}" "${cases_of_${suite}} + 1")
  endif()
endforeach()

# add_suites(<suites>): a test of these suites, and one of what is left to the nightly run.
function(add_suites suites)
  list(JOIN suites "," name)
  list(TRANSFORM suites APPEND ".*" OUTPUT_VARIABLE all)
  list(JOIN all ":" all)
  set(parts)
  foreach(suite IN LISTS suites)
    if(suite IN_LIST with_later)
      list(TRANSFORM LATER PREPEND "${suite}.*/" OUTPUT_VARIABLE more)
      list(APPEND parts ${more})
    endif()
  endforeach()
  if(parts)
    list(JOIN parts ":" parts)
    add("${name}.compared" "${parts}" FAIL "${at_night}")
    string(APPEND all "-${parts}")
  endif()
  add("${name}" "${all}" FAIL "${PROPERTIES}")
  set(script "${script}" PARENT_SCOPE)
endfunction()

# A group has a name that fits on a line. Death tests, which fork, share no process with others.
set(most_cases 60)
set(longest_name 100)
if(NOT EACH STREQUAL "case")
  set(group)
  set(together 0)
  set(forked FALSE)
  foreach(suite IN LISTS suites)
    set(forks FALSE)
    if(suite MATCHES "DeathTest$")
      set(forks TRUE)
    endif()
    math(EXPR together "${together} + ${cases_of_${suite}}")
    string(LENGTH "${group};${suite}" length)
    if(group AND (EACH STREQUAL "suite" OR together GREATER most_cases
        OR length GREATER longest_name OR NOT forks STREQUAL forked))
      add_suites("${group}")
      set(group)
      set(together "${cases_of_${suite}}")
    endif()
    list(APPEND group "${suite}")
    set(forked "${forks}")
  endforeach()
  if(group)
    add_suites("${group}")
  endif()
endif()
if(NOT script)
  message(FATAL_ERROR "${EXECUTABLE} has no tests")
endif()
file(WRITE "${FILE}" "${script}")
