#include "harness/bench/measure.hpp"

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "harness/bench/order.hpp"
#include "harness/bench/repetition.hpp"

namespace taskbench::harness {
namespace {

// Repetitions aim this much above the minimum time, since a warm iteration may be faster than those
// that the count was derived from.
constexpr double kMinTimeMargin = 1.1;
// Duration of a repetition relative to its timed part: see PreparedCase; includes some
// verification.
constexpr double kRepetitionOverhead = 1.08;
// A repetition shorter than this says more about the clock and the last wake-up than about the
// case.
constexpr double kMinTimeFloor_s = 0.01;
// Limit on all warm-ups together, as a share of a time budget. Google Benchmark approaches the
// warm-up time in growing steps, so a warm-up may take twice as long as requested.
constexpr double kWarmupShare = 0.25;
constexpr double kWarmupOverhead = 2;
// Share of a time budget that the repetitions are planned to use. If they take longer than planned,
// those that would end beyond the other share are left out.
constexpr double kPlannedShare = 0.98;
constexpr double kMostOfBudget = 1.04;
constexpr double kLateCalibration_s = 0.002;
constexpr auto kProgressInterval = std::chrono::milliseconds(250);

/// One call of measure().
class Session {
 public:
  Session(std::span<const Case> cases, const Settings& settings,
          const std::function<void(const Progress&)>& progress, const std::stop_token& stop)
      : settings_(settings), progress_(progress), stop_(stop) {
    warmup_s_ = std::max(0.0, settings.warmup_s);
    if (settings.time_budget_s && !cases.empty()) {
      const double share = *settings.time_budget_s * kWarmupShare;
      const double longest = share / kWarmupOverhead / static_cast<double>(cases.size());
      warmup_s_ = std::min(warmup_s_, longest);
    }
    for (const Case& spec : cases) {
      auto prepared = std::make_unique<PreparedCase>(spec, settings, stop);
      const auto given = settings.iterations.find(prepared->name());
      if (given != settings.iterations.end()) prepared->set_iterations(given->second);
      cases_.push_back(std::move(prepared));
    }
  }

  void warm_up() {
    // Long enough for an iteration count that is accurate to a few per cent.
    const double calibration_s = std::clamp(warmup_s_ / 4, 0.002, 0.05);
    for (const auto& prepared : cases_) {
      report(prepared->name());
      const bool fixed = has_given_iterations(*prepared);
      if (!stopped() && !(fixed && prepared->is_repeatable())) {
        // A busy machine makes warm-ups longer than planned.
        const bool is_late =
            settings_.time_budget_s && seconds_since(start_) > *settings_.time_budget_s / 2;
        if (fixed) {
          prepared->warm_up(warmup_s_);
        } else {
          prepared->warm_up(is_late ? 0 : warmup_s_, is_late ? kLateCalibration_s : calibration_s);
        }
      }
      ++warmed_up_;
    }
    warmups_took_s_ = seconds_since(start_);
  }

  void fix_iterations() {
    min_time_s_ = settings_.min_time_s;
    if (settings_.time_budget_s) {
      const double left = kPlannedShare * *settings_.time_budget_s - seconds_since(start_);
      const auto repetitions = static_cast<double>(repetitions_left());
      const double each = repetitions > 0 ? left / repetitions : 0;
      min_time_s_ = min_time_of(each);
    }
    for (const auto& prepared : cases_) {
      if (has_given_iterations(*prepared)) continue;
      prepared->fix_iterations(min_time_s_ * kMinTimeMargin);
    }
  }

  void run() {
    for (const std::size_t next :
         interleaved_order(cases_.size(), settings_.repetitions, settings_.seed)) {
      PreparedCase& prepared = *cases_[next];
      if (prepared.failed()) continue;
      report(prepared.name());
      if (stopped()) return;
      if (prepared.repetitions_done() == 0) leave_time_for_others(prepared);
      const Clock::time_point begin = Clock::now();
      double& took_s = took_s_.try_emplace(next, prepared.repetition_s()).first->second;
      if (prepared.repetitions_done() > 0 && took_s > most_left_s()) {
        continue;  // a shorter one may still fit
      }
      prepared.run_repetition();
      took_s = seconds_since(begin);
    }
    if (!stopped()) report({});
  }

  Result finish() {
    Result result;
    // A run is complete if the stop came after its last repetition.
    result.interrupted = stopped() && repetitions_left() > 0;
    result.repetitions_left = repetitions_left();
    result.min_time_s = min_time_s_;
    result.warmup_s = warmup_s_;
    for (const auto& prepared : cases_) result.cases.push_back(prepared->take_result());
    return result;
  }

 private:
  [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }

