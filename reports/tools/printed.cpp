#include "reports/tools/printed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/model/pieces.hpp"
#include "reports/tools/cases.hpp"

namespace taskbench::reports::tools {
namespace {

using Words = std::vector<std::string_view>;
using KnownNames = std::set<std::string, std::less<>>;

Words words_of(std::string_view line) {
  Words words;
  for (auto word = model::next_word(line); !word.empty(); word = model::next_word(line)) {
    words.push_back(word);
  }
  return words;
}

template <class Number>
std::optional<Number> number_in(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);  // Go prints "+Inf"
  Number value{};
  return model::read_number(word, value) ? std::optional(value) : std::nullopt;
}

/// What one more in the last digit of a number adds: 0.01 to "1.25", and to "12.5e-1".
double step_of(std::string_view number) {
  const std::size_t end = std::min(number.find_first_of("eE"), number.size());
  int exponent = 0;
  if (end < number.size()) exponent = number_in<int>(number.substr(end + 1)).value_or(0);
  const std::size_t point = number.substr(0, end).find('.');
  if (point != std::string_view::npos) exponent -= static_cast<int>(end - point - 1);
  return std::pow(10, exponent);
}

/// Adds a time as it is printed, in a unit of `unit_ns`. The finest step counts: some programs
/// leave out zeros at the end.
void add_printed_time(model::Case& benchmark, std::string_view printed, double unit_ns,
                      model::Repetition repetition) {
  const double step_ns = step_of(printed) * unit_ns;
  if (benchmark.step_ns <= 0 || step_ns < benchmark.step_ns) benchmark.step_ns = step_ns;
  add_time(benchmark, std::move(repetition));
}

/// Adds a metric to a repetition, unless the value is not finite: that is no measurement.
void add_metric(model::Repetition& repetition, std::string_view unit, double value) {
  if (std::isfinite(value)) repetition.counters[std::string(unit)] = value;
}

/// Results of a text that has a section for each of several programs. The same name in two sections
/// means two benchmarks.
class SectionedRun {
 public:
  /// Begins a section, or goes on with it if its title is not new. A title's part in parentheses is
  /// not shown.
  void begin(std::string_view title) { title_ = title; }

  model::Run& run() { return run_; }

  /// The benchmark of that name in this section; a new one is added at the end if there is none.
  model::Case& case_in_section(std::string_view name) {
    for (std::size_t i = 0; i < run_.cases.size(); ++i) {
      if (run_.cases[i].name == name && titles_[i] == title_) return run_.cases[i];
    }
    titles_.push_back(title_);
    run_.cases.emplace_back().name = name;
    return run_.cases.back();
  }

  /// Puts the title of its section before each name that several sections have. Returns the run.
  model::Run told_apart(std::string_view separator) {
    std::map<std::string, int> sections;
    for (const model::Case& each : run_.cases) ++sections[each.name];
    std::set<std::string> names;
    for (std::size_t i = 0; i < run_.cases.size(); ++i) {
      model::Case& each = run_.cases[i];
      if (sections[each.name] == 1) continue;
      const std::string title = titles_[i].substr(0, titles_[i].find(" ("));
      if (!title.empty()) each.name = fmt::format("{}{}{}", title, separator, each.name);
      if (names.insert(each.name).second) continue;
      each.unusable = "is in two programs of that name; write a file for each of them";
    }
    return std::move(run_);
  }

