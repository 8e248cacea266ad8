# The headers for users, as <taskbench/runtime/...> and <taskbench/model/...>: copies of the public
# headers in the build directory, in which includes of other headers are rewritten likewise. No
# directory with a bare runtime/ gets on the include path of users, who may have a folder of that
# name. The project's own targets include from its root.
#
# Run as a script, with -D SOURCE_DIR, -D TARGET_DIR, -D FROM, -D TO and -D HEADERS, it writes the
# copies.

if(CMAKE_SCRIPT_MODE_FILE)
  foreach(header IN LISTS HEADERS)
    file(READ "${SOURCE_DIR}/${FROM}/${header}" text)
    string(REPLACE "#include \"${FROM}/" "#include \"taskbench/${TO}/" text "${text}")
    file(WRITE "${TARGET_DIR}/taskbench/${TO}/${header}" "${text}")
  endforeach()
  return()
endif()

# taskbench_public_headers(<target> <from> <to>): makes the headers in its file set HEADERS, which
# are in the folder <from> of the project, available as <taskbench/<to>/...>.
function(taskbench_public_headers target from to)
  set(directory "${PROJECT_BINARY_DIR}/include")
  get_target_property(sources ${target} HEADER_SET)
  set(headers)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    file(RELATIVE_PATH header "${PROJECT_SOURCE_DIR}/${from}" "${source}")
    list(APPEND headers "${header}")
  endforeach()
  list(TRANSFORM headers PREPEND "${directory}/taskbench/${to}/" OUTPUT_VARIABLE copies)
  # Copies of deleted headers would be installed with the others.
  file(GLOB_RECURSE stale "${directory}/taskbench/${to}/*")
  list(REMOVE_ITEM stale ${copies})
  if(stale)
    file(REMOVE ${stale})
  endif()
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_FILE}")
  add_custom_command(
    OUTPUT ${copies}
    COMMAND "${CMAKE_COMMAND}" -D "SOURCE_DIR=${PROJECT_SOURCE_DIR}" -D "TARGET_DIR=${directory}"
      -D "FROM=${from}" -D "TO=${to}" -D "HEADERS=${headers}" -P "${script}"
    DEPENDS ${sources} "${script}"
    COMMENT "Writing the headers that others include as <taskbench/${to}/...>"
    VERBATIM
  )
  add_custom_target(${target}_headers DEPENDS ${copies})
  add_dependencies(${target} ${target}_headers)
  target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${directory}>")
endfunction()
