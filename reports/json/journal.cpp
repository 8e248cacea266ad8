#include "reports/json/journal.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/json/field.hpp"
#include "reports/json/nulls.hpp"
#include "reports/json/parse.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;
using model::InstructionSample;
using model::PairedSetup;
using model::PairedTrial;
using model::ProcessSample;
using model::Side;
using model::TrialEnd;

constexpr std::int64_t kMostRepetitions = 1'000'000'000;
constexpr std::int64_t kMostBlocks = 1'000'000;

constexpr std::array<std::pair<TrialEnd, std::string_view>, 3> kEnds{{
    {TrialEnd::decided, "decided"},
    {TrialEnd::budget, "budget"},
    {TrialEnd::blocks, "blocks"},
}};

constexpr std::array<std::pair<model::CpuTimeOf, std::string_view>, 2> kCpuTimes{{
    {model::CpuTimeOf::process, "process"},
    {model::CpuTimeOf::main_thread, "main_thread"},
}};

/// The parts of a MachineUse that may be unknown, for writing and reading.
template <class Use, class Part>
void for_each_part(Use& use, const Part& part) {
  part("cpu_s", use.cpu_s);
  part("others_s", use.others_s);
  part("stolen_s", use.stolen_s);
  part("thermal_throttles", use.thermal_throttles);
  part("quota_throttles", use.quota_throttles);
  part("swapped_pages", use.swapped_pages);
}

Json to_json(const model::MachineUse& use) {
  Json object{{"seconds", use.seconds}};
  for_each_part(use, [&](const char* name, const auto& value) {
    object[name] = value ? Json(*value) : Json(nullptr);
  });
  return object;
}

model::MachineUse machine_use_from(const Field& object) {
  model::MachineUse use;
  use.seconds = object.at("seconds").not_negative();
  for_each_part(use, [&]<class T>(const char* name, std::optional<T>& value) {
    if (const Field each = object.at(name); !each.is_null()) value = each.get<T>();
  });
  return use;
}

model::CpuTimeOf cpu_time_of_from(const Field& field) {
  const std::string text = field.text();
  for (const auto& [each, name] : kCpuTimes) {
    if (name == text) return each;
  }
  field.fail("is neither process nor main_thread");
}

std::string_view name_of(model::CpuTimeOf cpu_time) {
  return cpu_time == kCpuTimes[0].first ? kCpuTimes[0].second : kCpuTimes[1].second;
}

Json to_json(const model::PairedProgram& program) {
  Json object{{"command", program.command}, {"digest", program.digest}};
  if (!program.revision.empty()) {
    object["revision"] = program.revision;
    object["commit"] = program.commit;
  }
  return object;
}

double chance_from(const Field& field) {
  const double chance = field.positive();
  if (chance >= 1) field.fail("is no chance between 0 and 1");
  return chance;
}

PairedSetup paired_setup_from(const Field& line) {
  PairedSetup setup;
  setup.base = program_from(line.at("base"));
  setup.head = program_from(line.at("head"));
  line.at("seed").get_to(setup.seed);
  setup.alpha = chance_from(line.at("alpha"));
  setup.pass_error = chance_from(line.at("pass_error"));
  if (setup.pass_error >= 0.5) line.at("pass_error").fail("is not below one half");
  setup.delta = line.at("delta").positive();
  setup.repetitions = line.at("repetitions").whole(1, kMostRepetitions);
  setup.min_time_s = line.at("min_time_s").positive();
  setup.max_blocks = static_cast<int>(line.at("max_blocks").whole(1, kMostBlocks));
  line.at("benchmarks").get_to(setup.benchmarks);
  line.at("only_base").get_to(setup.only_base);
  line.at("only_head").get_to(setup.only_head);
  setup.failing_in_base = line.value("failing_in_base", std::vector<std::string>());
  if (line.contains("left_out")) {
    for (const Field& each : line.at("left_out").elements()) {
      setup.left_out.push_back({each.at("name").text(), each.at("reason").text()});
    }
  }
  setup.budget_s = line.contains("budget_s") ? line.at("budget_s").positive() : 0;
  setup.timeout_s = line.contains("timeout_s") ? line.at("timeout_s").positive() : 0;
  line.at("iterations").get_to(setup.iterations);
  setup.reproduce = line.value("reproduce", std::string());
  setup.counts_instructions = line.value("counts_instructions", false);
  if (line.contains("cpu_time_of")) {
    for (const auto& [name, cpu_time] : line.at("cpu_time_of").members()) {
      setup.cpu_time_of[name] = cpu_time_of_from(cpu_time);
    }
  }
  for (const auto& [name, floor] : line.at("noise_floors").members()) {
    setup.noise_floors[name] = {floor.at("epsilon").not_negative(), floor.at("source").text()};
  }
  for (const std::string& name : setup.benchmarks) {
    if (!setup.noise_floors.contains(name)) line.at("noise_floors").fail("lacks a noise floor");
  }
  if (setup.benchmarks.empty()) line.fail("names no benchmarks");
  return setup;
}

void check_journal_version(const Field& version) {
  const auto found = version.whole(0, std::numeric_limits<std::int64_t>::max());
  if (found >= 1 && found <= model::kJournalVersion) return;
  throw FieldError(fmt::format("its version is {}, this taskbench reads versions 1 to {}", found,
                               model::kJournalVersion));
}

Side side_from(const Field& line) {
  const std::string side = line.at("side").text();
  if (side != "base" && side != "head") line.at("side").fail("is neither base nor head");
  return side == "base" ? Side::base : Side::head;
}

