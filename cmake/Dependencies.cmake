# Finds every library that the chosen parts need. One message names all that are missing, with the
# packages that provide them; nothing is downloaded.

# taskbench_require(<package> <debian> <fedora> <arch> <homebrew>)
# A macro, so that the variables of find_package stay visible in the caller.
macro(taskbench_require package)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND _missing "${package}")
    list(APPEND _missing_debian "${ARGV1}")
    list(APPEND _missing_fedora "${ARGV2}")
    list(APPEND _missing_arch "${ARGV3}")
    list(APPEND _missing_homebrew "${ARGV4}")
  endif()
endmacro()

set(_missing)
set(_missing_debian)
set(_missing_fedora)
set(_missing_arch)
set(_missing_homebrew)

# The runtime needs nothing else.
set(THREADS_PREFER_PTHREAD_FLAG ON)
taskbench_require(Threads libc6-dev glibc-devel glibc gcc)
if(TASKBENCH_BUILD_TOOLS)
  taskbench_require(Boost libboost-math-dev boost-devel boost boost)
  taskbench_require(benchmark libbenchmark-dev google-benchmark-devel benchmark google-benchmark)
  taskbench_require(CLI11 libcli11-dev cli11-devel cli11 cli11)
  taskbench_require(fmt libfmt-dev fmt-devel fmt fmt)
  taskbench_require(nlohmann_json nlohmann-json3-dev json-devel nlohmann-json nlohmann-json)
  taskbench_require(nghttp2 libnghttp2-dev libnghttp2-devel libnghttp2 libnghttp2)
  taskbench_require(protobuf "libprotobuf-dev protobuf-compiler"
    "protobuf-devel protobuf-compiler" protobuf protobuf
  )
  taskbench_require(re2 libre2-dev re2-devel re2 re2)
endif()
if(TASKBENCH_BUILD_TESTS)
  taskbench_require(GTest libgtest-dev gtest-devel gtest googletest)
endif()

if(_missing)
  foreach(_list IN ITEMS _missing _missing_debian _missing_fedora _missing_arch _missing_homebrew)
    list(JOIN ${_list} " " ${_list})
  endforeach()
  message(FATAL_ERROR
    "taskbench needs libraries that were not found: ${_missing}\n"
    "Install them with the line for your system, then configure again:\n"
    "  Debian, Ubuntu:  apt install ${_missing_debian}\n"
    "  Fedora:          dnf install ${_missing_fedora}\n"
    "  Arch:            pacman -S ${_missing_arch}\n"
    "  Homebrew:        brew install ${_missing_homebrew}\n"
    "A copy in another place is found with -DCMAKE_PREFIX_PATH=/where/it/is."
  )
endif()
