#include "reports/json/journal.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "reports/json/paired_fields.hpp"
#include "reports/json/parse.hpp"

namespace taskbench::reports::json {
namespace {

using model::InstructionSample;
using model::PairedSetup;
using model::PairedTrial;
using model::ProcessSample;
using model::Side;
using model::TrialEnd;

void check_journal_version(const Field& version) {
  const auto found = version.whole(0, std::numeric_limits<std::int64_t>::max());
  if (found >= 1 && found <= model::kJournalVersion) return;
  throw FieldError(fmt::format("its version is {}, this taskbench reads versions 1 to {}", found,
                               model::kJournalVersion));
}

PairedSetup paired_setup_from(const Field& line) {
  auto setup = line.get<PairedSetup>();
  for (const std::string& name : setup.benchmarks) {
    if (!setup.noise_floors.contains(name)) line.at("noise_floors").fail("lacks a noise floor");
  }
  return setup;
}

InstructionSample instructions_from(const Field& line, const PairedTrial& trial) {
  auto sample = line.get<InstructionSample>();
  const std::size_t place = trial.instructions.size();
  const auto& names = trial.setup.benchmarks;
  if (!trial.setup.counts_instructions || place / 2 >= names.size() ||
      sample.benchmark != names[place / 2] || (sample.side == Side::head) != (place % 2 == 1)) {
    line.fail("is not the count that follows the one before");
  }
  if (sample.per_iteration.empty() == sample.unavailable.empty()) {
    line.fail("needs counts or a reason, and not both");
  }
  for (const Field& count : line.at("per_iteration").elements()) is_positive(count);
  return sample;
}

ProcessSample sample_from(const Field& line, const PairedTrial& trial) {
  auto sample = line.get<ProcessSample>();
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

}  // namespace

void add_line(PairedTrial& trial, const Field& line, bool is_first) {
  if (is_first) {
    check_journal_version(line.at("taskbench_journal"));
    trial.setup = paired_setup_from(line);
  } else if (trial.end) {
    line.fail("comes after the end");
  } else if (line.contains("end")) {
    trial.end = line.at("end").get<TrialEnd>();
  } else if (line.contains("instructions_of")) {
    trial.instructions.push_back(instructions_from(line, trial));
  } else {
    trial.samples.push_back(sample_from(line, trial));
  }
}

std::string journal_line(const PairedSetup& setup) { return line_text(setup_line(setup)); }

std::string journal_line(const InstructionSample& sample) { return line_text(json_of(sample)); }

std::string journal_line(const ProcessSample& sample) { return line_text(json_of(sample)); }

std::string journal_line(TrialEnd end) { return line_text({{"end", word_of(end)}}); }

PairedTrial parse_journal(const std::filesystem::path& path, std::string_view content) {
  PairedTrial trial;
  files::for_each_line(path, content, [&](std::string_view text, std::size_t number) {
    const Json document = parse_json(text);
    add_line(trial, Field(document, ""), number == 1);
  });
  return trial;
}

PairedTrial read_journal(const std::filesystem::path& path) {
  return parse_journal(path, files::journal_text(path));
}

}  // namespace taskbench::reports::json
