#include "reports/json/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <utility>

#include "reports/files/file_content.hpp"
#include "reports/json/drift.hpp"
#include "reports/json/event_counts.hpp"
#include "reports/json/field.hpp"
#include "reports/json/parse.hpp"

namespace taskbench::reports::json {
namespace {

// What no measurement gives, in ns: a sum or a ratio of such times could not be told from a damage.
constexpr double kShortestTime = 1e-15;
constexpr double kLongestTime = 1e30;
constexpr double kMostIterations = 1e18;
constexpr double kMostCpus = 1e9;

// What else taskbench writes as JSON, by the key that tells its version.
constexpr std::array<std::pair<const char*, const char*>, 8> kOurOtherFiles{{
    {"taskbench_paired", "the report of `taskbench ab`"},
    {"taskbench_compare", "the answer of `taskbench compare`"},
    {"taskbench_compare_columns", "the answer of `taskbench compare`"},
    {"taskbench_baseline_comparison", "the answer of `taskbench baseline compare`"},
    {"taskbench_baseline", "a stored baseline"},
    {"taskbench_noise", "a stored noise floor"},
    {"taskbench_doctor", "the answer of `taskbench doctor`"},
    {"traceEvents", "a trace"},
}};

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view what) {
  throw ReadError(fmt::format("{}: {}", path.string(), what));
}

double unit_in_ns(const std::filesystem::path& path, const Json& row, std::string_view name) {
  const auto found = row.find("time_unit");
  if (found == row.end()) return 1;
  const std::string unit = found->is_string() ? found->get<std::string>() : found->dump();
  if (unit == "ns") return 1;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s") return 1e9;
  fail(path, fmt::format("'{}' has the unknown time unit '{}'", name, unit));
}

/// Why the program gave no result for it: the key changed with version 1.8.
std::string error_of(const Json& row) {
  const bool failed = is_true(row, "error_occurred") || is_true(row, "skipped");
  if (!failed) return {};
  std::string message = text_or_empty(row, "error_message");
  if (message.empty()) message = text_or_empty(row, "skip_message");
  return message.empty() ? "skipped without a message" : message;
}

[[noreturn]] void fail_number(const std::filesystem::path& path, std::string_view name,
                              std::string_view what, const Json& value) {
  fail(path,
       fmt::format("'{}' has {} of {}, which no measurement gives", name, what, value.dump()));
}

/// In ns.
double time_of(const std::filesystem::path& path, const Json& row, std::string_view name,
               const char* key, bool zero_is_sound) {
  const auto found = row.find(key);
  if (found == row.end()) fail(path, fmt::format("'{}' has no {}", name, key));
  const std::string what = fmt::format("a {}", key);
  if (!found->is_number()) fail_number(path, name, what, *found);
  const double ns = found->get<double>() * unit_in_ns(path, row, name);
  const bool is_sound = (ns >= kShortestTime && ns <= kLongestTime) || (ns == 0 && zero_is_sound);
  if (!is_sound) fail_number(path, name, what, *found);
  return ns;
}

std::int64_t iterations_of(const std::filesystem::path& path, const Json& row,
                           std::string_view name) {
  const auto found = row.find("iterations");
  if (found == row.end()) fail(path, fmt::format("'{}' has no iterations", name));
  const double count = found->is_number() ? found->get<double>() : 0;
  if (count < 1 || count > kMostIterations) fail_number(path, name, "an iteration count", *found);
  return static_cast<std::int64_t>(count);
}

class Parser {
 public:
  Parser(const std::filesystem::path& path, UnusableRows unusable)
      : path_(path), unusable_(unusable) {}

  model::Run parse(const Json& document) {
    refuse_our_other_files(document);
    if (!document.is_object() || !document.contains("benchmarks") ||
        !document["benchmarks"].is_array()) {
      fail(path_, fmt::format("is no result of Google Benchmark: {}", what_it_is(document)));
    }
    read_context(object_in(document, "context"));
    for (const Json& row : document["benchmarks"]) read_row(row);
    read_own(object_in(document, "taskbench"));
    return std::move(file_);
  }

 private:
  /// Some have benchmarks, too, so that each of them would seem to be a damaged result.
  void refuse_our_other_files(const Json& document) const {
    if (!document.is_object()) return;
    for (const auto& [mark, what] : kOurOtherFiles) {
      if (!document.contains(mark)) continue;
      fail(path_, fmt::format("is {}, no result: those are written by `taskbench run --json`, by "
                              "any program of Google Benchmark, and, for `taskbench report`, by "
                              "`taskbench ab --json`",
                              what));
    }
  }

