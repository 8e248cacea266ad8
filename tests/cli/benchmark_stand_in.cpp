// A stand-in for a Google Benchmark program, with made-up times; fake_program.py writes and
// describes the files that it interprets. A run of the tests starts thousands of these processes.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// The contents of a file, or what its Python part has made of them.
struct Script {
  std::string python;  ///< to be run first, if not empty
  std::vector<std::pair<std::string, double>> times_ns;
  std::vector<std::pair<std::string, double>> counters;  ///< reported by each benchmark
  double noise = 0;
  double burnt = 1;    ///< CPU time per unit of wall time
  int waits = 0;       ///< repetitions that also wait for 3 ms
  double takes_s = 0;  ///< time of a process for each benchmark that it measures
  std::string cut;     ///< benchmarks whose iterations were cut short, each between two "|"
  bool lists_by_filter = false;
};

Script read(std::istream& lines) {
  Script script;
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t space = line.find(' ');
    const std::string_view key = std::string_view(line).substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "time") {
      const std::size_t equals = value.rfind('=');
      script.times_ns.emplace_back(value.substr(0, equals), std::stod(value.substr(equals + 1)));
    } else if (key == "counter") {
      const std::size_t equals = value.rfind('=');
      script.counters.emplace_back(value.substr(0, equals), std::stod(value.substr(equals + 1)));
    } else if (key == "noise") {
      script.noise = std::stod(value);
    } else if (key == "burnt") {
      script.burnt = std::stod(value);
    } else if (key == "waits") {
      script.waits = std::stoi(value);
    } else if (key == "takes") {
      script.takes_s = std::stod(value);
    } else if (key == "cut") {
      script.cut += "|" + value + "|";
    } else if (key == "lists_by_filter") {
      script.lists_by_filter = true;
    } else if (key == "python") {
      std::ostringstream rest;
      rest << lines.rdbuf();
      script.python = rest.str();
    }
  }
  return script;
}

using Flags = std::map<std::string, std::string>;

Flags flags_of(const std::vector<std::string>& words) {
  Flags flags;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::size_t begin = word.find_first_not_of('-');
    if (equals == std::string::npos || begin > equals) continue;
    flags[word.substr(begin, equals - begin)] = word.substr(equals + 1);
  }
  return flags;
}

/// Whether a filter selects the benchmark: "^(sort|hash)$", or anything that is not a list of
/// names.
bool takes(const std::string& filter, const std::string& name) {
  if (!filter.ends_with(")$")) return true;
  std::string plain;
  for (const char each : filter.substr(2, filter.size() - 4)) {
    if (each != '\\') plain += each;
  }
  return ("|" + plain + "|").find("|" + name + "|") != std::string::npos;
}

/// SplitMix64, as a number from 0 up to 1.
double uniform(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t mixed = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  return static_cast<double>(mixed ^ (mixed >> 31U)) / 0x1p64;
}

/// A factor for a benchmark, determined by its program's name and the number of the run. Its
/// logarithm is normally distributed, as a sum of twelve uniform values.
double drawn_factor(double noise, std::uint64_t& state) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += uniform(state);
  return std::exp(noise * (sum - 6));
}

void write_result(const Script& script, Flags& flags, std::uint64_t state) {
  const double min_time_s = std::stod(flags.at("benchmark_min_time"));
  const int repetitions = std::stoi(flags.at("benchmark_repetitions"));
  const std::string& path = flags.at("benchmark_out");
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::perror(path.c_str());
    std::exit(1);
  }
  std::fputs(R"({"context": {"json_schema_version": 1}, "benchmarks": [)", file);
  const char* between = "";
  for (const auto& [name, time_ns] : script.times_ns) {
    if (!takes(flags["benchmark_filter"], name)) continue;
    std::this_thread::sleep_for(std::chrono::duration<double>(script.takes_s));
    double real_ns = time_ns * drawn_factor(script.noise, state);
    long iterations = 1 + static_cast<long>(1e9 * min_time_s / time_ns);
    if (script.cut.find("|" + name + "|") != std::string::npos) {
      iterations = 1;
      real_ns *= 50;
    }
    std::string counters;
    for (const auto& [counter, value] : script.counters) {
      counters +=
          ", \"" + counter + "\": " + std::to_string(value * drawn_factor(script.noise, state));
    }
    for (int i = 0; i < repetitions; ++i) {
      const double waited_ns = i < script.waits ? 3e6 / static_cast<double>(iterations) : 0;
      std::fprintf(file,
                   R"(%s{"name": "%s", "run_name": "%s", "run_type": "iteration",)"
                   R"( "repetition_index": %d, "iterations": %ld, "real_time": %.17g,)"
                   R"( "cpu_time": %.17g, "time_unit": "ns"%s})",
                   between, name.c_str(), name.c_str(), i, iterations, real_ns + waited_ns,
                   time_ns * script.burnt, counters.c_str());
      between = ", ";
    }
  }
  std::fputs("]}", file);
  std::fclose(file);
}

}  // namespace

// Called by the system as the interpreter of a file (FILE WORD...), and by the Python part of a
// file, once that has run, with its results in the environment.
int main(int count, char** arguments) try {
  const std::string path = arguments[1];
  const std::vector<std::string> words(arguments + 2, arguments + count);
  Flags flags = flags_of(words);
  const char* const changed = std::getenv("BENCHMARK_STAND_IN");
  std::ofstream runs(path + ".runs", std::ios::app);
  if (changed == nullptr) runs << '.' << std::flush;
  // The last eight bytes of the program's name and the number of its run.
  std::uint64_t state = 0;
  runs.seekp(0, std::ios::end);
  const std::string number = std::to_string(runs.tellp());
  for (const char each : path.substr(path.rfind('/') + 1) + " " + number) {
    state = (state << 8U) | static_cast<unsigned char>(each);
  }
  if (changed != nullptr) {
    std::istringstream lines(changed);
    write_result(read(lines), flags, state);
    return 0;
  }
  std::ifstream file(path);
  const Script script = read(file);
  if (flags["benchmark_list_tests"] == "true") {
    if (script.lists_by_filter && flags["benchmark_filter"] == "^$") return 0;
    for (const auto& [name, time_ns] : script.times_ns) std::printf("%s\n", name.c_str());
    return 0;
  }
  for (const std::string& word : words) {
    if (word != "--version") continue;
    std::fputs("unrecognized command-line flag: --version\n", stderr);
    return 1;
  }
  if (script.python.empty()) {
    write_result(script, flags, state);
    return 0;
  }
  std::string code = script.python;
  std::string interpreter = code.substr(2, code.find('\n') - 2);  // "#!/usr/bin/python3"
  std::string options = "-ISc";
  std::vector<char*> python{interpreter.data(), options.data(), code.data(), arguments[0]};
  python.insert(python.end(), arguments + 1, arguments + count + 1);
  execv(interpreter.c_str(), python.data());
  std::perror(interpreter.c_str());
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "benchmark_stand_in: %s\n", error.what());
  return 1;
}
