#include "harness/programs/program_kind.hpp"

#include "harness/files/stored.hpp"
#include "harness/os/system_file.hpp"
#include "harness/programs/measured_process.hpp"

namespace taskbench::harness {
namespace {

class GoogleBenchmarkKind final : public ProgramKind {
 public:
  GoogleBenchmarkKind() : ProgramKind("google-benchmark", "a program that uses Google Benchmark") {}

 private:
  bool may_be(const FileText&) const override { return true; }

  Answer ask(const Strings& command, const Ask& ask, bool) const override {
    Answer answer{.command = command, .list = ask(with(command, {kListing}), kListTimeout_s)};
    answer.listed = listed_in(answer.list);
    answer.is_of_kind = !answer.listed.empty();
    return answer;
  }

  bool is_sure(const Strings& command, const Strings& listed, const Ask& ask) const override {
    const ProcessOutcome none =
        ask(with(command, {kListing, "--benchmark_filter=^$"}), kListTimeout_s);
    const std::vector<std::string_view> names = lines_of(none.output);
    const auto is_listed = [&](std::string_view name) { return contains(listed, name); };
    return none.end == ProcessOutcome::End::exited && names.size() < listed.size() &&
           std::ranges::all_of(names, is_listed);  // a custom main() may print more
  }

  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path& file) const override {
    Strings words =
        with(command, {fmt::format("--benchmark_out={}", file.string()),
                       "--benchmark_out_format=json", "--benchmark_report_aggregates_only=false",
                       "--benchmark_display_aggregates_only=true",
                       fmt::format("--benchmark_repetitions={}", request.repetitions),
                       fmt::format("--benchmark_min_time={}", request.min_time_s)});
    const std::string filter = filter_for(request);
    if (!filter.empty()) words.push_back(fmt::format("--benchmark_filter={}", filter));
    return words;
  }

  // Old versions, such as 1.5.2, refuse it as a flag.
  Strings environment(const SampleRequest&, const fs::path&) const override {
    return {"BENCHMARK_ENABLE_RANDOM_INTERLEAVING=true"};
  }

  model::Run read(const Strings& command, const SampleRequest&, const ProcessOutcome&,
                  const fs::path& file) const override {
    if (!fs::exists(file)) {
      throw ProgramError(
          fmt::format("'{}' succeeded but wrote no result: it is not a benchmark, or ignores "
                      "--benchmark_out; {}",
                      joined(command, " "), why_no_benchmark(command)));
    }
    return read_result_file(file, json::UnusableRows::noted);
  }

  // --benchmark_min_time=Nx (since 1.8) sets one number for all benchmarks of a process.
  bool finds_iterations() const override { return true; }
  // A benchmark that reports only aggregates does so from the second repetition on.
  std::int64_t trial_repetitions() const override { return 2; }
  bool is_noted() const override { return false; }
  std::string why_not_counted() const override { return {}; }
  // The benchmark's name says so if MeasureProcessCPUTime() was called.
  std::optional<model::CpuTimeOf> cpu_time_of(const std::string& benchmark) const override {
    return has_part(benchmark, "process_time") ? model::CpuTimeOf::process
                                               : model::CpuTimeOf::main_thread;
  }
};

}  // namespace

const ProgramKind& google_benchmark_kind() {
  static const GoogleBenchmarkKind kind;
  return kind;
}

}  // namespace taskbench::harness
