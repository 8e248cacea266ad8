#include "reports/json/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;
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

model::PairedProgram program_from(const Json& object) {
  return {object.at("command").get<std::string>(), object.at("digest").get<std::string>(),
          object.value("revision", std::string()), object.value("commit", std::string())};
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
  line.at("benchmarks").get_to(setup.benchmarks);
  line.at("only_base").get_to(setup.only_base);
  line.at("only_head").get_to(setup.only_head);
  line.at("iterations").get_to(setup.iterations);
  setup.reproduce = line.value("reproduce", std::string());
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

ProcessSample sample_from(const Json& line, const PairedTrial& trial) {
  ProcessSample sample;
  line.at("block").get_to(sample.block);
  line.at("position").get_to(sample.position);
  const auto side = line.at("side").get<std::string>();
  if (side != "base" && side != "head") throw std::runtime_error("its side is neither of the two");
  sample.side = side == "base" ? Side::base : Side::head;
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
  } else {
    trial.samples.push_back(sample_from(line, trial));
  }
}

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view what) {
  throw JournalError(fmt::format("{}: {}", path.string(), what));
}

std::string content_of(const std::filesystem::path& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail(path, "is no regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail(path, "cannot be read");
  return content;
}

}  // namespace

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
                  {"benchmarks", setup.benchmarks},
                  {"only_base", setup.only_base},
                  {"only_head", setup.only_head},
                  {"iterations", setup.iterations},
                  {"noise_floors", std::move(floors)},
                  {"reproduce", setup.reproduce}};
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
  std::size_t number = 0;
  for (std::size_t newline = 0; (newline = content.find('\n')) != std::string_view::npos;) {
    ++number;
    try {
      take_line(trial, content.substr(0, newline), number);
    } catch (const Json::parse_error&) {  // whose text quotes what may be anything
      fail(path, fmt::format("line {} is not one of a taskbench journal", number));
    } catch (const std::exception& error) {
      fail(path,
           fmt::format("line {} is not one of a taskbench journal: {}", number, error.what()));
    }
    content.remove_prefix(newline + 1);
  }
  if (number == 0) {
    fail(path, "this is no journal: not even its first line is complete; delete it to begin anew");
  }
  return trial;
}

PairedTrial read_journal(const std::filesystem::path& path) {
  return parse_journal(path, content_of(path));
}

JournalWriter JournalWriter::create(const std::filesystem::path& path, const PairedSetup& setup) {
  const int descriptor =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    if (errno == EEXIST) fail(path, "exists; go on with it by --resume, or name another file");
    fail(path, fmt::format("cannot be created: {}", std::strerror(errno)));
  }
  JournalWriter writer(path, descriptor);
  writer.lock();
  try {
    writer.append_line(journal_line(setup));
  } catch (const JournalError&) {
    ::unlink(path.c_str());  // without its first line it is none
    throw;
  }
  return writer;
}

JournalWriter JournalWriter::resume(const std::filesystem::path& path) {
  const std::string content = content_of(path);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) fail(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  JournalWriter writer(path, descriptor);
  writer.lock();
  const auto complete = static_cast<off_t>(content.rfind('\n') + 1);
  if (::ftruncate(descriptor, complete) != 0) {
    fail(path, fmt::format("cannot be cut to its last complete line: {}", std::strerror(errno)));
  }
  return writer;
}

JournalWriter::JournalWriter(JournalWriter&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

JournalWriter::~JournalWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void JournalWriter::lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) fail(path_, "another taskbench writes to it");
}

void JournalWriter::append_line(std::string line) {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, fmt::format("cannot be written: {}", std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL) {  // EINVAL: a pipe or /dev/null
    fail(path_, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
}

}  // namespace taskbench::reports::json
