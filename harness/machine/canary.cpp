#include "harness/machine/canary.hpp"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <system_error>
#include <thread>

#include "harness/machine/build_info.hpp"
#include "harness/machine/futex.hpp"
#include "harness/os/cpu_affinity.hpp"

namespace taskbench::harness {
namespace {

constexpr int kRounds = 5;
constexpr int kChainSteps = 1'200'000;
constexpr std::size_t kBufferBytes = std::size_t{8} << 20;
constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kLines = kBufferBytes / kLineBytes;
constexpr int kWalkSteps = 16'000;
constexpr int kRoundTrips = 400;
constexpr int kHandovers = 100;  // to the partner and back, per batch
constexpr int kHandoverBatches = 60;
constexpr std::size_t kMaxLanes = 16;
constexpr double kGiveUp_ns = 5e7;  // for a round whose partner gets no CPU

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// Makes the compiler compute the value, and forget what it knows about it.
template <class T>
void keep(T& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

double time_chain() {
  std::uint64_t value = 1;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kChainSteps; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    value ^= value >> 33;
    keep(value);
  }
  return ns_since(start);
}

/// Fresh pages of the small size, whatever the system prefers: the reach of the translation buffers
/// must not depend on the chance of getting a huge page.
class Buffer {
 public:
  Buffer()
      : memory_(::mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("no memory for the canary");
    ::madvise(memory_, kBufferBytes, MADV_NOHUGEPAGE);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { ::munmap(memory_, kBufferBytes); }

  std::uint32_t& line(std::uint32_t number) {
    return *reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(memory_) +
                                             number * kLineBytes);
  }

 private:
  void* memory_;
};

/// Stores in each line the index of the next: one cycle through all lines (Sattolo), always the
/// same.
void shuffle(Buffer& buffer) {
  for (std::uint32_t i = 0; i < kLines; ++i) buffer.line(i) = i;
  std::uint64_t random = 1;
  for (std::uint32_t i = kLines - 1; i > 0; --i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    std::swap(buffer.line(i), buffer.line(static_cast<std::uint32_t>((random >> 33) % i)));
  }
}

double time_walk(Buffer& buffer, std::uint32_t& place) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kWalkSteps; ++i) {
    place = buffer.line(place);
    keep(place);
  }
  return ns_since(start);
}

/// Sleeps until it is `turn`'s turn. Does not spin first, since the sleep is what is timed.
void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t turn) {
  std::uint32_t now = 0;
  while ((now = word.load(std::memory_order_acquire)) != turn) {
    futex(word, FUTEX_WAIT_PRIVATE, now);
  }
}

void hand_over(std::atomic<std::uint32_t>& word, std::uint32_t turn) {
  word.store(turn, std::memory_order_release);  // pairs with the acquire in wait_for()
  futex(word, FUTEX_WAKE_PRIVATE, 1);
}

/// Times wake-ups by futex on the caller's CPU; its partner inherits the binding to it.
double time_futex() {
  std::atomic<std::uint32_t> word{0};
  std::thread partner([&] {
    for (std::uint32_t i = 0; i < kRoundTrips; ++i) {
      wait_for(word, 2 * i + 1);
      hand_over(word, 2 * i + 2);
    }
  });
  const Clock::time_point start = Clock::now();
  for (std::uint32_t i = 0; i < kRoundTrips; ++i) {
    hand_over(word, 2 * i + 1);
    wait_for(word, 2 * i + 2);
  }
  const double ns = ns_since(start);
  partner.join();
  return ns;
}

/// Two lanes that take turns, each on its own CPU: an odd word means that it is the second's turn.
struct Pair {
  alignas(kLineBytes) std::atomic<std::uint32_t> word{0};
  alignas(kLineBytes) std::atomic<bool> ended{false};
};

/// Spins and never sleeps, since this times the distance between the two CPUs.
void spin_for(const Pair& pair, std::uint32_t turn) {
  while (pair.word.load(std::memory_order_acquire) != turn &&
         !pair.ended.load(std::memory_order_relaxed)) {
  }
}

/// Times the handovers of the first side, in batches. The fastest batch counts, since both sides
/// were running during it. If the partner takes too long, there are fewer batches.
double time_handovers(Pair& pair) {
  const Clock::time_point start = Clock::now();
  double least_ns = std::numeric_limits<double>::infinity();
  std::uint32_t turn = 0;
  for (int batch = 0; batch < kHandoverBatches; ++batch) {
    const Clock::time_point begun = Clock::now();
    for (int i = 0; i < kHandovers; ++i) {
      pair.word.store(++turn, std::memory_order_release);  // pairs with the acquire in spin_for
      spin_for(pair, ++turn);
    }
    least_ns = std::min(least_ns, ns_since(begun));
    if (ns_since(start) > kGiveUp_ns) break;
  }
  pair.ended.store(true, std::memory_order_relaxed);
  return least_ns * kHandoverBatches;
}

