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

#include "reports/json/run_fields.hpp"
#include "reports/model/lookup.hpp"

namespace taskbench::reports::json {
namespace {

// Limits in ns beyond which no measurement lies: a sum or a ratio of such times could not be
// distinguished from damage.
constexpr double kShortestTime = 1e-15;
constexpr double kLongestTime = 1e30;
constexpr double kMostIterations = 1e18;

/// Another type of file written by taskbench.
struct OurFile {
  const char* key;        ///< in its JSON
  std::string_view what;  ///< name of the type
  std::string_view use;   ///< what it is used for, as a clause
};
constexpr std::array<OurFile, 11> kOurOtherFiles{{
    {"taskbench_paired", "the report of `taskbench ab`", "`taskbench report` makes a page of it"},
    {"taskbench_journal", "the journal of `taskbench ab` or `gate`",
     "--resume with --journal judges it, and --json writes the report"},
    {"taskbench_compare", "the answer of `taskbench compare`", "give what was compared"},
    {"taskbench_compare_columns", "the answer of `taskbench compare`", "give what was compared"},
    {"taskbench_baseline_comparison", "the answer of `taskbench baseline compare`",
     "its --markdown writes a page"},
    {"taskbench_baseline", "a stored baseline", "`taskbench baseline compare` compares with it"},
    {"taskbench_baseline_journal", "the journal of `taskbench baseline`",
     "--resume with --journal goes on with it"},
    {"taskbench_noise", "a stored noise floor", "`taskbench ab` finds it in its --store"},
    {"taskbench_ladder", "the answer of `taskbench ladder`",
     "`taskbench report` makes a page of it, if it is given alone"},
    {"taskbench_doctor", "the answer of `taskbench doctor`", "`taskbench doctor` prints a table"},
    {"traceEvents", "a trace", "https://ui.perfetto.dev shows it"},
}};

/// Reports a mistake in the file; the caller adds its name.
[[noreturn]] void fail(std::string_view what) { throw ParseError(std::string(what)); }

Reader lenient(const Json& object, const char* where = "") {
  return Reader(Field(object, where, Mistakes::ignored));
}

// The value of a key, if it has that type.
std::string text_in(const Json& row, const std::string& key) {
  std::string text;
  lenient(row)(key, text);
  return text;
}
bool is_true(const Json& row, const std::string& key) {
  bool value = false;
  lenient(row)(key, value);
  return value;
}

/// The object at the key; an empty one if there is none.
const Json& part_in(const Json& document, const std::string& key) {
  static const Json kEmpty = Json::object();
  const auto found = document.find(key);
  return found != document.end() && found->is_object() ? *found : kEmpty;
}

double unit_in_ns(const Json& row, std::string_view name) {
  const auto found = row.find("time_unit");
  if (found == row.end()) return 1;
  const std::string unit = found->is_string() ? found->get<std::string>() : found->dump();
  if (unit == "ns") return 1;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s") return 1e9;
  fail(fmt::format("'{}' has the unknown time unit '{}'", name, unit));
}

/// Why the program gave no result for the row. The key changed in version 1.8.
std::string error_of(const Json& row) {
  if (!is_true(row, "error_occurred") && !is_true(row, "skipped")) return {};
  for (const char* key : {"error_message", "skip_message"}) {
    if (std::string message = text_in(row, key); !message.empty()) return message;
  }
  return "skipped without a message";
}

/// A number of the row, which must lie between two limits.
double number_of(const Json& row, std::string_view name, const char* key, double unit, double least,
                 double most, bool zero_is_sound = false) {
  const auto found = row.find(key);
  if (found == row.end()) fail(fmt::format("'{}' has no {}", name, key));
  const double number = found->is_number() ? found->get<double>() * unit : std::nan("");
  if ((number >= least && number <= most) || (number == 0 && zero_is_sound)) return number;
  fail(fmt::format("'{}' has \"{}\": {}, which no measurement gives", name, key,
                   found->is_string() ? found->get<std::string>() : found->dump()));
}

class Parser {
 public:
  explicit Parser(UnusableRows unusable) : unusable_(unusable) {}

  model::Run parse(std::string_view text) {
    for (const OurFile& other : kOurOtherFiles) {
      if (begins_with_key(text, other.key)) refuse_our(other);
    }
    // Errors in a row are reported last: the file may be of another type altogether.
    std::string wrong_row;
    const Json document =
        parse_json(text, BareWords::as_text, {"benchmarks", [&](const Json& row) {
                                                try {
                                                  if (wrong_row.empty()) read_row(row);
                                                } catch (const ParseError& error) {
                                                  wrong_row = error.what();
                                                }
                                              }});
    refuse_our_other_files(document);
    if (!document.is_object() || !document.contains("benchmarks") ||
        !document["benchmarks"].is_array()) {
      fail("is not a Google Benchmark result: " + what_it_is(document));
    }
    const Json& context = part_in(document, "context");
    refuse_later_version(context);
    Reader reader = lenient(context);
    describe_context(reader, file_.environment);
    if (!wrong_row.empty()) fail(wrong_row);
    read_own(part_in(document, "taskbench"));
    return std::move(file_);
  }

 private:
  /// Refuses other files of taskbench. Some also have benchmarks, and would seem to be damaged
  /// results.
  static void refuse_our_other_files(const Json& document) {
    for (const OurFile& other : kOurOtherFiles) {
      if (document.contains(other.key)) refuse_our(other);
    }
  }

