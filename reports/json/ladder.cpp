#include "reports/json/answers.hpp"
#include "reports/json/field.hpp"

namespace taskbench::reports::json {
namespace {

Json object_of_gain(const std::optional<verdict::Gain>& gain) {
  if (!gain) return nullptr;
  return {{"ratio", gain->ratio},
          {"low", gain->interval ? Json(gain->interval->low) : Json()},
          {"high", gain->interval ? Json(gain->interval->high) : Json()},
          {"sure", gain->is_sure()}};
}

}  // namespace

std::string to_json(const model::Ladder& ladder) {
  Json document{{"taskbench_ladder", model::kLadderVersion},
                {"date", ladder.date},
                {"commit", text_or_null(ladder.commit)},
                {"machine", json_of(ladder.machine)},
                {"workers", ladder.workers},
                {"repetitions", ladder.repetitions},
                {"min_time_s", ladder.min_time_s},
                {"seed", ladder.seed},
                {"partial", ladder.partial},
                {"interval_level", verdict::kLadderConfidence},
                {"rungs", Json::array()},
                {"workloads", Json::array()}};
  for (const model::LadderRung& rung : ladder.rungs) {
    document["rungs"].push_back(
        {{"scheduler", rung.scheduler}, {"step", rung.step}, {"ours", rung.is_ours}});
  }
  const auto verdicts = verdict::climb(ladder);
  for (const verdict::LadderVerdict& each : verdicts) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < each.rows.size(); ++i) {
      rows.push_back({{"scheduler", ladder.rungs[i].scheduler},
                      {"median_ns", each.rows[i].median_ns},
                      {"step", object_of_gain(each.rows[i].step)},
                      {"total", object_of_gain(each.rows[i].total)}});
    }
    Json object{{"name", each.workload}, {"document", nullptr}, {"rungs", std::move(rows)}};
    if (each.documented != nullptr) {
      object["document"] = {{"before_ns", each.documented->before_ns},
                            {"after_ns", each.documented->after_ns},
                            {"ratio", each.documented->ratio()}};
    }
    for (const model::LadderWorkload& workload : ladder.workloads) {
      if (workload.name == each.workload) object["blocks_ns"] = workload.blocks_ns;
    }
    document["workloads"].push_back(std::move(object));
  }
  return file_text(document);
}

}  // namespace taskbench::reports::json