void answer_handovers(Pair& pair) {
  for (std::uint32_t i = 0; i < kHandovers * kHandoverBatches; ++i) {
    spin_for(pair, 2 * i + 1);
    if (pair.ended.load(std::memory_order_relaxed)) return;
    pair.word.store(2 * i + 2, std::memory_order_release);  // pairs with the acquire in spin_for
  }
}

using Rounds = std::array<double, kRounds>;

/// The work of one CPU. All lanes go through the same parts at the same time.
struct Lane {
  unsigned cpu = 0;
  Buffer buffer{};
  std::uint32_t place = 0;
  Rounds chain{};
  Rounds walk{};
  Rounds wakes_here{};
  Rounds handover{};
};

/// A pair for each round, so that nothing has to be reset.
using Pairs = std::array<Pair, kRounds>;

struct Crew {
  std::deque<Lane> lanes;
  std::deque<Pairs> pairs;  ///< of lanes 0 and 1, 2 and 3, …; an odd lane has no partner
  std::atomic<bool> failed{false};

  /// Releases everyone who waits for a lane that cannot continue.
  void give_up() {
    failed.store(true, std::memory_order_relaxed);
    for (Pairs& each : pairs) {
      for (Pair& pair : each) pair.ended.store(true, std::memory_order_relaxed);
    }
  }
};

void run_lane(Crew& crew, std::size_t number, std::barrier<>& together) {
  Lane& lane = crew.lanes[number];
  const ScopedBinding binding(lane.cpu);
  shuffle(lane.buffer);
  const bool leads = number % 2 == 0;
  const bool paired = number / 2 < crew.pairs.size();
  for (std::size_t i = 0; i < kRounds; ++i) {  // in turn: a brief disturbance hits one round only
    together.arrive_and_wait();
    lane.chain[i] = time_chain();
    together.arrive_and_wait();
    lane.walk[i] = time_walk(lane.buffer, lane.place);
    together.arrive_and_wait();
    lane.wakes_here[i] = time_futex();
    together.arrive_and_wait();
    if (!paired) continue;
    Pair& pair = crew.pairs[number / 2][i];
    if (leads) {
      lane.handover[i] = time_handovers(pair);
    } else {
      answer_handovers(pair);
    }
  }
}

/// Runs a lane. Only starting a thread can fail.
void try_lane(Crew& crew, std::size_t number, std::barrier<>& together) {
  try {
    run_lane(crew, number, together);
  } catch (const std::system_error&) {
    crew.give_up();
    together.arrive_and_drop();
  }
}

/// Disturbances only add time, so the minimum shows the current ability of the machine: from pass
/// to pass it scatters half as much as the median, on a busy machine.
double least(const Rounds& times) { return std::ranges::min(times); }

/// The mean over the lanes with this part.
double mean_of(const std::deque<Lane>& lanes, Rounds Lane::*part) {
  double sum = 0;
  double count = 0;
  for (const Lane& lane : lanes) {
    if (lane.*part == Rounds{}) continue;
    sum += least(lane.*part);
    ++count;
  }
  return sum / count;
}

/// All CPUs that the process may use, as for the measured program; if there are many, a selection
/// from the whole machine.
std::vector<unsigned> cpus_of_canary() {
  const std::vector<unsigned> allowed = allowed_cpus();
  if (allowed.empty()) return {0};
  std::vector<unsigned> chosen;
  const std::size_t count = std::min(allowed.size(), kMaxLanes);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(allowed[i * allowed.size() / count]);
  return chosen;
}

}  // namespace

model::CanaryTimes time_canary() {
  Crew crew;
  for (const unsigned cpu : cpus_of_canary()) crew.lanes.emplace_back().cpu = cpu;
  crew.pairs.resize(crew.lanes.size() / 2);
  std::barrier together(static_cast<std::ptrdiff_t>(crew.lanes.size()));
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < crew.lanes.size(); ++i) {
    try {
      threads.emplace_back([&crew, &together, i] { try_lane(crew, i, together); });
    } catch (const std::system_error&) {
      crew.give_up();
      together.arrive_and_drop();
    }
  }
  try_lane(crew, 0, together);
  for (std::thread& thread : threads) thread.join();
  if (crew.failed) throw std::runtime_error("the canary could not start a thread");
  model::CanaryTimes times;
  times.cpu_ns = mean_of(crew.lanes, &Lane::chain);
  times.memory_ns = mean_of(crew.lanes, &Lane::walk);
  times.futex_ns = mean_of(crew.lanes, &Lane::wakes_here);
  if (!crew.pairs.empty()) times.handover_ns = mean_of(crew.lanes, &Lane::handover);
  return times;
}

std::vector<model::KeyField> canary_fields() {
  return {{"canary_version", std::to_string(kCanaryVersion)},
          {"canary_compiler", std::string(kCompiler)},
          {"canary_compiler_flags", std::string(kCompilerFlags)}};
}

}  // namespace taskbench::harness
