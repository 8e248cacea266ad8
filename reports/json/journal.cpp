#include "reports/json/journal.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/json/nulls.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;
using model::InstructionSample;
using model::PairedSetup;
using model::PairedTrial;
using model::ProcessSample;
using model::Side;
using model::TrialEnd;

constexpr std::array<std::pair<TrialEnd, std::string_view>, 3> kEnds{{
    {TrialEnd::decided, "decided"},
    {TrialEnd::budget, "budget"},
    {TrialEnd::blocks, "blocks"},
}};

Json to_json(const model::PairedProgram& program) {
  Json object{{"command", program.command}, {"digest", program.digest}};
  if (!program.revision.empty()) {
    object["revision"] = program.revision;
    object["commit"] = program.commit;
  }
  return object;
}

PairedSetup setup_from(const Json& line) {
  PairedSetup setup;
  setup.base = program_from(line.at("base"));
  setup.head = program_from(line.at("head"));
  line.at("seed").get_to(setup.seed);
  line.at("alpha").get_to(setup.alpha);
  line.at("pass_error").get_to(setup.pass_error);
  line.at("delta").get_to(setup.delta);
  line.at("repetitions").get_to(setup.repetitions);
  line.at("min_time_s").get_to(setup.min_time_s);
  line.at("max_blocks").get_to(setup.max_blocks);
  if (setup.max_blocks < 1) throw std::runtime_error("it has no blocks");
  line.at("benchmarks").get_to(setup.benchmarks);
  line.at("only_base").get_to(setup.only_base);
  line.at("only_head").get_to(setup.only_head);
  setup.failing_in_base = line.value("failing_in_base", std::vector<std::string>());
  line.at("iterations").get_to(setup.iterations);
  setup.reproduce = line.value("reproduce", std::string());
  setup.counts_instructions = line.value("counts_instructions", false);
  for (const auto& [name, floor] : line.at("noise_floors").items()) {
    setup.noise_floors[name] = {floor.at("epsilon").get<double>(),
                                floor.at("source").get<std::string>()};
  }
  for (const std::string& name : setup.benchmarks) {
    if (!setup.noise_floors.contains(name)) throw std::runtime_error("a noise floor is missing");
  }
  if (setup.benchmarks.empty()) throw std::runtime_error("it names no benchmarks");
  return setup;
}

Side side_from(const Json& line) {
  const auto side = line.at("side").get<std::string>();
  if (side != "base" && side != "head") throw std::runtime_error("its side is neither of the two");
  return side == "base" ? Side::base : Side::head;
}

InstructionSample instructions_from(const Json& line, const PairedTrial& trial) {
  InstructionSample sample;
  sample.side = side_from(line);
  line.at("instructions_of").get_to(sample.benchmark);
  line.at("per_iteration").get_to(sample.per_iteration);
  const Json& reason = line.at("reason");
  if (!reason.is_null()) reason.get_to(sample.unavailable);
  const std::size_t place = trial.instructions.size();
  const auto& names = trial.setup.benchmarks;
  if (!trial.setup.counts_instructions || place / 2 >= names.size() ||
      sample.benchmark != names[place / 2] || (sample.side == Side::head) != (place % 2 == 1)) {
    throw std::runtime_error("it is not the count that follows the one before");
  }
  if (sample.per_iteration.empty() == sample.unavailable.empty()) {
    throw std::runtime_error("it needs counts or a reason, and not both");
  }
  for (const double count : sample.per_iteration) {
    if (!std::isfinite(count) || count <= 0) throw std::runtime_error("a count is not above 0");
  }
  return sample;
}

ProcessSample sample_from(const Json& line, const PairedTrial& trial) {
  ProcessSample sample;
  line.at("block").get_to(sample.block);
  line.at("position").get_to(sample.position);
  sample.side = side_from(line);
  line.at("took_s").get_to(sample.took_s);
  line.at("real_ns").get_to(sample.real_ns);
  line.at("counters").get_to(sample.counters);
  const auto place = static_cast<int>(trial.samples.size());
  if (sample.block != place / model::kBlockSize || sample.position != place % model::kBlockSize) {
    throw std::runtime_error("it is not the process that follows the one before");
  }
  for (const std::string& name : trial.setup.benchmarks) {
    const auto found = sample.real_ns.find(name);
    if (found == sample.real_ns.end() || !std::isfinite(found->second) || found->second <= 0) {
      throw std::runtime_error(fmt::format("it has no time of '{}'", name));
    }
  }
  return sample;
}

TrialEnd end_from(const Json& line) {
  const auto text = line.at("end").get<std::string>();
  for (const auto& [end, name] : kEnds) {
    if (name == text) return end;
  }
  throw std::runtime_error("it names no known end");
}

void take_line(PairedTrial& trial, std::string_view text, std::size_t number) {
  const Json line = Json::parse(text);
  if (number == 1) {
    if (line.at("taskbench_journal").get<int>() != model::kJournalVersion) {
      throw std::runtime_error(fmt::format("its version is {}, this taskbench reads version {}",
                                           line.at("taskbench_journal").get<int>(),
                                           model::kJournalVersion));
    }
    trial.setup = setup_from(line);
  } else if (trial.end) {
    throw std::runtime_error("it comes after the end");
  } else if (line.contains("end")) {
    trial.end = end_from(line);
  } else if (line.contains("instructions_of")) {
    trial.instructions.push_back(instructions_from(line, trial));
  } else {
    trial.samples.push_back(sample_from(line, trial));
  }
}

}  // namespace

model::PairedProgram program_from(const Json& object) {
  return {object.at("command").get<std::string>(), object.at("digest").get<std::string>(),
          object.value("revision", std::string()), object.value("commit", std::string())};
}

std::string journal_line(const PairedSetup& setup) {
  Json floors = Json::object();
  for (const auto& [name, floor] : setup.noise_floors) {
    floors[name] = {{"epsilon", floor.epsilon}, {"source", floor.source}};
  }
  const Json line{{"taskbench_journal", model::kJournalVersion},
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
                  {"iterations", setup.iterations},
                  {"noise_floors", std::move(floors)},
                  {"reproduce", setup.reproduce}};
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
  const Json line{{"block", sample.block},        {"position", sample.position},
                  {"side", name_of(sample.side)}, {"took_s", sample.took_s},
                  {"real_ns", sample.real_ns},    {"counters", sample.counters}};
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
  for_each_line(path, content,
                [&](std::string_view text, std::size_t number) { take_line(trial, text, number); });
  return trial;
}

PairedTrial read_journal(const std::filesystem::path& path) {
  return parse_journal(path, journal_text(path));
}

}  // namespace taskbench::reports::json