  [[nodiscard]] bool has_given_iterations(const PreparedCase& prepared) const {
    return settings_.iterations.contains(prepared.name());
  }

  /// The minimum time of repetitions that take `seconds` each, overhead included.
  static double min_time_of(double seconds) {
    return std::max(kMinTimeFloor_s, seconds / kRepetitionOverhead / kMinTimeMargin);
  }

  /// The longest time that a time budget leaves; infinite without a budget.
  [[nodiscard]] double most_left_s() const {
    if (!settings_.time_budget_s) return std::numeric_limits<double>::infinity();
    return kMostOfBudget * *settings_.time_budget_s - seconds_since(start_);
  }

  /// Every case has one repetition, however slow the machine is. If the cases still to come have
  /// less time than planned, shortens this one's repetitions.
  void leave_time_for_others(PreparedCase& prepared) {
    const auto has_none = [](const auto& each) {
      return !each->failed() && each->repetitions_done() == 0;
    };
    const auto left = static_cast<double>(std::ranges::count_if(cases_, has_none));
    const double share = most_left_s() / left;
    if (prepared.repetition_s() <= share) return;
    min_time_s_ = std::min(min_time_s_, min_time_of(share));
    prepared.fix_iterations(min_time_of(share) * kMinTimeMargin);
  }

  [[nodiscard]] std::int64_t repetitions_done() const {
    std::int64_t done = 0;
    for (const auto& prepared : cases_) done += prepared->repetitions_done();
    return done;
  }

  [[nodiscard]] std::int64_t repetitions_left() const {
    std::int64_t left = 0;
    for (const auto& prepared : cases_) {
      if (!prepared->failed()) left += settings_.repetitions - prepared->repetitions_done();
    }
    return left;
  }

  [[nodiscard]] std::optional<double> remaining_s() const {
    if (warmed_up_ == 0) return std::nullopt;
    if (warmed_up_ < cases_.size()) {
      if (settings_.time_budget_s) return *settings_.time_budget_s - seconds_since(start_);
      const double each = seconds_since(start_) / static_cast<double>(warmed_up_);
      return each * static_cast<double>(cases_.size() - warmed_up_) +
             settings_.min_time_s * kMinTimeMargin * kRepetitionOverhead *
                 static_cast<double>(repetitions_left());
    }
    double planned = 0;
    double planned_done = 0;
    for (const auto& prepared : cases_) {
      if (prepared->failed()) continue;
      const auto done = static_cast<double>(prepared->repetitions_done());
      planned += prepared->repetition_s() * static_cast<double>(settings_.repetitions);
      planned_done += prepared->repetition_s() * done;
    }
    // The plan comes from the warm-up; the real duration of the repetitions corrects it.
    const double took = seconds_since(start_) - warmups_took_s_;
    const double correction = planned_done > 0 ? took / planned_done : kRepetitionOverhead;
    return (planned - planned_done) * correction;
  }

  void report(std::string_view case_name) {
    const Clock::time_point now = Clock::now();
    const bool last = case_name.empty();
    if (!progress_ || (reported_ && !last && now - *reported_ < kProgressInterval)) return;
    reported_ = now;
    Progress progress;
    progress.case_name = case_name;
    progress.repetitions_done = repetitions_done();
    progress.repetitions_total = progress.repetitions_done + repetitions_left();
    progress.elapsed_s = seconds_since(start_);
    if (const auto remaining = remaining_s()) progress.remaining_s = std::max(0.0, *remaining);
    progress_(progress);
  }

  const Settings& settings_;
  const std::function<void(const Progress&)>& progress_;
  std::stop_token stop_;
  const Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> reported_;
  std::vector<std::unique_ptr<PreparedCase>> cases_;
  std::map<std::size_t, double> took_s_;  // the last repetition of each case, overhead included
  std::size_t warmed_up_ = 0;
  double warmup_s_ = 0;
  double warmups_took_s_ = 0;
  double min_time_s_ = 0;
};

}  // namespace

std::string Case::name() const {
  std::string name = fmt::format("{}/{}/workers:{}", workload->name, scheduler->name, workers);
  for (const workloads::Parameter& parameter : workload->parameters) {
    const auto value = parameters.find(parameter.name);
    if (value == parameters.end() || value->second == parameter.default_value) continue;
    name += fmt::format("/{}:{}", parameter.name, value->second);
  }
  if (load) name += fmt::format("/load:{}", load->name);
  return name;
}

Result measure(std::span<const Case> cases, const Settings& settings,
               const std::function<void(const Progress&)>& progress, const std::stop_token& stop) {
  initialize_google_benchmark();
  Session session(cases, settings, progress, stop);
  session.warm_up();
  session.fix_iterations();
  session.run();
  return session.finish();
}

}  // namespace taskbench::harness