 private:
  model::Run run_;
  std::string title_;
  std::vector<std::string> titles_;  ///< of each benchmark's section
};

constexpr std::string_view kGoName = "Benchmark";

/// Removes the number of CPUs from the names, if all have the same. Go prints no number if it uses
/// one CPU, so a common one may also belong to the names: it stays if as many names are known with
/// it as without it.
void leave_out_cpus(model::Run& run, const KnownNames& known) {
  if (run.cases.empty()) return;
  const std::string cpus(cpus_at_the_end(run.cases.front().name));
  if (cpus.empty()) return;
  const auto has_them = [&](const model::Case& each) { return cpus_at_the_end(each.name) == cpus; };
  if (!std::ranges::all_of(run.cases, has_them)) return;
  const auto known_without = [&](std::size_t length) {
    return std::ranges::count_if(run.cases, [&](const model::Case& each) {
      return known.contains(std::string_view(each.name).substr(0, each.name.size() - length));
    });
  };
  if (!known.empty() && known_without(cpus.size()) <= known_without(0)) return;
  for (model::Case& each : run.cases) each.name.resize(each.name.size() - cpus.size());
}

/// Reads a line of a name and its result. What a benchmark prints comes between the two: the result
/// is then in a line of its own, and belongs to `begun`, the last name before it.
void read_go_line(Words words, std::string& begun, SectionedRun& sections) {
  constexpr std::size_t kFirstPair = 2;
  if (words.empty()) return;
  if (words[0].starts_with(kGoName)) {
    begun = words[0];
  } else if (!begun.empty() && words.size() > kFirstPair && words[kFirstPair] == "ns/op") {
    words.insert(words.begin(), begun);
  } else {
    return;
  }
  if (words.size() < kFirstPair + 2) return;
  const auto iterations = number_in<std::int64_t>(words[1]);
  if (!iterations || *iterations < 1) return;
  model::Repetition repetition{.iterations = *iterations};
  for (std::size_t i = kFirstPair; i + 1 < words.size(); i += 2) {
    const auto value = number_in<double>(words[i]);
    if (!value) return;
    if (words[i + 1] == "ns/op") {
      repetition.real_ns = *value;
    } else {
      add_metric(repetition, words[i + 1], *value);
    }
  }
  add_time(sections.case_in_section(words[0]), std::move(repetition));
  begun.clear();
}

/// Removes "more" or "less" from the end of a line, if it follows a value and its unit. Returns
/// whether more is better; empty if the line does not say.
std::optional<bool> direction_in(Words& words) {
  constexpr std::size_t kFewest = 4;
  if (words.size() < kFewest || !number_in<double>(words[words.size() - 3])) return std::nullopt;
  const std::string_view word = words.back();
  if (word != "more" && word != "less") return std::nullopt;
  words.pop_back();
  return word == "more";
}

void read_line(Words words, model::Run& run) {
  constexpr std::size_t kFewest = 3;
  const std::optional<bool> more_is_better = direction_in(words);
  if (words.size() < kFewest) return;
  const auto value = number_in<double>(words[words.size() - 2]);
  if (!value) return;
  const std::string_view last = words[words.size() - 3];
  const auto length = static_cast<std::size_t>(last.data() + last.size() - words[0].data());
  model::Case& benchmark = case_of(run, std::string_view(words[0].data(), length));
  const std::string_view unit = words.back();
  if (const auto ns = ns_in(unit)) {
    add_printed_time(benchmark, words[words.size() - 2], *ns,
                     {.iterations = 1, .real_ns = *value * *ns});
    if (more_is_better == true) benchmark.unusable = "says that more of its time is better";
  } else if (!benchmark.repetitions.empty()) {
    add_metric(benchmark.repetitions.back(), unit, *value);
    if (more_is_better) run.more_is_better[std::string(unit)].insert(*more_is_better);
  } else {
    benchmark.unusable = fmt::format(
        "is in '{}', which is no unit of time (ns, us, ms, s); a metric comes after the time of "
        "its benchmark",
        unit);
  }
}

/// "test tests::sort   ... bench:       1,234 ns/iter (+/- 56)"
void read_libtest_line(std::string_view line, SectionedRun& sections) {
  constexpr std::string_view kBegin = "test ";
  constexpr std::string_view kMiddle = " ... bench:";
  const std::size_t middle = line.find(kMiddle);
  if (!line.starts_with(kBegin) || middle == std::string_view::npos) return;
  const Words words = words_of(line.substr(middle + kMiddle.size()));
  if (words.size() < 2 || words[1] != "ns/iter") return;
  std::string digits(words[0]);
  std::erase(digits, ',');
  const auto ns = number_in<double>(digits);
  if (!ns) return;
  // Shorter names are padded to the longest.
  std::string_view name = line.substr(kBegin.size(), middle - kBegin.size());
  name = name.substr(0, name.find_last_not_of(' ') + 1);
  add_printed_time(sections.case_in_section(name), digits, 1, {.iterations = 1, .real_ns = *ns});
}

}  // namespace

std::string_view cpus_at_the_end(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits == 0 || digits + 1 == name.size() ||
      name[digits] != '-') {
    return {};
  }
  return name.substr(digits);
}

model::Run parse_go(std::string_view printed, std::span<const std::string> requested) {
  SectionedRun sections;
  KnownNames known(requested.begin(), requested.end());
  std::string begun;
  while (!printed.empty()) {
    const std::string_view line = model::next_line(printed);
    constexpr std::string_view kCpu = "cpu: ";
    constexpr std::string_view kPackage = "pkg: ";
    if (line.starts_with(kCpu)) sections.run().environment.cpu_model = line.substr(kCpu.size());
    if (line.starts_with(kPackage)) sections.begin(model::trimmed(line.substr(kPackage.size())));
    const Words words = words_of(line);
    // A name before its results has a tab behind it; -test.v also prints it alone.
    const bool is_alone = words.size() == 1 && line.find('\t') == std::string_view::npos;
    if (is_alone && words[0].starts_with(kGoName)) known.emplace(words[0]);
    read_go_line(words, begun, sections);
  }
  leave_out_cpus(sections.run(), known);
  return sections.told_apart(".");
}

model::Run parse_libtest(std::string_view printed) {
  SectionedRun sections;
  while (!printed.empty()) {
    const std::string_view line = model::next_line(printed);
    constexpr std::string_view kTarget = "Running ";
    const std::string_view said = model::trimmed(line);
    if (said.starts_with(kTarget)) sections.begin(said.substr(kTarget.size()));
    read_libtest_line(line, sections);
  }
  return sections.told_apart("/");
}

model::Run parse_lines(std::string_view printed) {
  model::Run run;
  while (!printed.empty()) read_line(words_of(model::next_line(printed)), run);
  return run;
}

}  // namespace taskbench::reports::tools
