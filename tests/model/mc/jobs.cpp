// A search consists of parts, initially one: the whole. A part is everything below a prefix of
// choices, or a range of the drawn executions. When a job has nothing to do, a part hands over the
// first alternative that it has left, or half of its range.
//
// A job is a forked process that runs executions of one part for at most half a second, and writes
// the results into a pipe. Only the parent process knows all parts, so a job may die at any time.
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>

#include "tests/model/mc/state.hpp"

namespace mc {
namespace {

using std::chrono::steady_clock;

// The longest turn of a job: while another job has nothing to do, and while all are busy.
constexpr std::chrono::milliseconds kLeastTurn{5};
constexpr std::chrono::milliseconds kMostTurn{500};

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::abort();
}

}  // namespace

// --- what is left of a part

/// The threads of a choice that will ever be tried.
Threads Engine::worth_trying(const Node& node) const {
  Threads all = node.backtrack & ~node.sleep;
  for (Threads left = options_.preemptions < 0 ? 0 : all; left != 0; left &= left - 1) {
    const int thread = first_of(left);
    if (node.preemptions + (node.costs(thread) ? 1 : 0) > options_.preemptions)
      all &= ~only(thread);
  }
  return all;
}

/// What nobody has begun to try: a set of threads, or a count of numbers.
Threads Engine::untried(const Node& node) const {
  if (node.count != 0) return node.count - 1U - node.chosen - node.given;
  return worth_trying(node) & ~(node.done | node.given | only(node.chosen));
}

/// Moves the part on to its next execution: the deepest choice with an untried alternative takes
/// it. False: there is none, at least until other parts have done what they were given.
bool Engine::advance(Part& part) const {
  if (options_.search != Search::exhaustive) return ++part.next < part.end;
  for (; part.nodes.size() > part.floor; part.nodes.pop_back()) {
    Node& node = part.nodes.back();
    if (node.count == 0) node.done |= only(node.chosen);
    if (const Threads left = untried(node); left != 0) {
      node.before = node.done | node.given;
      node.chosen = static_cast<std::uint8_t>(node.count == 0 ? first_of(left) : node.chosen + 1);
      return true;
    }
    if (node.is_awaited()) return false;
  }
  return false;
}

/// Splits a part in two. False: there is nothing to hand over.
bool Engine::split(int number) {
  Part& part = parts_.at(number);
  Part other;
  if (options_.search != Search::exhaustive) {
    if (part.end - part.next < 2) return false;
    other.end = part.end;
    other.next = part.end = part.next + (part.end - part.next) / 2;
  } else {
    const auto node =
        std::find_if(part.nodes.begin() + static_cast<std::ptrdiff_t>(part.floor), part.nodes.end(),
                     [&](const Node& n) { return untried(n) != 0; });
    if (node == part.nodes.end()) return false;
    other.parent = number;
    other.nodes.assign(part.nodes.begin(), node + 1);
    other.floor = other.nodes.size();
    Node& first = other.nodes.back();
    if (node->count != 0) {
      first.chosen = static_cast<std::uint8_t>(node->count - 1U - node->given++);
    } else {
      first.before = node->done | node->given | only(node->chosen);
      first.chosen = static_cast<std::uint8_t>(first_of(untried(*node)));
      node->given |= only(first.chosen);
    }
  }
  parts_.emplace(parts_.rbegin()->first + 1, std::move(other));
  return true;
}

/// Drops the parts that are done; their parents may continue.
void Engine::settle() {
  for (auto at = parts_.end(); at != parts_.begin();) {  // those split off come last
    Part& part = (--at)->second;
    if (part.job != 0 || part.ready || part.nodes.size() > part.floor) continue;
    if (part.parent != kWhole) {
      Part& parent = parts_.at(part.parent);
      if (parent.job != 0) continue;
      for (std::size_t i = 0; i < part.floor; ++i)
        parent.nodes[i].backtrack |= part.nodes[i].backtrack;
      Node& node = parent.nodes[part.floor - 1];
      if (node.count != 0) {
        ++node.done;
      } else {
        node.done |= only(part.nodes.back().chosen);
        node.given &= ~only(part.nodes.back().chosen);
      }
      if (!parent.ready) parent.ready = advance(parent);
    }
    at = parts_.erase(at);
  }
}

// --- jobs

