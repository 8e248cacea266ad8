// The state of a search as text: what a job returns, and the checkpoint from which a killed search
// resumes. A part at work is saved as it was when its job started.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "tests/model/mc/state.hpp"

namespace mc {
namespace {

std::ostream& operator<<(std::ostream& out, const Node& node) {
  return out << int{node.chosen} << ' ' << int{node.count} << ' ' << node.enabled << ' '
             << node.backtrack << ' ' << node.done << ' ' << node.given << ' ' << node.before << ' '
             << node.sleep << ' ' << node.previous << ' ' << node.preemptions << '\n';
}

std::istream& operator>>(std::istream& in, Node& node) {
  int chosen = 0;
  int count = 0;
  in >> chosen >> count >> node.enabled >> node.backtrack >> node.done >> node.given >>
      node.before >> node.sleep >> node.previous >> node.preemptions;
  node.chosen = static_cast<std::uint8_t>(chosen);
  node.count = static_cast<std::uint8_t>(count);
  return in;
}

std::string contents_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}

constexpr const char* kCheckpoint = "mc-checkpoint-1";

/// The interval between checkpoints grows with the time that the search has run.
constexpr double next_after(double now_s) { return now_s + std::clamp(now_s / 10, 0.05, 30.0); }

}  // namespace

volatile std::sig_atomic_t terminated = 0;

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

/// Writes the results so far, and `parts`.
void Engine::save(std::ostream& out, const std::map<int, Part>& parts) const {
  out << result_.executions << ' ' << result_.pruned << ' ' << result_.depth << ' '
      << result_.threads << ' ' << length_ << ' ' << result_.failed << ' '
      << std::quoted(result_.message) << ' ' << std::quoted(result_.trace) << '\n';
  out << sometimes_.size() << '\n';
  for (const auto& [name, seen] : sometimes_) out << seen << ' ' << std::quoted(name) << '\n';
  out << result_.outcomes.size() << '\n';
  for (const std::string& each : result_.outcomes) out << std::quoted(each) << '\n';
  out << parts.size() << '\n';
  for (const auto& [number, part] : parts) {
    out << number << ' ' << part.parent << ' ' << part.floor << ' ' << part.next << ' ' << part.end
        << ' ' << part.ready << ' ' << part.nodes.size() << '\n';
    for (const Node& node : part.nodes) out << node;
  }
}

/// Adds what save() has written to the results and to `parts`. False: `in` holds something else.
bool Engine::add(std::istream& in, std::map<int, Part>& parts) {
  Result more;
  int length = 0;
  in >> more.executions >> more.pruned >> more.depth >> more.threads >> length >> more.failed >>
      std::quoted(more.message) >> std::quoted(more.trace);
  result_.executions += more.executions;
  result_.pruned += more.pruned;
  result_.depth = std::max(result_.depth, more.depth);
  result_.threads = std::max(result_.threads, more.threads);
  if (length_ == 0) length_ = length;
  if (more.failed) {
    result_.failed = true;
    result_.message = more.message;
    result_.trace = more.trace;
  }
  std::size_t count = 0;
  std::string text;
  for (in >> count; in && count > 0; --count) {
    bool seen = false;
    in >> seen >> std::quoted(text);
    sometimes_[text] |= seen;
  }
  for (in >> count; in && count > 0; --count) {
    in >> std::quoted(text);
    result_.outcomes.insert(text);
  }
  for (in >> count; in && count > 0; --count) {
    int number = 0;
    std::size_t nodes = 0;
    Part part;
    in >> number >> part.parent >> part.floor >> part.next >> part.end >> part.ready >> nodes;
    for (; in && nodes > 0; --nodes) in >> part.nodes.emplace_back();
    parts[number] = std::move(part);
  }
  return static_cast<bool>(in);
}

// --- checkpoints

/// What must be the same for a checkpoint to be used.
std::string Engine::identity() const {
  static const std::uint64_t program = hash_of(contents_of("/proc/self/exe"));
  std::ostringstream out;
  const Options& o = options_;
  out << std::quoted(o.name) << ' ' << program << ' ' << o.preemptions << ' '
      << static_cast<int>(o.search) << ' ' << o.executions << ' ' << o.seed << ' ' << o.depth << ' '
      << o.length << ' ' << o.spurious << ' ' << o.weak_failures << ' ' << o.stale << ' '
      << o.timeouts << ' ' << o.early << ' ' << o.threads << ' ' << o.reduction << ' ' << o.steps;
  return std::move(out).str();
}

/// Resumes from the checkpoint, if there is one.
void Engine::resume() {
  const char* const folder = std::getenv("MC_CHECKPOINT");
  if (folder == nullptr || options_.name.empty()) return;
  static std::map<std::string, int> checks;
  const int check = ++checks[options_.name];
  std::string name = options_.name + (check == 1 ? "" : '.' + std::to_string(check));
  std::ranges::replace(name, '/', '.');
  const std::string file = std::string(folder) + '/' + name;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  if (std::filesystem::exists(file)) {
    const auto refuse = [&](const char* why) {
      result_.failed = true;
      result_.message = file + why + "; remove it to begin anew";
    };
    const std::string text = contents_of(file);
    const std::size_t begin = text.find('\n') + 1;
    std::istringstream in(text);
    std::string kind;
    std::string identity_of_file;
    std::uint64_t hash = 0;
    in >> kind >> hash;
    std::getline(in, identity_of_file);  // the rest of the first line, which is empty
    std::getline(in, identity_of_file);
    if (kind != kCheckpoint) return refuse(" is not a checkpoint of a search");
    if (hash != hash_of(std::string_view(text).substr(begin))) return refuse(" is damaged");
    if (identity_of_file != identity())
      return refuse(" is of another model, other options or another build");
    parts_.clear();
    in >> earlier_s_;
    if (!add(in, parts_)) return refuse(" is damaged");
  }
  checkpoint_ = file;
  struct sigaction action {};
  action.sa_handler = [](int) { terminated = 1; };
  sigaction(SIGTERM, &action, &before_);
}

void Engine::write_checkpoint() {
  std::ostringstream out;
  out << identity() << '\n' << elapsed_s() << '\n';
  save(out, parts_);
  const std::string body = std::move(out).str();
  const std::string fresh = checkpoint_ + ".new";
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const bool written = write_all(file, std::string(kCheckpoint) + ' ' +
                                           std::to_string(hash_of(body)) + '\n' + body) &&
                       fsync(file) == 0 && std::rename(fresh.c_str(), checkpoint_.c_str()) == 0;
  if (!written) {
    result_.failed = true;
    result_.message = "cannot write " + checkpoint_ + ": " + std::strerror(errno);
  }
  close(file);
}

/// Writes a checkpoint when it is due, and when SIGTERM has come, which then ends the process.
void Engine::keep_checkpoint() {
  // A signal that arrives during the write leads to another checkpoint.
  const bool is_last = terminated != 0;
  if (checkpoint_.empty() || (elapsed_s() < next_checkpoint_s_ && !is_last)) return;
  next_checkpoint_s_ = next_after(elapsed_s());
  // A search of which a job was killed has found nothing, and resumes from the checkpoint before.
  if (!was_killed()) write_checkpoint();
  if (!is_last) return;
  sigaction(SIGTERM, &before_, nullptr);
  (void)raise(SIGTERM);
}

/// Removes the checkpoint at the end of the search.
void Engine::end_checkpoint() {
  if (checkpoint_.empty()) return;
  sigaction(SIGTERM, &before_, nullptr);
  if (!was_killed()) std::remove(checkpoint_.c_str());
}

}  // namespace mc
