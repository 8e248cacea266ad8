#include "tests/simulation/machine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

// Included alone, as the rest of the tester's library has an operator new of its own.
#include "tests/model/mc/fiber.cpp"

namespace sim {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
/// The number of lines that can move to one core at once while its stores wait.
constexpr double kMovesAtOnce = 8;
/// How long the last store that fits into the buffer may wait, in moves of a line.
constexpr double kBufferedMoves = 4;

/// The stacks of all cores, at the same addresses in each run.
std::byte* stack_of(std::uint32_t core) {
  static std::byte* const all = [] {
    void* const stacks = mmap(nullptr, kMostCores * kStackBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) std::abort();
    return static_cast<std::byte*>(stacks);
  }();
  return all + core * kStackBytes;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "simulation: %s\n", what);
  std::abort();
}

}  // namespace

Machine::Machine(const Costs& costs, const Changes& changes, const Topology& topology)
    : costs_(costs), changes_(changes), topology_(topology), lines_(std::size_t{1} << 14) {}

Machine::~Machine() = default;

void Machine::run(std::function<void()> body) {
  machine = this;
  start(std::move(body));
  current = cores_.front().get();
  turns_.pop();
  mc::switch_to(home_, current->context);
  current = &outside;
  machine = nullptr;
  for (const auto& core : cores_) {
    if (core->state != Core::State::ended) fail("a thread has outlived the run");
  }
}

std::uint32_t Machine::start(std::function<void()> body) {
  const auto index = static_cast<std::uint32_t>(cores_.size());
  if (index == kMostCores) fail("too many threads");
  auto core = std::make_unique<Core>();
  core->index = index;
  core->now = index == 0 ? 0 : current->now + costs_.thread;
  core->body = std::move(body);
  core->context = mc::make_context(stack_of(index), kStackBytes, enter);
  ++running_;
  queue(*core, core->now);
  cores_.push_back(std::move(core));
  return index;
}

void Machine::enter() {
  Machine& self = *machine;
  // Its captures are destroyed with the thread.
  { std::exchange(current->body, nullptr)(); }
  current->state = Core::State::ended;
  --self.running_;
  if (current->index == 0) mc::switch_to(current->context, self.home_);
  self.wake_one(current, Share::waking);
  self.go_on();
}

void Machine::join(std::uint32_t core) {
  const Core& other = *cores_[core];
  while (other.state != Core::State::ended) (void)block(&other, Share::asleep, kNever);
}

void Machine::spend(Share share, Ns time) {
  current->now += time;
  current->spent[index_of(share)] += time;
  if (current->interrupted == 0) return;
  const Ns interrupted = std::exchange(current->interrupted, 0);
  current->now += interrupted;
  current->spent[index_of(Share::fences)] += interrupted;
}

bool Machine::owns(const Line& line) const {
  return line.writer == static_cast<std::int32_t>(current->index);
}

Distance Machine::distance(std::uint32_t one, std::uint32_t other) const {
  const std::uint32_t place = std::max(one, 1U) - 1;
  const std::uint32_t other_place = std::max(other, 1U) - 1;
  const auto share = [&](std::uint32_t cores) {
    return cores == 0 || place / cores == other_place / cores;
  };
  if (topology_.cluster != 0 && share(topology_.cluster)) return Distance::cluster;
  return share(topology_.socket) ? Distance::socket : Distance::machine;
}

Ns Machine::scaled(Ns cost, Distance distance) const {
  if (changes_.all_near) distance = Distance::cluster;
  if (distance == Distance::socket || costs_.line == 0) return cost;
  const Ns line = distance == Distance::cluster ? costs_.line_near : costs_.line_remote;
  return cost * line / costs_.line;
}

Ns Machine::from_afar(Ns cost, std::uint32_t one, std::uint32_t other) const {
  return scaled(cost, distance(one, other));
}

void Machine::count_theft(std::uint32_t from) {
  ++thefts_[static_cast<std::size_t>(distance(from, current->index))];
}

