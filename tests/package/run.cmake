# Proves that other projects can use taskbench, in the ways of users: each in an empty directory.
#
#   find_package          an installed copy, from a prefix that is no system directory
#   add_subdirectory      the sources: only the runtime, without setting any option
#   absolute_folders      an installed copy, with absolute paths for its libraries and headers
#   missing_dependencies  configuring without them names all of them, with their packages

set(work "${BUILD_DIR}/tests/package-${KIND}")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

# run(<command>...): runs the command, and fails with its output if it fails.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${result} and printed:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

set(configure "${CMAKE_COMMAND}" -G "${GENERATOR}"
  "-DCMAKE_BUILD_TYPE=${CONFIG}"
  "-DCMAKE_CXX_COMPILER=${COMPILER}"
  "-DCMAKE_CXX_FLAGS=${FLAGS}"
  "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
)

function(build_and_run_consumer)
  run(${configure} -S "${SOURCE_DIR}/tests/package/consumer" -B "${work}/build" ${ARGV})
  run("${CMAKE_COMMAND}" --build "${work}/build" --config "${CONFIG}")
  run("${work}/build/consumer")
  if(NOT out STREQUAL "42\n")
    message(FATAL_ERROR "the consumer printed '${out}' instead of 42")
  endif()
endfunction()

function(build_by_pkg_config libraries)
  find_program(PKG_CONFIG pkg-config)
  if(NOT PKG_CONFIG)
    return()
  endif()
  set(ENV{PKG_CONFIG_PATH} "${libraries}/pkgconfig")
  run("${PKG_CONFIG}" --cflags --libs taskbench)
  separate_arguments(flags UNIX_COMMAND "${FLAGS} ${out}")
  run("${COMPILER}" -std=c++20 -g1 "${SOURCE_DIR}/tests/package/consumer/main.cpp" ${flags}
    -o "${work}/by_pkg_config")
  run("${work}/by_pkg_config")
  if(NOT out STREQUAL "42\n")
    message(FATAL_ERROR "what was built with pkg-config printed '${out}' instead of 42")
  endif()
endfunction()

if(KIND STREQUAL "find_package")
  run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${work}/prefix")
  if(NOT EXISTS "${work}/prefix/include/taskbench/runtime/runtime.hpp")
    message(FATAL_ERROR "the headers were not installed below include/taskbench/")
  endif()
  # Installed headers must include only installed ones, and the schedulers' own are not installed.
  file(GLOB_RECURSE headers RELATIVE "${work}/prefix/include"
    "${work}/prefix/include/taskbench/*.hpp")
  if(headers MATCHES "work_stealing")
    message(FATAL_ERROR "headers were installed that no user includes: ${headers}")
  endif()
  list(TRANSFORM headers REPLACE ".+" "#include \"\\0\"\n")
  list(JOIN headers "" text)
  file(WRITE "${work}/every_header.cpp" "${text}")
  run("${COMPILER}" -std=c++20 -fsyntax-only "-I${work}/prefix/include"
    "${work}/every_header.cpp")
  # With g++, the linker's plug-in would use the archive's code for link-time optimisation, which
  # takes seconds and fails together with -g1.
  file(GLOB_RECURSE archive "${work}/prefix/*/libtaskbench_runtime.a")
  file(STRINGS "${archive}" lto REGEX "gnu\\.lto_")
  if(NOT archive OR lto)
    message(FATAL_ERROR "the archive '${archive}' holds code for link-time optimisation")
  endif()
  cmake_path(GET archive PARENT_PATH libraries)
  build_by_pkg_config("${libraries}")
  run("${work}/prefix/bin/taskbench" --version)
  foreach(path IN ITEMS
      man/man1/taskbench.1
      bash-completion/completions/taskbench
      zsh/site-functions/_taskbench
      fish/vendor_completions.d/taskbench.fish
      taskbench/ci/README.md
      taskbench/docs/programs.md
      taskbench/scripts/gate-pr
      taskbench/scripts/relink
      taskbench/scripts/diff-baseline)
    if(NOT EXISTS "${work}/prefix/share/${path}")
      message(FATAL_ERROR "share/${path} was not installed")
    endif()
  endforeach()
  # The version is requested as a user would, and the package must be the one just installed.
  build_and_run_consumer("-DCMAKE_PREFIX_PATH=${work}/prefix")
  run(${configure} -S "${SOURCE_DIR}/examples" -B "${work}/examples"
    "-DCMAKE_PREFIX_PATH=${work}/prefix")
  run("${CMAKE_COMMAND}" --build "${work}/examples" --config "${CONFIG}"
    --target payments_test ring_model ring_model_with_bug)
  run("${work}/examples/payments_test" 100)
  if(NOT out STREQUAL "100 seeds passed\n")
    message(FATAL_ERROR "the example of a test printed '${out}'")
  endif()
  run("${work}/examples/ring_model")
  execute_process(COMMAND "${work}/examples/ring_model_with_bug"
    RESULT_VARIABLE result OUTPUT_VARIABLE out
  )
  if(NOT result EQUAL 1 OR NOT out MATCHES "data race.*MC_TRACE=[^\n]+\nevent .* ring\\.hpp:")
    message(FATAL_ERROR "a model ended with ${result}, and printed of the bug in it:\n${out}")
  endif()
  file(STRINGS "${work}/build/CMakeCache.txt" found REGEX "^taskbench_DIR:")
  if(NOT found MATCHES "package-find_package/prefix")
    message(FATAL_ERROR "another installed copy was found: ${found}")
  endif()

