// The tester's output: traces, the table of events, and the progress of a search.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "tests/model/mc/state.hpp"

namespace mc {
namespace {

// The digits of a trace, one for each choice. z stands for 35 and is followed by another digit,
// which is added.
constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kMore = 35;

}  // namespace

const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {
      "start", "load",     "store", "modify", "compare-exchange", "await", "fence",
      "lock",  "try_lock", "wait",  "wake",   "notify",           "yield", "spawn",
      "join",  "choose",
  };
  return kNames[static_cast<int>(kind)];
}

// --- traces

std::string trace_of(std::span<const Node> choices) {
  std::string text;
  for (const Node& each : choices) {
    text.append(each.chosen / kMore, kDigits[kMore]);
    text += kDigits[each.chosen % kMore];
  }
  return text;
}

std::string Engine::trace() const {
  return trace_of(std::span(nodes_).first(std::min(depth_, nodes_.size())));
}

std::uint8_t Engine::replayed() {
  std::size_t choice = 0;
  for (std::size_t digit = kMore; digit == kMore; choice += digit) {
    if (replayed_ >= replay_.size()) fail("the trace ends before the execution does");
    digit = kDigits.find(replay_[replayed_++]);
    if (digit > kMore) fail("the trace is not of this test");
  }
  return static_cast<std::uint8_t>(choice);
}

// --- the table

/// Runs the failed execution once more, to record the table of events.
void Engine::log_again() {
  const Result found = result_;
  logging_ = true;
  replay_ = found.trace;
  if (!replay_.empty()) {
    nodes_.clear();
    run_once();
  }
  result_ = found;
  constexpr std::size_t kFirst = 100;
  constexpr std::size_t kLast = 300;
  char heading[128];
  std::snprintf(heading, sizeof heading, "%5s  %-6s  %-16s  %-6s  %-44s  %s\n", "event", "thread",
                "operation", "object", "order, value, and the event that wrote it", "line");
  result_.events = heading;
  for (std::size_t i = 0; i < log_.size(); ++i) {
    if (i == kFirst && log_.size() > kFirst + kLast) {
      i = log_.size() - kLast;
      result_.events += "  ...\n";
    }
    result_.events += log_[i] + '\n';
  }
}

void Engine::log(const Operation& operation, const std::string& what) {
  if (!logging_) return;
  char line[512];
  char object[16] = "";
  if (operation.place != kNowhere) std::snprintf(object, sizeof object, "#%u", operation.place);
  const std::string_view file = operation.where.file_name();
  std::snprintf(line, sizeof line, "%5zu  %-6d  %-16s  %-6s  %-44s  %s:%u", log_.size() + 1,
                current_, name_of(operation.kind), object, what.c_str(),
                std::string(file.substr(file.rfind('/') + 1)).c_str(), operation.where.line());
  log_.emplace_back(line);
}

// --- progress

/// The share of the tree that is done, assuming that the rest is like what was seen. The share of
/// each choice is divided among the alternatives to be tried there. They count equally, except that
/// with b preemptions left and n choices to come, an alternative that takes a preemption counts
/// about b/n of one that takes none.
double Engine::share_done() const {
  double done = 0;
  for (const auto& [number, part] : parts_) {
    double share = 1;
    for (std::size_t i = 0; i < part.nodes.size(); ++i) {
      const Node& node = part.nodes[i];
      const auto weight_of = [&](Threads threads) {
        double weight = 0;
        for (; threads != 0; threads &= threads - 1) {
          const double less = double(options_.preemptions - node.preemptions) /
                              double(std::max(result_.depth, int(i) + 1) - int(i));
          const bool takes_one = options_.preemptions >= 0 && node.costs(first_of(threads));
          weight += takes_one ? std::min(less, 1.0) : 1;
        }
        return weight;
      };
      const bool of_threads = node.count == 0;
      const double all = of_threads ? weight_of(worth_trying(node)) : node.count;
      const double past = of_threads ? weight_of(node.done) : node.chosen + node.done;
      if (i >= part.floor) done += share * past / all;
      share *= (of_threads ? weight_of(only(node.chosen)) : 1) / all;
    }
  }
  return done;
}

/// Prints the progress of the search: on a terminal, one line that is overwritten; elsewhere, a
/// line each time.
void Engine::tell_progress() {
  const double now = elapsed_s();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (next_progress_s_ == 0) {
    const char* const given = std::getenv("MC_PROGRESS");
    progress_interval_s_ = given != nullptr ? std::strtod(given, nullptr) : 10;
    next_progress_s_ = progress_interval_s_;
  }
  if (now < next_progress_s_) return;
  next_progress_s_ = now + (terminal ? std::min(progress_interval_s_, 0.5) : progress_interval_s_);
  const auto executions = static_cast<double>(result_.executions);
  const double done = options_.search == Search::exhaustive
                          ? share_done()
                          : executions / static_cast<double>(options_.executions);
  std::fprintf(
      stderr, "%s%.0f executions, %llu pruned, depth %d, %.0f a second, about %.2g %% done",
      terminal ? "\r\x1b[K" : "", executions, static_cast<unsigned long long>(result_.pruned),
      result_.depth, executions / now, 100 * done);
  if (done > 0) std::fprintf(stderr, ", %.2g s left", now / done - now);
  if (!terminal) std::fputc('\n', stderr);
  std::fflush(stderr);
}

}  // namespace mc
