// The fairness of a yield: how far the most advanced task of yield_many gets ahead of the least
// advanced. A separate workload, since every task publishes how often it has yielded, and one task
// looks at all of them now and then; in yield_many that would be timed, too.
#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

/// The number of yields of the looking task between two looks. A look misses the cache once for
/// every task on another worker.
constexpr std::uint64_t kLookEvery = 8;

struct alignas(kFalseSharingBytes) Progress {
  std::atomic<std::uint64_t> yields{0};
};

struct FairnessShared {
  explicit FairnessShared(std::uint64_t task_count) : progress(task_count) {}

  Countdown tasks;
  std::vector<Progress> progress;
  std::atomic<std::uint64_t> under_way{0};
  // Written by the looking task. The count-down hands them to the driving thread.
  std::uint64_t looks = 0;
  std::uint64_t leads = 0;  // the sum over all looks
  std::uint64_t largest_lead = 0;

  /// Looks for the most advanced task first: yields only grow, so a thread that is stopped between
  /// the two passes sees the tasks closer together than they are, not further apart.
  void look() {
    // relaxed, like all of these: the counts are independent of each other.
    const auto yields_of = [](const Progress& each) {
      return each.yields.load(std::memory_order_relaxed);
    };
    std::uint64_t most = 0;
    for (const Progress& each : progress) most = std::max(most, yields_of(each));
    std::uint64_t least = most;
    for (const Progress& each : progress) least = std::min(least, yields_of(each));
    ++looks;
    leads += most - least;
    largest_lead = std::max(largest_lead, most - least);
  }
};

rt::Task<> yield_in_view(FairnessShared* shared, std::uint64_t self, std::uint64_t yields) {
  // No task gets a head start: nothing counts until every task has run.
  shared->under_way.fetch_add(1, std::memory_order_relaxed);
  while (shared->under_way.load(std::memory_order_relaxed) < shared->progress.size()) {
    co_await rt::yield_now();
  }
  std::uint64_t yielded = 0;
  while (yielded < yields) {
    co_await rt::yield_now();
    shared->progress[self].yields.store(++yielded, std::memory_order_relaxed);
    if (self == 0 && (yielded % kLookEvery == 0 || yielded == yields)) shared->look();
  }
  shared->tasks.count();
}

class Fairness final : public Instance {
 public:
  Fairness(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), yields_(values.at("yields")), shared_(values.at("tasks")) {}

  void run_iteration() override {
    runtime_.block_on(drive());
    ++iterations_;
    largest_leads_ += std::exchange(shared_.largest_lead, 0);
    expected_yields_ += shared_.progress.size() * yields_;
    for (const Progress& each : shared_.progress) {
      counted_yields_ += each.yields.load(std::memory_order_relaxed);
    }
  }

  std::optional<std::string> verify() override {
    const std::uint64_t expected = std::exchange(expected_yields_, 0);
    const std::uint64_t counted = std::exchange(counted_yields_, 0);
    if (auto wrong = shared_.tasks.verify("tasks")) return wrong;
    return compare_counts("yields", expected, counted);
  }

  Figures take_figures() override {
    const auto iterations = static_cast<double>(std::exchange(iterations_, 0));
    const auto looks = static_cast<double>(std::exchange(shared_.looks, 0));
    const auto leads = static_cast<double>(std::exchange(shared_.leads, 0));
    const auto largest_leads = static_cast<double>(std::exchange(largest_leads_, 0));
    if (iterations == 0) return {};
    return {{"lead_yields", leads / looks}, {"largest_lead_yields", largest_leads / iterations}};
  }

 private:
  rt::Task<> drive() {
    SignalReceiver last = shared_.tasks.begin(shared_.progress.size());
    // relaxed: the spawns that follow publish it.
    shared_.under_way.store(0, std::memory_order_relaxed);
    for (Progress& each : shared_.progress) each.yields.store(0, std::memory_order_relaxed);
    for (std::uint64_t i = 0; i < shared_.progress.size(); ++i) {
      rt::spawn(yield_in_view(&shared_, i, yields_)).detach();
    }
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t yields_;
  FairnessShared shared_;
  std::uint64_t iterations_ = 0;
  std::uint64_t largest_leads_ = 0;  // the sum over the iterations
  std::uint64_t expected_yields_ = 0;
  std::uint64_t counted_yields_ = 0;
};

}  // namespace

const Workload& fairness() {
  static constexpr std::array kParameters{
      Parameter{"tasks", 200, 1, 1'000'000, "tasks that yield"},
      Parameter{"yields", 1'000, 1, 1'000'000'000, "yields of each task"},
  };
  static const Workload kWorkload{
      .name = "fairness",
      .summary = "yield_many, watched: how far apart tasks get that yield equally often",
      .operation = "yield",
      .parameters = kParameters,
      .operations =
          [](const ParameterValues& values) { return values.at("tasks") * values.at("yields"); },
      .make = make<Fairness>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
