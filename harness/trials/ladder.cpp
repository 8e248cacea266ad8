#include "harness/trials/ladder.hpp"

#include "reports/model/date.hpp"

namespace taskbench::harness {
namespace {

/// A workload and the program that measures it on every rung, which is this executable.
struct LadderWork {
  Program program;
  SampleRequest request;  ///< for all rungs, from the lowest on
};

class Climb final : public JournaledTrial {
 public:
  Climb(const LadderPlan& plan, const Listener& listener, const std::stop_token& stop,
        model::Ladder& ladder)
      : JournaledTrial({}, stop),
        plan_(plan),
        listener_(listener),
        bench_{stop, plan.timeout_s},
        ladder_(ladder) {}

 private:
  [[nodiscard]] bool is_complete() const override { return is_done_; }

  [[nodiscard]] bool prepare(bool) override {
    for (std::size_t i = 0; i < plan_.cases.size(); i += ladder_.rungs.size()) {
      works_.push_back(work_of(std::span(plan_.cases).subspan(i, ladder_.rungs.size())));
      ladder_.workloads.push_back({std::string(plan_.cases[i].workload->name), {}});
    }
    for (std::size_t i = 0; i < works_.size(); ++i) {
      listener_.progress(fmt::format("trying {}", ladder_.workloads[i].name));
      fix_iterations(works_[i]);
    }
    return true;
  }

  [[nodiscard]] LadderWork work_of(std::span<const Case> rungs) const {
    Strings command{fs::canonical("/proc/self/exe").string(),
                    std::string(rungs.front().workload->name),
                    "--scheduler",
                    joined(each_of(ladder_.rungs, &model::LadderRung::scheduler), ","),
                    "--workers",
                    std::to_string(ladder_.workers)};
    for (const auto& [parameter, value] : rungs.front().parameters) {
      command.insert(command.end(), {"--param", fmt::format("{}={}", parameter, value)});
    }
    SampleRequest request;
    static_cast<model::Sampling&>(request) = ladder_;
    request.timeout_s = plan_.timeout_s;
    request.benchmarks = each_of(rungs, &Case::name);
    return {Program::find_out(std::move(command), stop(), {.timeout_s = plan_.timeout_s}),
            std::move(request)};
  }

  /// Runs one process that does not count; it sets the iterations of each rung for all later ones.
  void fix_iterations(LadderWork& work) const {
    work.request.repetitions = 1;
    const auto measured =
        measure_next(work.program, work.request, block_plan(ladder_.seed, -1), bench_);
    if (!measured) return;
    for (const model::Case& rung : measured->result.cases) {
      work.request.iterations[rung.name] = rung.repetitions.front().iterations;
    }
    work.request.repetitions = ladder_.repetitions;
  }

  void measure(LineFile&) override {
    const auto begun = Clock::now();
    int processes = 0;
    for (int block = 0; block < plan_.max_blocks; ++block) {
      const double spent_s = seconds_since(begun);
      if (spent_s + (block > 0 ? spent_s / block : 0) > plan_.budget_s) break;
      const auto order =
          interleaved_order(works_.size(), 1, ladder_.seed + static_cast<std::uint64_t>(block));
      for (const std::size_t next : order) {
        model::LadderWorkload& workload = ladder_.workloads[next];
        listener_.progress(fmt::format(
            "block {} of at most {}, {}, {} of {}", block + 1, plan_.max_blocks, workload.name,
            model::duration_text(seconds_since(begun)), model::duration_text(plan_.budget_s)));
        LadderWork& work = works_[next];
        const auto measured =
            measure_next(work.program, work.request, block_plan(ladder_.seed, processes++), bench_);
        if (!measured) return;
        const auto time_of = [&](const std::string& rung) { return measured->real_ns.at(rung); };
        workload.blocks_ns.push_back(each_of(work.request.benchmarks, time_of));
      }
    }
    is_done_ = true;
  }

  const LadderPlan& plan_;
  const Listener& listener_;
  Bench bench_;
  model::Ladder& ladder_;
  std::vector<LadderWork> works_;
  bool is_done_ = false;
};

}  // namespace

Ending climb(const LadderPlan& plan, const Listener& listener, const std::stop_token& stop,
             model::Ladder& ladder) {
  return Climb(plan, listener, stop, ladder).run();
}

}  // namespace taskbench::harness
