#include "reports/perf/explain.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "reports/model/lookup.hpp"
#include "reports/perf/instruction_kinds.hpp"

namespace taskbench::reports::perf {
namespace {

using Place = CallgrindProfile::Place;
using Call = CallgrindProfile::Call;

struct Tally {
  double instructions = 0;
  double calls = 0;
  std::map<std::string, std::map<int, double>> lines;  // instructions, by file and line
};

/// The tally of each function, by its shortened name.
using Tallies = std::map<std::string, Tally>;

class Attribution {
 public:
  explicit Attribution(const ProfiledSide& side) : side_(side), names_(side.profile.names) {}

  [[nodiscard]] Tallies tallies() {
    look_at_costs();
    look_at_calls();
    find_shares();
    for (const auto& [call, owner] : calls_of_system_) {
      add(owner, static_cast<double>(call->instructions) * share_of(call->callee));
    }
    return std::move(tallies_);
  }

 private:
  /// The instructions of a function, and the part of them that is the system's.
  struct Executed {
    double all = 0;
    double of_system = 0;
    std::vector<const Call*> calls{};  ///< of the system's functions, but not from our inlined code
    double share = 1;                  ///< of_system, with those calls, over all
  };

  [[nodiscard]] bool is_function_of_system(std::size_t object, std::size_t function) {
    const auto [known, is_new] = of_system_.try_emplace(function, false);
    if (!is_new) return known->second;
    const std::size_t* const source = model::find_in(side_.profile.sources, function);
    known->second = is_of_system(names_[object]) ||
                    (source != nullptr && is_of_system(names_[*source])) ||
                    short_function_name(names_[function]).starts_with("std::");
    return known->second;
  }

  /// The program's function that a place is attributed to; empty if the place is the system's.
  [[nodiscard]] std::optional<SourceFrame> owner_of(const Place& place) {
    const SourceLines* const lines = model::find_in(side_.sources, names_[place.object]);
    const auto* const frames = lines == nullptr ? nullptr : model::find_in(*lines, place.address);
    for (std::size_t i = 0; frames != nullptr && i < frames->size(); ++i) {
      const SourceFrame& frame = (*frames)[i];
      if (is_of_system(frame.file)) continue;
      const bool is_symbol = i + 1 == frames->size();
      return SourceFrame{is_symbol ? names_[place.function] : frame.function, frame.file,
                         frame.line};
    }
    if (is_function_of_system(place.object, place.function)) return std::nullopt;
    SourceFrame frame{names_[place.function], {}, 0};
    if (place.line > 0 && !is_of_system(names_[place.file])) {
      frame.file = names_[place.file];
      frame.line = place.line;
    }
    return frame;
  }

  Tally& tally_of(const std::string& function) { return tallies_[short_function_name(function)]; }

  void add(const SourceFrame& owner, double instructions) {
    Tally& tally = tally_of(owner.function);
    instructions /= side_.iterations;
    tally.instructions += instructions;
    if (owner.line > 0) tally.lines[owner.file][owner.line] += instructions;
  }

  void look_at_costs() {
    for (const CallgrindProfile::Cost& cost : side_.profile.costs) {
      const auto instructions = static_cast<double>(cost.instructions);
      const auto owner = owner_of(cost);
      Executed& by = executed_[cost.function];
      by.all += instructions;
      if (owner) {
        add(*owner, instructions);
      } else {
        by.of_system += instructions;
      }
    }
  }

  void look_at_calls() {
    for (const Call& call : side_.profile.calls) {
      if (call.calls == 0) continue;  // it contains all counted instructions
      executed_[call.function].all += static_cast<double>(call.instructions);
      if (!is_function_of_system(call.callee_object, call.callee)) {
        tally_of(names_[call.callee]).calls += static_cast<double>(call.calls) / side_.iterations;
      } else if (const auto owner = owner_of(call)) {
        calls_of_system_.emplace_back(&call, *owner);
      } else {
        executed_[call.function].calls.push_back(&call);
      }
    }
  }

  [[nodiscard]] double share_of(std::size_t function) const {
    const Executed* const known = model::find_in(executed_, function);
    return known == nullptr ? 1 : known->share;
  }

  /// Finds the share of a system function's instructions that is not in the program's functions
  /// that it calls back. Functions may call each other, so this is repeated until little changes.
  void find_shares() {
    constexpr int kRounds = 30;
    for (int round = 0; round < kRounds; ++round) {
      for (auto& [function, by] : executed_) {
        double of_system = by.of_system;
        for (const Call* call : by.calls) {
          of_system += static_cast<double>(call->instructions) * share_of(call->callee);
        }
        by.share = by.all > 0 ? of_system / by.all : 1;
      }
    }
  }

  const ProfiledSide& side_;
  const std::vector<std::string>& names_;
  Tallies tallies_;
  std::unordered_map<std::size_t, Executed> executed_;  // by function
  std::unordered_map<std::size_t, bool> of_system_;
  std::vector<std::pair<const Call*, SourceFrame>> calls_of_system_;
};

/// Finds the line that grew most. Lines are compared by their distance from the function's first:
/// changes above it in the file move all of them.
void find_line(const Tally& base, const Tally& head, model::GrownFunction& grown) {
  double most = 0;
  for (const auto& [file, lines] : head.lines) {
    const auto* const then = model::find_in(base.lines, file);
    for (const auto& [line, instructions] : lines) {
      double before = 0;
      if (then != nullptr) {
        const int same = then->begin()->first + line - lines.begin()->first;
        before = model::value_at(*then, same).value_or(0);
      }
      if (instructions - before <= most) continue;
      most = instructions - before;
      grown.file = file;
      grown.line = line;
    }
  }
}

}  // namespace

bool is_of_system(std::string_view path) {
  constexpr std::array<std::string_view, 4> kFolders{"/usr/lib", "/usr/include", "/lib/",
                                                     "/lib64/"};
  return path.ends_with(kAllocationMarks) ||
         std::ranges::any_of(kFolders, [&](auto folder) { return path.starts_with(folder); });
}

std::vector<model::GrownFunction> grown_functions(const ProfiledSide& base,
                                                  const ProfiledSide& head, std::size_t most) {
  constexpr double kLeastShare = 0.02;
  const Tallies before = Attribution(base).tallies();
  const Tally none;
  std::vector<model::GrownFunction> grown;
  double all = 0;
  for (const auto& [name, now] : Attribution(head).tallies()) {
    const Tally* const known = model::find_in(before, name);
    const Tally& then = known == nullptr ? none : *known;
    if (now.instructions <= then.instructions) continue;
    all += now.instructions - then.instructions;
    model::GrownFunction each{name,       {},       0, then.instructions, now.instructions,
                              then.calls, now.calls};
    find_line(then, now, each);
    grown.push_back(std::move(each));
  }
  const auto growth = [](const model::GrownFunction& each) { return each.head - each.base; };
  std::erase_if(grown, [&](const auto& each) { return growth(each) < kLeastShare * all; });
  std::ranges::stable_sort(grown, std::ranges::greater{}, growth);
  if (grown.size() > most) grown.resize(most);
  return grown;
}

}  // namespace taskbench::reports::perf
