// Results that other tools write as JSON. Each reader throws json::ReadError for a file that is not
// a result of its tool; `path` is for the messages. An impossible time makes its benchmark
// unusable. If a tool reports no CPU time, it is 0.
#pragma once

#include <filesystem>
#include <string_view>

#include "reports/model/run.hpp"

namespace taskbench::reports::tools {

/// Reads a file of `pytest --benchmark-json`, a repetition for each round. A benchmark is named by
/// the test: "tests/test_sort.py::test_sort[10]". CPU times are from the list "cpu_data" next to
/// "data", which taskbench adds.
[[nodiscard]] model::Run parse_pytest_benchmark(const std::filesystem::path& path,
                                                std::string_view text);

/// Reads a file of pyperf, a repetition for each value. Benchmarks whose unit is not the second are
/// unusable.
[[nodiscard]] model::Run parse_pyperf(const std::filesystem::path& path, std::string_view text);

/// Reads a file of `hyperfine --export-json`, a repetition for each run of a command. Its CPU times
/// are the mean of all runs. Parameters are a part of a command, and also follow it if several
/// results have the same one: "./bench/branch:main".
[[nodiscard]] model::Run parse_hyperfine(const std::filesystem::path& path, std::string_view text);

/// Reads Criterion's files in the folder "new" of one benchmark: the texts of benchmark.json, and
/// of sample.json, a repetition for each sample.
[[nodiscard]] model::Case parse_criterion(const std::filesystem::path& path,
                                          std::string_view benchmark, std::string_view sample);

/// Reads a file of JMH's `-rf json`, a repetition for each iteration of each fork. Parameters
/// follow a benchmark's name, and its mode if the file has several of it:
/// "org.example.Sort.quick/size=10/avgt". A throughput is converted to its reciprocal, a time; of
/// sampled times, the mean counts. The number of operations per iteration is not reported.
[[nodiscard]] model::Run parse_jmh(const std::filesystem::path& path, std::string_view text);

}  // namespace taskbench::reports::tools