elseif(KIND STREQUAL "absolute_folders")
  # Release: the archive has code for link-time optimisation, which installing removes.
  run(${configure} -S "${SOURCE_DIR}" -B "${work}/build"
    -DCMAKE_BUILD_TYPE=Release
    -DTASKBENCH_BUILD_TESTS=OFF
    "-DCMAKE_INSTALL_PREFIX=${work}/prefix"
    "-DCMAKE_INSTALL_LIBDIR=${work}/prefix/libraries"
    "-DCMAKE_INSTALL_INCLUDEDIR=${work}/prefix/headers"
  )
  # All that is installed must be built with the command, which is what scripts/bench builds.
  run("${CMAKE_COMMAND}" --build "${work}/build" --target taskbench -- -n)
  foreach(library IN ITEMS runtime model)
    if(NOT out MATCHES "libtaskbench_${library}\\.a")
      message(FATAL_ERROR "the target taskbench does not build taskbench_${library}:\n${out}")
    endif()
  endforeach()
  run("${CMAKE_COMMAND}" --build "${work}/build" --target taskbench_runtime taskbench_model)
  set(install "${CMAKE_COMMAND}" --install "${work}/build" --component development)
  run("${CMAKE_COMMAND}" -E env "DESTDIR=${work}/root" ${install})
  if(NOT EXISTS "${work}/root${work}/prefix/libraries/libtaskbench_runtime.a"
      OR EXISTS "${work}/prefix")
    message(FATAL_ERROR "the archive was not installed below DESTDIR")
  endif()
  run(${install})
  build_by_pkg_config("${work}/prefix/libraries")

elseif(KIND STREQUAL "add_subdirectory")
  # None of the libraries for the command and the tests may be looked for.
  set(disabled)
  foreach(package IN ITEMS benchmark CLI11 fmt nghttp2 nlohmann_json protobuf re2 GTest)
    list(APPEND disabled "-DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON")
  endforeach()
  build_and_run_consumer("-DTASKBENCH_SOURCE_DIR=${SOURCE_DIR}" ${disabled})
  # A small program must not have to compile each of our files on its own, let alone rungs.
  file(GLOB_RECURSE objects "${work}/build/*.o" "${work}/build/*.obj")
  list(LENGTH objects count)
  if(count GREATER 12)
    message(FATAL_ERROR "a program of one file compiles ${count} units: ${objects}")
  endif()

elseif(KIND STREQUAL "missing_dependencies")
  execute_process(
    COMMAND ${configure} -S "${SOURCE_DIR}" -B "${work}/build"
      -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON
      -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON
    RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out
  )
  if(result EQUAL 0)
    message(FATAL_ERROR "configuring without two libraries succeeded")
  endif()
  foreach(expected IN ITEMS
      "not found: benchmark GTest"
      "apt install libbenchmark-dev libgtest-dev"
      "dnf install google-benchmark-devel gtest-devel"
      "pacman -S benchmark gtest"
      "brew install google-benchmark googletest")
    string(FIND "${out}" "${expected}" position)
    if(position EQUAL -1)
      message(FATAL_ERROR "the message lacks '${expected}':\n${out}")
    endif()
  endforeach()

else()
  message(FATAL_ERROR "no such kind: ${KIND}")
endif()