/// Runs executions of a part until none is left, one fails, or its turn is over.
void Engine::run_part(Part& part) {
  const auto begin = steady_clock::now();
  for (bool goes_on = true; goes_on && part.most > 0; --part.most) {
    if (options_.search != Search::exhaustive) begin_drawing(part.next);
    nodes_.swap(part.nodes);
    run_once();
    if (result_.failed) result_.trace = trace();
    if (options_.search != Search::exhaustive) nodes_.clear();
    nodes_.swap(part.nodes);
    ++result_.executions;
    result_.pruned += pruned_ ? 1 : 0;
    result_.depth = std::max(result_.depth, static_cast<int>(depth_));
    result_.threads = std::max(result_.threads, thread_count_);
    if (length_ == 0) length_ = steps_;
    part.ready = !result_.failed && advance(part);
    const auto passed = steady_clock::now() - begin;
    goes_on = part.ready && passed < (*job_is_idle_ ? kLeastTurn : kMostTurn) && terminated == 0;
  }
}

/// Starts jobs up to the number wanted, or as many as there is work for.
void Engine::start_jobs() {
  const auto all = static_cast<std::size_t>(options_.jobs);
  std::size_t running = 0;
  std::size_t ready = 0;
  for (const auto& [number, part] : parts_) (part.job != 0 ? running : ready) += part.ready ? 1 : 0;
  const auto split_one = [&] {
    return std::ranges::any_of(
        parts_, [&](const auto& each) { return each.second.job == 0 && split(each.first); });
  };
  while (length_ != 0 && running + ready < all && split_one()) ++ready;
  *job_is_idle_ = running + ready < all;
  for (auto& [number, part] : parts_) {
    if (running == all) break;
    if (part.job != 0 || !part.ready || (part.most = most_at_once()) == 0) continue;
    start_job(number, part);
    ++running;
  }
}

/// How many executions a job may run, so that all jobs together run no more than asked for. The
/// first execution runs alone, because it is measured.
std::uint64_t Engine::most_at_once() const {
  const auto jobs = static_cast<std::uint64_t>(options_.jobs);
  std::uint64_t left = options_.executions - result_.executions;
  for (const auto& [number, part] : parts_) left -= part.job != 0 ? part.most : 0;
  return std::min(left, length_ == 0 ? 1 : left / jobs + 1);
}

void Engine::start_job(int number, Part& part) {
  int ends[2];
  if (pipe(ends) != 0) give_up("pipe");
  part.job = fork();
  if (part.job < 0) give_up("fork");
  if (part.job == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    result_ = {};
    run_part(part);
    std::ostringstream out;
    save(out, {{number, part}});
    write_all(ends[1], std::move(out).str());
    _exit(0);
  }
  close(ends[1]);
  part.pipe = ends[0];
}

/// Waits until at least one job has ended, or a signal has come.
void Engine::wait_for_jobs() {
  std::vector<pollfd> pipes;
  std::vector<int> numbers;
  for (const auto& [number, part] : parts_) {
    if (part.job == 0) continue;
    pipes.push_back({part.pipe, POLLIN, 0});
    numbers.push_back(number);
  }
  if (poll(pipes.data(), pipes.size(), -1) < 0) return;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    if (pipes[i].revents == 0) continue;
    std::string text;
    char block[4096];
    for (ssize_t count = 1; count != 0;) {
      count = read(pipes[i].fd, block, sizeof block);
      text.append(block, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    Part& part = parts_.at(numbers[i]);
    const int status = end_job(part);
    std::istringstream in(text);
    std::map<int, Part> back;
    if (status == 0 && add(in, back)) {
      part = std::move(back.at(numbers[i]));
      continue;
    }
    result_.failed = true;
    result_.message = std::string("a job ended by itself: ") +
                      (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it exited") +
                      ", in one of the executions whose traces begin with \"" +
                      trace_of(std::span(part.nodes).first(part.floor)) + '"';
  }
}

/// Waits for the part's job to end. Returns its status.
int Engine::end_job(Part& part) {
  int status = 0;
  close(part.pipe);
  while (waitpid(part.job, &status, 0) < 0 && errno == EINTR) {
  }
  part.job = 0;
  return status;
}

void Engine::search() {
  void* const shared = mmap(nullptr, sizeof *job_is_idle_, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) give_up("mmap");
  job_is_idle_ = new (shared) std::atomic<bool>(false);
  while (!parts_.empty() && !result_.failed && result_.executions < options_.executions) {
    if (options_.jobs > 1) {
      start_jobs();
      wait_for_jobs();
    } else {
      const auto ready = std::ranges::find_if(parts_, [](auto& each) { return each.second.ready; });
      ready->second.most = most_at_once();
      run_part(ready->second);
    }
    settle();
    tell_progress();
    keep_checkpoint();
  }
  for (auto& [number, part] : parts_) {
    if (part.job == 0) continue;
    kill(part.job, SIGKILL);
    end_job(part);
  }
  munmap(shared, sizeof *job_is_idle_);
  end_checkpoint();
  result_.complete = options_.search == Search::exhaustive && parts_.empty() && !result_.failed;
}

}  // namespace mc