InstructionSample instructions_from(const Field& line, const PairedTrial& trial) {
  InstructionSample sample;
  sample.side = side_from(line);
  line.at("instructions_of").get_to(sample.benchmark);
  line.at("per_iteration").get_to(sample.per_iteration);
  sample.unavailable = line.at("reason").text_or_empty();
  const std::size_t place = trial.instructions.size();
  const auto& names = trial.setup.benchmarks;
  if (!trial.setup.counts_instructions || place / 2 >= names.size() ||
      sample.benchmark != names[place / 2] || (sample.side == Side::head) != (place % 2 == 1)) {
    line.fail("is not the count that follows the one before");
  }
  if (sample.per_iteration.empty() == sample.unavailable.empty()) {
    line.fail("needs counts or a reason, and not both");
  }
  for (const double count : sample.per_iteration) {
    if (!std::isfinite(count) || count <= 0)
      line.at("per_iteration").fail("has a count that is not above 0");
  }
  return sample;
}

ProcessSample sample_from(const Field& line, const PairedTrial& trial) {
  ProcessSample sample;
  line.at("block").get_to(sample.block);
  line.at("position").get_to(sample.position);
  sample.side = side_from(line);
  sample.took_s = line.at("took_s").not_negative();
  line.at("real_ns").get_to(sample.real_ns);
  line.at("counters").get_to(sample.counters);
  if (line.contains("machine") && !line.at("machine").is_null()) {
    sample.machine = machine_use_from(line.at("machine"));
  }
  const auto place = static_cast<int>(trial.samples.size());
  if (sample.block != place / model::kBlockSize || sample.position != place % model::kBlockSize) {
    line.fail("is not the process that follows the one before");
  }
  for (const std::string& name : trial.setup.benchmarks) {
    const auto found = sample.real_ns.find(name);
    if (found == sample.real_ns.end() || !std::isfinite(found->second) || found->second <= 0) {
      line.fail(fmt::format("has no time of '{}'", name));
    }
  }
  return sample;
}

TrialEnd end_from(const Field& line) {
  const std::string text = line.at("end").text();
  for (const auto& [end, name] : kEnds) {
    if (name == text) return end;
  }
  line.fail("names no known end");
}

}  // namespace

void add_line(PairedTrial& trial, const Field& line, bool is_first) {
  if (is_first) {
    check_journal_version(line.at("taskbench_journal"));
    trial.setup = paired_setup_from(line);
  } else if (trial.end) {
    line.fail("comes after the end");
  } else if (line.contains("end")) {
    trial.end = end_from(line);
  } else if (line.contains("instructions_of")) {
    trial.instructions.push_back(instructions_from(line, trial));
  } else {
    trial.samples.push_back(sample_from(line, trial));
  }
}

model::PairedProgram program_from(const Field& object) {
  return {object.at("command").text(), object.at("digest").text(),
          object.value("revision", std::string()), object.value("commit", std::string())};
}

std::string journal_line(const PairedSetup& setup) {
  Json floors = Json::object();
  for (const auto& [name, floor] : setup.noise_floors) {
    floors[name] = {{"epsilon", floor.epsilon}, {"source", floor.source}};
  }
  Json left_out = Json::array();
  for (const auto& each : setup.left_out) {
    left_out.push_back({{"name", each.name}, {"reason", each.reason}});
  }
  Json cpu_times = Json::object();
  for (const auto& [name, cpu_time] : setup.cpu_time_of) cpu_times[name] = name_of(cpu_time);
  Json line{{"taskbench_journal", model::kJournalVersion},
            {"base", to_json(setup.base)},
            {"head", to_json(setup.head)},
            {"seed", setup.seed},
            {"alpha", setup.alpha},
            {"pass_error", setup.pass_error},
            {"delta", setup.delta},
            {"repetitions", setup.repetitions},
            {"min_time_s", setup.min_time_s},
            {"max_blocks", setup.max_blocks},
            {"counts_instructions", setup.counts_instructions},
            {"benchmarks", setup.benchmarks},
            {"only_base", setup.only_base},
            {"only_head", setup.only_head},
            {"failing_in_base", setup.failing_in_base},
            {"left_out", std::move(left_out)},
            {"iterations", setup.iterations},
            {"noise_floors", std::move(floors)},
            {"cpu_time_of", std::move(cpu_times)},
            {"reproduce", setup.reproduce}};
  if (setup.budget_s > 0) line["budget_s"] = setup.budget_s;
  if (setup.timeout_s > 0) line["timeout_s"] = setup.timeout_s;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string journal_line(const InstructionSample& sample) {
  const Json line{{"instructions_of", sample.benchmark},
                  {"side", name_of(sample.side)},
                  {"per_iteration", sample.per_iteration},
                  {"reason", text_or_null(sample.unavailable)}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string journal_line(const ProcessSample& sample) {
  const Json line{{"block", sample.block},
                  {"position", sample.position},
                  {"side", name_of(sample.side)},
                  {"took_s", sample.took_s},
                  {"real_ns", sample.real_ns},
                  {"counters", sample.counters},
                  {"machine", sample.machine ? to_json(*sample.machine) : Json(nullptr)}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string journal_line(TrialEnd end) {
  for (const auto& [each, name] : kEnds) {
    if (each == end) return Json{{"end", name}}.dump();
  }
  return {};
}

PairedTrial parse_journal(const std::filesystem::path& path, std::string_view content) {
  PairedTrial trial;
  for_each_line(path, content, [&](std::string_view text, std::size_t number) {
    const Json document = parse_json(text);
    add_line(trial, Field(document, ""), number == 1);
  });
  return trial;
}

PairedTrial read_journal(const std::filesystem::path& path) {
  return parse_journal(path, journal_text(path));
}

}  // namespace taskbench::reports::json
