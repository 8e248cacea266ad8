#include "reports/perf/callgrind_profile.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reports/model/pieces.hpp"

namespace taskbench::reports::perf {

using model::next_line;
using model::next_word;
using model::read_number;
namespace {

/// Reads a number in callgrind's format: addresses are hexadecimal.
template <class Number>
bool read_position(std::string_view word, Number& number) {
  return word.starts_with("0x") ? read_number(word.substr(2), number, 16)
                                : read_number(word, number);
}

/// A function's name without the version of its symbol ("free@@GLIBC_2.2.5") and the depth of its
/// recursion ("sort'2").
std::string_view plain_name(std::string_view name) {
  const std::size_t quote = name.rfind('\'');
  if (quote != std::string_view::npos && quote + 1 < name.size() &&
      name.find_first_not_of("0123456789", quote + 1) == std::string_view::npos) {
    name = name.substr(0, quote);
  }
  const std::size_t version = name.find("@@");
  return version > 0 ? name.substr(0, version) : name;
}

class Parser {
 public:
  /// Processes one line. False if it is not in callgrind's format.
  bool take(std::string_view line) {
    if (line.empty() || line.front() == '#') return true;
    if (line.starts_with("0x")) return take_cost(line);
    const std::size_t sign = line.find_first_of("=:");
    if (sign == std::string_view::npos) return false;
    const std::string_view key = line.substr(0, sign);
    std::string_view value = line.substr(sign + 1);
    if (line[sign] == ':') return take_header(key, value);
    if (key == "calls") {
      is_call_ = read_number(next_word(value), call_.calls);
      return is_call_;
    }
    take_name(key, value);
    return true;
  }

  [[nodiscard]] std::optional<CallgrindProfile> result() && {
    if (!has_events_ || !has_total_) return std::nullopt;
    return std::move(profile_);
  }

 private:
  bool take_header(std::string_view key, std::string_view value) {
    if (key == "events") return has_events_ = next_word(value) == "Ir";
    if (key == "totals") return has_total_ = read_number(next_word(value), profile_.instructions);
    constexpr std::string_view kTrigger = " Trigger: ";
    if (key == "desc" && value.starts_with(kTrigger)) {
      profile_.trigger = value.substr(kTrigger.size());
    }
    return true;
  }

  void take_name(std::string_view key, std::string_view value) {
    if (key == "ob") {
      place_.object = call_.callee_object = index_of(value);
    } else if (key == "fl" || key == "fi" || key == "fe") {
      place_.file = index_of(value);
      if (key == "fl") source_ = place_.file;
    } else if (key == "fn") {
      place_.function = index_of(plain_name(value));
      place_.file = source_;
      profile_.sources[place_.function] = source_;
    } else if (key == "cob") {
      call_.callee_object = index_of(value);
    } else if (key == "cfn") {
      call_.callee = index_of(plain_name(value));
    }
  }

  bool take_cost(std::string_view line) {
    CallgrindProfile::Place place = place_;
    std::uint64_t instructions = 0;
    if (!read_position(next_word(line), place.address) ||
        !read_position(next_word(line), place.line) ||
        !read_position(next_word(line), instructions)) {
      return false;
    }
    if (std::exchange(is_call_, false)) {
      CallgrindProfile::Call& call = profile_.calls.emplace_back(call_);
      static_cast<CallgrindProfile::Place&>(call) = place;
      call.instructions = instructions;
      call_.callee_object = place.object;  // of the next call, unless that names another
    } else {
      profile_.costs.push_back({place, instructions});
    }
    return true;
  }

  std::size_t index_of(std::string_view name) {
    const auto [place, is_new] = indices_.try_emplace(std::string(name), profile_.names.size());
    if (is_new) profile_.names.emplace_back(name);
    return place->second;
  }

  CallgrindProfile profile_;
  CallgrindProfile::Place place_;
  CallgrindProfile::Call call_;
  std::size_t source_ = 0;  // of the following functions
  std::unordered_map<std::string, std::size_t> indices_;
  bool is_call_ = false;  // the next line of costs belongs to a call
  bool has_events_ = false;
  bool has_total_ = false;
};

}  // namespace

std::optional<CallgrindProfile> parse_callgrind(std::string_view content) {
  Parser parser;
  if (!content.empty() && content.back() != '\n') return std::nullopt;  // it was cut off
  while (!content.empty()) {
    if (!parser.take(next_line(content))) return std::nullopt;
  }
  return std::move(parser).result();
}

void add(const CallgrindProfile& other, CallgrindProfile& to) {
  std::unordered_map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < to.names.size(); ++i) known.emplace(to.names[i], i);
  std::vector<std::size_t> place_of;  // by name index of the other profile
  std::vector<std::string> more;
  for (const std::string& name : other.names) {
    const auto found = known.find(name);
    place_of.push_back(found == known.end() ? to.names.size() + more.size() : found->second);
    if (found == known.end()) more.push_back(name);
  }
  to.names.insert(to.names.end(), more.begin(), more.end());
  const auto moved = [&](auto place) {
    place.object = place_of[place.object];
    place.function = place_of[place.function];
    place.file = place_of[place.file];
    return place;
  };
  for (const CallgrindProfile::Cost& cost : other.costs) to.costs.push_back(moved(cost));
  for (CallgrindProfile::Call call : other.calls) {
    call.callee_object = place_of[call.callee_object];
    call.callee = place_of[call.callee];
    to.calls.push_back(moved(call));
  }
  for (const auto& [function, file] : other.sources) {
    to.sources.emplace(place_of[function], place_of[file]);
  }
  to.instructions += other.instructions;
}

}  // namespace taskbench::reports::perf