Ns Machine::move_cost(const Line& line, Ns cost, Access access) const {
  const bool fresh =
      std::ranges::all_of(line.holders, [](std::uint64_t word) { return word == 0; });
  if (fresh || changes_.free == line.share) return 0;
  if (topology_.cluster == 0) return cost;
  // A line that no other core holds is as near as possible.
  std::optional<Distance> all;
  for (std::size_t word = 0; word < line.holders.size(); ++word) {
    for (std::uint64_t bits = line.holders[word]; bits != 0; bits &= bits - 1) {
      const auto holder = static_cast<std::uint32_t>(word) * 64 +
                          static_cast<std::uint32_t>(std::countr_zero(bits));
      if (holder == current->index) continue;
      const Distance one = distance(holder, current->index);
      all = !all ? one : access == Access::reads ? std::min(*all, one) : std::max(*all, one);
    }
  }
  return scaled(cost, all.value_or(Distance::cluster));
}

void Machine::take(Line& line, Ns done) {
  line.free_at = done;
  line.writer = static_cast<std::int32_t>(current->index);
  line.holders = {};
  line.holders[current->index / 64] |= std::uint64_t{1} << (current->index % 64);
}

void Machine::load(const void* address) {
  if (has(line(address), current->index)) {
    spend(Share::runtime, costs_.access);
    return;
  }
  give_way();
  Line& now = line(address);
  const Ns cost =
      move_cost(now, now.share == Share::workers ? costs_.probe : costs_.line, Access::reads);
  // Sharers of a line load it without waiting for each other.
  const Ns begin = now.writer >= 0 ? std::max(current->now, now.free_at) : current->now;
  const Ns done = begin + cost;
  if (now.writer >= 0) now.free_at = done;
  now.writer = -1;
  now.holders[current->index / 64] |= std::uint64_t{1} << (current->index % 64);
  spend(now.share, done - current->now + costs_.access);
}

void Machine::store(const void* address) {
  if (owns(line(address))) {
    spend(Share::runtime, costs_.access);
    return;
  }
  give_way();
  Line& now = line(address);
  const Ns cost = move_cost(now, costs_.line, Access::writes);
  const Ns done = std::max(std::max(current->now, now.free_at) + cost,
                           current->stores_done + cost / kMovesAtOnce);
  const Share share = now.share;
  take(now, done);
  current->stores_done = done;
  const Ns waits = done - current->now - kBufferedMoves * costs_.line;
  spend(share, std::max(waits, 0.0) + costs_.access);
}

void Machine::locked(const void* address) {
  if (!owns(line(address))) give_way();
  Line& now = line(address);
  const Ns cost = owns(now) ? 0 : move_cost(now, costs_.line, Access::writes);
  const Ns begin = std::max({current->now, current->stores_done, cost == 0 ? 0 : now.free_at});
  const Share share = cost == 0 && begin == current->now ? Share::runtime : now.share;
  take(now, begin + cost);
  spend(share, begin + cost - current->now + costs_.locked);
}

void Machine::prefetch(const void* address) {
  Line& now = line(address);
  if (!owns(now)) take(now, current->now);
}

void Machine::full_fence() {
  if (changes_.free == Share::fences) return;
  spend(Share::fences, std::max(current->stores_done - current->now, 0.0) + costs_.locked);
}

void Machine::heavy_fence() {
  ++heavy_fences_;
  give_way();
  if (changes_.free == Share::fences) return;
  if (changes_.fences == Changes::Fences::shared && current->now < barrier_begins_at_) {
    // It has not begun, and will do for this thread, too, which then reads that it has ended.
    spend(Share::fences, barrier_free_at_ + costs_.line - current->now);
    give_way();
    return;
  }
  const bool for_one = changes_.fences == Changes::Fences::targeted && current->fence_for;
  const auto is_interrupted = [&](const Core& core) {
    return core.state == Core::State::runs && &core != current &&
           (!for_one || core.index == *current->fence_for);
  };
  const std::uint32_t others =
      for_one ? (is_interrupted(*cores_[*current->fence_for]) ? 1 : 0) : running_ - 1;
  const Ns begin = std::max(current->now, barrier_free_at_);
  barrier_begins_at_ = begin;
  Ns cost = costs_.barrier;
  if (others > 0) cost += costs_.barrier_first + (others - 1) * costs_.barrier_each;
  barrier_free_at_ = begin + cost;
  for (const auto& core : cores_) {
    if (is_interrupted(*core)) core->interrupted += costs_.interrupt;
  }
  spend(Share::fences, begin + cost - current->now);
  give_way();
}

