#include "harness/programs/program_kind.hpp"

#include <array>

#include "harness/files/near_miss.hpp"
#include "harness/files/stored.hpp"
#include "harness/os/system_file.hpp"

namespace taskbench::harness {

Strings ProgramKind::environment(const SampleRequest&, const fs::path&) const { return {}; }

void ProgramKind::prepare(const fs::path&) const {}

std::span<const ProgramKind* const> program_kinds() {
  // taskbench first: its file also contains the words by which others are recognised.
  static const std::array<const ProgramKind*, 12> kinds{
      &taskbench_kind(), &go_kind(),     &criterion_kind(),        &criterion_03_kind(),
      &libtest_kind(),   &catch2_kind(), &google_benchmark_kind(), &pytest_kind(),
      &pyperf_kind(),    &jmh_kind(),    &command_kind(),          &lines_kind()};
  return kinds;
}

const ProgramKind* named_kind(const std::string& name) {
  if (name.empty()) return nullptr;
  const auto kinds = program_kinds();
  const auto found = std::ranges::find(kinds, name, &ProgramKind::name);
  if (found != kinds.end()) return *found;
  const Strings known =
      each_of(kinds, [](const ProgramKind* kind) { return std::string(kind->name()); });
  refuse("--kind: {}", unknown_name("kind", name, known));
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char each : text) {
    if (special.find(each) != std::string_view::npos) result += '\\';
    result += each;
  }
  return result;
}

std::string literal(const std::string& name) { return escaped(name, R"(\^$.|?*+()[]{})"); }

Strings listed_in(const ProcessOutcome& outcome) {
  if (!outcome.ok()) return {};
  const auto lines = lines_of(outcome.output);
  return {lines.begin(), lines.end()};
}

std::string filter_for(const SampleRequest& request) {
  const bool exactly = !request.benchmarks.empty();
  const Strings alternatives = each_of(exactly ? request.benchmarks : request.families, literal);
  if (alternatives.empty()) return {};
  return fmt::format("^({}){}", fmt::join(alternatives, "|"), exactly ? "$" : "(/|$)");
}

Strings options_of_run(const SampleRequest& request, const fs::path& json,
                       const std::string& filter) {
  Strings words{"--repetitions", std::to_string(request.repetitions),
                "--min-time",    fmt::format("{}s", request.min_time_s),
                "--seed",        std::to_string(request.seed),
                "--json",        json.string(),
                "--quiet"};
  if (!filter.empty()) words = with(std::move(words), {"--filter", filter});
  for (const auto& [name, count] : request.iterations) {
    words = with(std::move(words), {"--iterations", fmt::format("{}={}", name, count)});
  }
  return words;
}

std::string written_by(const Strings& command, const ProgramKind& kind, const fs::path& file) {
  if (fs::exists(file)) return read_result_text(file);
  throw ProgramError(fmt::format("'{}' succeeded but wrote no result: it is not {}",
                                 joined(command, " "), kind.title()));
}

model::Run unless_empty(model::Run run, const std::string& why_none) {
  if (run.cases.empty()) throw ProgramError(why_none);
  return run;
}

Strings once_each(const Strings& names,
                  const std::function<std::string(const std::string& name)>& each) {
  Strings result;
  for (const std::string& name : names) {
    std::string one = each(name);
    if (!contains(result, one)) result.push_back(std::move(one));
  }
  return result;
}

Strings with(Strings words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
  return words;
}

}  // namespace taskbench::harness