  [[noreturn]] static void refuse_our(const OurFile& other) {
    fail(fmt::format(
        "is {}, not a result: those are written by `taskbench run --json`, by any Google Benchmark "
        "program, and, for `taskbench report`, by `taskbench ab --json`; {}",
        other.what, other.use));
  }

  static void refuse_later_version(const Json& context) {
    const auto version = context.find("json_schema_version");
    if (version == context.end() || *version == 1) return;
    fail(fmt::format(
        "has json_schema_version {}, and this taskbench reads version 1: use a later taskbench",
        version->dump()));
  }

  static std::string what_it_is(const Json& document) {
    if (!document.is_object()) return "it is not a JSON object";
    if (document.contains("baselines")) return "it is the answer of `taskbench baseline list`";
    for (const char* topic : {"workloads", "schedulers", "rungs", "parameters"}) {
      if (document.contains(topic)) return "it looks like the answer of `taskbench list`";
    }
    return "it has no array 'benchmarks'; create it with --benchmark_out=FILE "
           "--benchmark_out_format=json";
  }

  void read_row(const Json& row) {
    if (!row.is_object()) fail("has an entry of 'benchmarks' that is not an object");
    const std::string name = text_in(row, "name");
    if (name.empty()) fail("has a benchmark without a name");
    const std::string run_name = text_in(row, "run_name");
    const std::string aggregate = text_in(row, "aggregate_name");
    const std::string type = text_in(row, "run_type");  // versions before 1.5 write none
    const bool has_fit = row.contains("cpu_coefficient") || row.contains("rms");
    if (aggregate == "BigO" || aggregate == "RMS" || (has_fit && type != "iteration")) return;
    const std::size_t place = place_of(run_name.empty() ? name : run_name);
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
    } catch (const ParseError& error) {
      if (unusable_ == UnusableRows::refused) throw;
      benchmark.unusable = error.what();
    }
  }

  static model::Repetition repetition_of(const Json& row, const std::string& name) {
    model::Repetition repetition;
    const double unit = unit_in_ns(row, name);
    repetition.real_ns = number_of(row, name, "real_time", unit, kShortestTime, kLongestTime);
    repetition.cpu_ns = number_of(row, name, "cpu_time", unit, kShortestTime, kLongestTime, true);
    repetition.iterations =
        static_cast<std::int64_t>(number_of(row, name, "iterations", 1, 1, kMostIterations));
    for (const auto& [key, value] : row.items()) {
      if (!value.is_number() || model::contains(kKeysOfRows, key)) continue;
      repetition.counters[key] = value.get<double>();
    }
    repetition.counters.shrink_to_fit();
    return repetition;
  }

  /// Refuses two families of one name, which look like repetitions of one benchmark.
  void check_not_twice(const Json& row, std::size_t place) {
    const auto index = row.find("repetition_index");
    if (index == row.end()) return;  // written by 1.5 or older
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
    fail(fmt::format(
        "has two benchmarks named '{}', which cannot be told apart: give them different names",
        file_.cases[place].name));
  }

  void read_own(const Json& own) {
    Reader reader = lenient(own, "taskbench");
    describe(reader, file_);
    const auto cases = own.find("cases");
    if (cases == own.end() || !cases->is_array()) return;
    for (const Json& each : *cases) {
      const std::string name = text_in(each, "name");
      if (name.empty()) continue;
      if (index_.contains(name)) read_case(each, file_.cases[place_of(name)]);
      if (!is_true(each, "failed")) continue;
      std::vector<std::string> errors;
      lenient(each)("errors", errors);
      file_.cases[place_of(name)].error = errors.empty() ? "failed" : errors.front();
    }
  }

  static void read_case(const Json& each, model::Case& benchmark) {
    Reader reader = lenient(each);
    describe_case(reader, benchmark, true);
    std::erase_if(benchmark.events, [](const auto& event) { return event.event.empty(); });
    check_instructions(benchmark);
    remove_events_from_rows(benchmark);
  }

  /// Removes the events from the rows. In files, each row has the total over all counting
  /// processes, for readers that do not know our fields; it is not the repetition's own.
  static void remove_events_from_rows(model::Case& benchmark) {
    for (const model::EventCount& event : benchmark.events) {
      const std::string key = row_key(event);
      for (model::Repetition& repetition : benchmark.repetitions) {
        const std::string other = std::string(kOfCounter) + key;
        if (repetition.counters.erase(other) == 0) repetition.counters.erase(key);
      }
    }
  }

  /// Refuses counts of instructions that are not positive: their ratios are judged. Missing counts
  /// are null with a reason, not 0.
  static void check_instructions(const model::Case& benchmark) {
    for (const model::EventCount& event : benchmark.events) {
      if (event.event != model::kInstructionsExact) continue;
      for (const double count : event.per_iteration) {
        if (std::isfinite(count) && count > 0) continue;
        fail(fmt::format("'{}' has {} instructions per iteration, which no program takes",
                         benchmark.name, count));
      }
    }
  }

  /// The benchmark's index; a new name is added at the end.
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

  UnusableRows unusable_;
  model::Run file_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<Origin> origins_;  ///< of each benchmark
};

}  // namespace

model::Run parse_result_file(const std::filesystem::path& path, std::string_view text,
                             UnusableRows unusable) {
  try {
    return Parser(unusable).parse(text);
  } catch (const ParseError& error) {
    throw ReadError(fmt::format("{}: {}", path.string(), error.what()));
  } catch (const std::bad_alloc&) {
    throw ReadError(fmt::format("{}: needs more memory than there is", path.string()));
  }
}

}  // namespace taskbench::reports::json
