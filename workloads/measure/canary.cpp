#include "workloads/measure/canary.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "workloads/measure/build_info.hpp"
#include "workloads/measure/cpu_affinity.hpp"

namespace taskbench::workloads::measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr int kChainSteps = 1'800'000;
constexpr std::size_t kBufferBytes = std::size_t{8} << 20;
constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kLines = kBufferBytes / kLineBytes;
constexpr int kWalkSteps = 24'000;
constexpr int kRoundTrips = 1'000;

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// The compiler must compute the value, and may know nothing of it.
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

/// Fresh pages, of the small size whatever the system prefers: how many lines the translation
/// buffers reach must not depend on the luck of getting a huge page.
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

/// Each line holds the number of the next: one cycle through all of them (Sattolo), always the
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

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr,
                   nullptr, 0);
}

/// Sleeps until it is `turn`'s turn. No spinning before: the sleep is what is timed.
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

/// On one CPU: whether a partner on another one is awake still, is drawn anew each time, and a pass
/// then takes once or five times as long.
double time_futex() {
  const int cpu = ::sched_getcpu();
  const ScopedBinding binding(cpu < 0 ? 0U : static_cast<unsigned>(cpu));
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

/// What disturbs only adds, so that the least is what the machine can do just now: from pass to
/// pass it scatters half as much as the median, on a busy machine.
double least(const std::array<double, kRounds>& times) { return std::ranges::min(times); }

}  // namespace

reports::model::CanaryTimes time_canary() {
  Buffer buffer;
  shuffle(buffer);
  std::uint32_t place = 0;
  std::array<double, kRounds> chain{};
  std::array<double, kRounds> walk{};
  std::array<double, kRounds> wakes{};
  for (std::size_t i = 0; i < kRounds; ++i) {  // in turn: what disturbs for a moment hits one round
    chain[i] = time_chain();
    walk[i] = time_walk(buffer, place);
    wakes[i] = time_futex();
  }
  return {.cpu_ns = least(chain), .memory_ns = least(walk), .futex_ns = least(wakes)};
}

std::vector<reports::model::KeyField> canary_fields() {
  return {{"canary_version", std::to_string(kCanaryVersion)},
          {"canary_compiler", std::string(kCompiler)},
          {"canary_compiler_flags", std::string(kCompilerFlags)}};
}

}  // namespace taskbench::workloads::measure
