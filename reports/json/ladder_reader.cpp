#include "reports/json/ladder_reader.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "reports/json/field.hpp"
#include "reports/json/reader.hpp"

namespace taskbench::reports::json {
namespace {

constexpr const char* kLadderMark = "taskbench_ladder";

model::LadderWorkload workload_from(const Field& field, std::size_t rungs) {
  model::LadderWorkload workload{field.at("name").get<std::string>(), {}};
  for (const Field& block : field.at("blocks_ns").elements()) {
    std::vector<double>& times = workload.blocks_ns.emplace_back();
    for (const Field& time : block.elements()) {
      is_positive(time);
      times.push_back(time.get<double>());
    }
    if (times.size() != rungs) block.fail("has not as many times as there are rungs");
  }
  if (workload.blocks_ns.empty()) field.at("blocks_ns").fail("is empty");
  return workload;
}

model::Ladder ladder_from(const Field& document) {
  is_version(document.at(kLadderMark), model::kLadderVersion, model::kLadderVersion);
  model::Ladder ladder;
  ladder.date = document.at("date").get<std::string>();
  ladder.workers = static_cast<unsigned>(document.at("workers").whole(1, 1 << 20));
  ladder.partial = document.at("partial").get<bool>();
  for (const Field& rung : document.at("rungs").elements()) {
    ladder.rungs.push_back({rung.at("scheduler").get<std::string>(),
                            rung.at("step").get<std::string>(), rung.at("ours").get<bool>()});
  }
  if (ladder.rungs.size() < 2) document.at("rungs").fail("has fewer than two of them");
  for (const Field& workload : document.at("workloads").elements()) {
    ladder.workloads.push_back(workload_from(workload, ladder.rungs.size()));
  }
  return ladder;
}

}  // namespace

bool is_ladder(std::string_view text) { return begins_with_key(text, kLadderMark); }

model::Ladder parse_ladder(const std::filesystem::path& path, std::string_view text) {
  try {
    const Json document = parse_json(text);
    return ladder_from(Field(document));
  } catch (const ParseError& error) {
    throw ReadError(fmt::format("{}: not a sound answer of `taskbench ladder`: {}; create it again",
                                path.string(), error.what()));
  }
}

}  // namespace taskbench::reports::json