  static std::string what_it_is(const Json& document) {
    if (!document.is_object()) return "it holds no object";
    if (document.contains("results")) return "it looks like hyperfine's";
    if (document.contains("machine_info")) return "it looks like pytest-benchmark's";
    return "it has no array 'benchmarks'; write it with --benchmark_out=FILE "
           "--benchmark_out_format=json";
  }

  void read_context(const Json& context) {
    const auto version = context.find("json_schema_version");
    if (version != context.end() && *version != 1) {
      fail(path_, fmt::format("has json_schema_version {}; only 1 is known", version->dump()));
    }
    file_.environment.host_name = text_or_empty(context, "host_name");
    file_.environment.executable = text_or_empty(context, "executable");
    file_.environment.date = text_or_empty(context, "date");
    file_.environment.benchmark_library_version = text_or_empty(context, "library_version");
    file_.environment.benchmark_library_build_type = text_or_empty(context, "library_build_type");
    const double cpus = number_in(context, "num_cpus").value_or(0);
    file_.environment.cpu_count = cpus > 0 && cpus < kMostCpus ? static_cast<int>(cpus) : 0;
    file_.environment.cpu_mhz = number_in(context, "mhz_per_cpu").value_or(0);
    if (is_true(context, "cpu_scaling_enabled")) file_.environment.cpu_scaling_enabled = true;
    for (const Json& each : array_in(context, "load_avg")) {
      if (each.is_number()) file_.environment.load_avg.push_back(each.get<double>());
    }
  }

  void read_row(const Json& row) {
    if (!row.is_object()) fail(path_, "has an entry of 'benchmarks' that is no object");
    const std::string name = text_or_empty(row, "name");
    if (name.empty()) fail(path_, "has a benchmark without a name");
    const std::string type = text_or_empty(row, "run_type");
    const std::string run_name =
        text_or_empty(row, "run_name").empty() ? name : text_or_empty(row, "run_name");
    const std::string aggregate = text_or_empty(row, "aggregate_name");
    if (aggregate == "BigO" || aggregate == "RMS" || row.contains("cpu_coefficient") ||
        row.contains("rms")) {
      return;
    }
    const std::size_t place = place_of(run_name);
    model::Case& benchmark = file_.cases[place];
    if (type == "aggregate") {
      benchmark.has_aggregates = true;
      return;
    }
    if (std::string error = error_of(row); !error.empty()) {
      benchmark.error = std::move(error);
      benchmark.skipped = is_true(row, "skipped");
      return;
    }
    try {
      check_not_twice(row, place);
      benchmark.repetitions.push_back(repetition_of(row, name));
    } catch (const ReadError& error) {
      if (unusable_ == UnusableRows::refused) throw;
      benchmark.unusable = std::string_view(error.what()).substr(path_.string().size() + 2);
    }
  }

  model::Repetition repetition_of(const Json& row, const std::string& name) {
    model::Repetition repetition;
    repetition.real_ns = time_of(path_, row, name, "real_time", false);
    repetition.cpu_ns = time_of(path_, row, name, "cpu_time", true);
    repetition.iterations = iterations_of(path_, row, name);
    for (const auto& [key, value] : row.items()) {
      if (value.is_number() && !is_key_of_rows(key)) repetition.counters[key] = value.get<double>();
    }
    return repetition;
  }

  /// Two families of one name look like repetitions of one benchmark, and are not.
  void check_not_twice(const Json& row, std::size_t place) {
    const auto index = row.find("repetition_index");
    if (index == row.end()) return;  // written by 1.5 or older, which does not tell
    const auto family = row.find("family_index");
    const auto instance = row.find("per_family_instance_index");
    Origin& origin = origins_[place];
    std::string from = fmt::format("{}/{}", family == row.end() ? "" : family->dump(),
                                   instance == row.end() ? "" : instance->dump());
    if (origin.repetitions.empty())
      origin.from = std::move(from);
    else if (origin.from != from)
      fail_twice(place);
    if (!origin.repetitions.insert(index->dump()).second) fail_twice(place);
  }

  [[noreturn]] void fail_twice(std::size_t place) const {
    fail(path_, fmt::format("has two benchmarks of the name '{}'; which is which cannot be told, "
                            "give them different names",
                            file_.cases[place].name));
  }

