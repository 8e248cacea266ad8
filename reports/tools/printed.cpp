#include "reports/tools/printed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/pieces.hpp"
#include "reports/tools/cases.hpp"

namespace taskbench::reports::tools {
namespace {

using Words = std::vector<std::string_view>;

Words words_of(std::string_view line) {
  Words words;
  for (auto word = model::next_word(line); !word.empty(); word = model::next_word(line)) {
    words.push_back(word);
  }
  return words;
}

template <class Number>
std::optional<Number> number_in(std::string_view word) {
  Number value{};
  return model::read_number(word, value) ? std::optional(value) : std::nullopt;
}

/// "BenchmarkSort-8": the name, and "-8". Empty if it ends otherwise.
std::string_view cpus_at_the_end(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits + 1 == name.size() || name[digits] != '-') {
    return {};
  }
  return name.substr(digits);
}

/// Removes the number of CPUs from the names, if all have the same.
void leave_out_cpus(model::Run& run) {
  if (run.cases.empty()) return;
  const std::string cpus(cpus_at_the_end(run.cases.front().name));
  if (cpus.empty()) return;
  const auto has_them = [&](const model::Case& each) {
    return cpus_at_the_end(each.name) == cpus && each.name.size() > cpus.size();
  };
  if (!std::ranges::all_of(run.cases, has_them)) return;
  for (model::Case& each : run.cases) each.name.resize(each.name.size() - cpus.size());
}

void read_go_line(const Words& words, model::Run& run) {
  constexpr std::size_t kFirstPair = 2;
  if (words.size() < kFirstPair + 2 || !words[0].starts_with("Benchmark")) return;
  const auto iterations = number_in<std::int64_t>(words[1]);
  if (!iterations || *iterations < 1) return;
  model::Repetition repetition{.iterations = *iterations};
  for (std::size_t i = kFirstPair; i + 1 < words.size(); i += 2) {
    const auto value = number_in<double>(words[i]);
    if (!value) return;
    if (words[i + 1] == "ns/op") {
      repetition.real_ns = *value;
    } else {
      repetition.counters[std::string(words[i + 1])] = *value;
    }
  }
  add_time(case_of(run, words[0]), std::move(repetition));
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
    add_time(benchmark, {.iterations = 1, .real_ns = *value * *ns});
    if (more_is_better == true) benchmark.unusable = "says that more of its time is better";
  } else if (!benchmark.repetitions.empty()) {
    benchmark.repetitions.back().counters[std::string(unit)] = *value;
    if (more_is_better) run.more_is_better[std::string(unit)].insert(*more_is_better);
  } else {
    benchmark.unusable = fmt::format(
        "is in '{}', which is no unit of time (ns, us, ms, s); a metric comes after the time of "
        "its benchmark",
        unit);
  }
}

/// "test tests::sort   ... bench:       1,234 ns/iter (+/- 56)"
void read_libtest_line(std::string_view line, model::Run& run) {
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
  model::Case& benchmark = case_of(run, name);
  add_time(benchmark, {.iterations = 1, .real_ns = *ns});
}

}  // namespace

model::Run parse_go(std::string_view printed) {
  model::Run run;
  while (!printed.empty()) {
    const std::string_view line = model::next_line(printed);
    constexpr std::string_view kCpu = "cpu: ";
    if (line.starts_with(kCpu)) run.environment.cpu_model = line.substr(kCpu.size());
    read_go_line(words_of(line), run);
  }
  leave_out_cpus(run);
  return run;
}

model::Run parse_libtest(std::string_view printed) {
  model::Run run;
  while (!printed.empty()) read_libtest_line(model::next_line(printed), run);
  return run;
}

model::Run parse_lines(std::string_view printed) {
  model::Run run;
  while (!printed.empty()) read_line(words_of(model::next_line(printed)), run);
  return run;
}

}  // namespace taskbench::reports::tools