void Machine::give_way() {
  if (turns_.empty() || current->now < turns_.top().at) return;
  queue(*current, current->now);
  go_on();
}

void Machine::begin_to_sleep(Share share) {
  spend(share, changes_.free == share ? 0 : costs_.sleep);
  give_way();
}

bool Machine::block(const void* address, Share share, Ns deadline) {
  Core& self = *current;
  self.state = Core::State::blocked;
  self.waits_for = address;
  self.waits_as = share;
  self.in_time = true;
  --running_;
  if (deadline < kNever) {
    queue(self, std::max(deadline, self.now));
  } else {
    self.turn = ++turn_count_;
  }
  go_on();
  return self.in_time;
}

void Machine::wake_one(const void* address, Share share) {
  const bool free = changes_.free == share;
  const Ns called = current->now;
  spend(share, free ? 0 : costs_.wake);
  // Waiters are woken in the order in which they fell asleep, which is that of their clocks.
  Core* first = nullptr;
  for (const auto& core : cores_) {
    if (core->state != Core::State::blocked || core->waits_for != address) continue;
    if (first == nullptr || core->now < first->now) first = core.get();
  }
  if (first == nullptr) return;
  first->state = Core::State::runs;
  ++running_;
  const Ns begins = std::max(first->now, called + (free ? 0 : costs_.latency));
  first->spent[index_of(first->waits_as)] += begins - first->now;
  first->now = begins;
  queue(*first, begins);
}

void Machine::queue(Core& core, Ns at) {
  core.turn = ++turn_count_;
  turns_.push({at, core.index, core.turn});
}

void Machine::go_on() {
  for (;;) {
    if (turns_.empty()) fail("all threads sleep");
    const Turn next = turns_.top();
    turns_.pop();
    Core& core = *cores_[next.core];
    if (core.turn != next.turn) continue;
    if (core.state == Core::State::blocked) {
      core.state = Core::State::runs;
      core.in_time = false;
      ++running_;
      core.spent[index_of(core.waits_as)] += next.at - core.now;
      core.now = next.at;
    }
    switch_to(core);
    return;
  }
}

void Machine::switch_to(Core& core) {
  Core* const from = std::exchange(current, &core);
  if (from != current) mc::switch_to(from->context, current->context);
}

void Machine::name(const void* object, std::size_t bytes, Share share) {
  const auto begin = reinterpret_cast<std::uintptr_t>(object) & ~std::uintptr_t{63};
  const auto end = reinterpret_cast<std::uintptr_t>(object) + bytes;
  for (std::uintptr_t at = begin; at < end; at += 64) {
    line(reinterpret_cast<const void*>(at)).share = share;
  }
}

Machine::Line& Machine::line(const void* address) {
  const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(address) / 64;
  const std::size_t mask = lines_.size() - 1;
  std::size_t place = ((number * 0x9e3779b97f4a7c15U) >> 32) & mask;
  while (lines_[place].number != number) {
    if (lines_[place].number == 0) {
      if (2 * ++line_count_ > lines_.size()) {
        grow();
        return line(address);
      }
      lines_[place].number = number;
      break;
    }
    place = (place + 1) & mask;
  }
  return lines_[place];
}

void Machine::grow() {
  std::vector<Line> before(2 * lines_.size());
  before.swap(lines_);
  line_count_ = 0;
  for (const Line& each : before) {
    if (each.number != 0) line(reinterpret_cast<const void*>(each.number * 64)) = each;
  }
}

std::vector<Spent> Machine::spent() const {
  std::vector<Spent> all;
  for (const auto& core : cores_) {
    all.push_back(core->spent);
    if (core->state == Core::State::blocked) {
      all.back()[index_of(core->waits_as)] += std::max(current->now - core->now, 0.0);
    }
  }
  return all;
}

}  // namespace sim