  void read_own(const Json& own) {
    file_.partial = is_true(own, "partial");
    const Json& environment = object_in(own, "environment");
    for (const auto& [key, title, text] : model::kEnvironmentTexts) {
      file_.environment.*text = text_or_empty(environment, key);
    }
    file_.environment.taskbench_version = text_or_empty(own, "version");
    file_.drift = drift_from(object_in(own, "drift"));
    const Json& settings = object_in(own, "settings");
    file_.settings.seed = count_in(settings, "seed");
    for (const Json& word : array_in(settings, "command_line")) {
      if (word.is_string()) file_.settings.command_line.push_back(word.get<std::string>());
    }
    for (const Json& each : array_in(own, "cases")) {
      if (!each.is_object()) continue;
      const std::string name = text_or_empty(each, "name");
      if (name.empty()) continue;
      if (index_.contains(name)) read_case(each, file_.cases[place_of(name)]);
      if (!is_true(each, "failed")) continue;
      const Json& errors = array_in(each, "errors");
      const bool told = !errors.empty() && errors.front().is_string();
      file_.cases[place_of(name)].error = told ? errors.front().get<std::string>() : "failed";
    }
  }

  void read_case(const Json& each, model::Case& benchmark) {
    benchmark.events = read_events(array_in(each, "events_per_iteration"));
    check_instructions(benchmark);
    remove_events_from_rows(benchmark);
    benchmark.workload = text_or_empty(each, "workload");
    benchmark.scheduler = text_or_empty(each, "scheduler");
    const std::uint64_t workers = count_in(each, "workers").value_or(0);
    benchmark.workers = static_cast<int>(std::min<std::uint64_t>(workers, 1 << 20));
    benchmark.operations = count_in(each, "operations_per_iteration").value_or(0);
    benchmark.operation = text_or_empty(each, "operation");
  }

  /// The rows hold the events as well, for readers that know nothing of ours: the same number in
  /// each, which is no repetition's own.
  static void remove_events_from_rows(model::Case& benchmark) {
    for (const model::EventCount& event : benchmark.events) {
      const std::string key = row_key(event);
      for (model::Repetition& repetition : benchmark.repetitions) {
        const std::string other = std::string(kOfCounter) + key;
        if (repetition.counters.erase(other) == 0) repetition.counters.erase(key);
      }
    }
  }

  /// Their ratios decide, and what cannot be counted is null with a reason, not 0.
  void check_instructions(const model::Case& benchmark) const {
    for (const model::EventCount& event : benchmark.events) {
      if (event.event != model::kInstructionsExact) continue;
      for (const double count : event.per_iteration) {
        if (std::isfinite(count) && count > 0) continue;
        fail(path_, fmt::format("'{}' has {} instructions an iteration, which no program takes",
                                benchmark.name, count));
      }
    }
  }

  /// Among the benchmarks; of a new name, at their end.
  std::size_t place_of(const std::string& run_name) {
    const auto [place, added] = index_.emplace(run_name, file_.cases.size());
    if (added) {
      file_.cases.emplace_back().name = run_name;
      origins_.emplace_back();
    }
    return place->second;
  }

  struct Origin {
    std::string from;  ///< family and instance
    std::set<std::string> repetitions;
  };

  const std::filesystem::path& path_;
  UnusableRows unusable_;
  model::Run file_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<Origin> origins_;  ///< of each benchmark
};

}  // namespace

model::Run parse_result_file(const std::filesystem::path& path, std::string_view text,
                             UnusableRows unusable) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) fail(path, "is empty");
  try {
    return Parser(path, unusable).parse(parse_json(text, BareWords::as_null));
  } catch (const ParseError& error) {
    fail(path, error.what());
  } catch (const std::bad_alloc&) {
    fail(path, "needs more memory than there is");
  }
}

std::string read_result_text(const std::filesystem::path& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (status.type() == std::filesystem::file_type::not_found) fail(path, "does not exist");
  if (std::filesystem::is_directory(status)) fail(path, "is a folder, not a file");
  if (std::filesystem::is_regular_file(status)) {
    const auto bytes = std::filesystem::file_size(path, failed);
    if (!failed && bytes > kMaxResultBytes) {
      fail(path, fmt::format("has {} MiB; no result file has more than {}", bytes >> 20,
                             kMaxResultBytes >> 20));
    }
  }
  // A pipe or a device has no size that could be asked for, and need not end.
  files::FileContent content = files::read_file(path, kMaxResultBytes);
  if (!content.ok()) fail(path, content.error);
  if (content.bytes.size() > kMaxResultBytes) {
    fail(path, fmt::format("does not end after {0} MiB; no result file has more than {0}",
                           kMaxResultBytes >> 20));
  }
  return std::move(content.bytes);
}

model::Run read_result_file(const std::filesystem::path& path, UnusableRows unusable) {
  return parse_result_file(path, read_result_text(path), unusable);
}

}  // namespace taskbench::reports::json
