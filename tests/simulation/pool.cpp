// work_stealing with a policy that pays for what the primitives do not see, and that contains the
// changes to be tried. Its sources are compiled once more, like those of a rung of the ladder
// (runtime/ladder_rung.cpp).
#include "tests/simulation/pool.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/scheduler/work_stealing/policy.hpp"

namespace taskbench::rt::policies {

inline const sim::Costs& costs() { return sim::machine->costs(); }
inline const sim::Changes& changes() { return sim::machine->changes(); }

/// The cost of a line that comes from the given core.
inline sim::Ns line_from(std::uint32_t core) {
  return sim::machine->from_afar(costs().line, core, sim::current->index);
}

/// The cost of copying or walking `words` words written by another core. Neighbouring lines are
/// prefetched.
inline sim::Ns copying(std::size_t words, std::uint32_t from, sim::Share share) {
  constexpr double kWordsPerLine = 8;
  constexpr double kAhead = 4;
  if (changes().free == share) return 0;
  return static_cast<double>(words) / kWordsPerLine * line_from(from) / kAhead;
}

/// One bit for each queue that has something. The owner sets it when it pushes into a queue that it
/// had found empty, and clears it when it finds the queue empty again.
class Bitmap {
 public:
  void reset() {
    for (Word& word : words_) word.bits.store(0, base::relaxed);
  }
  void set(std::uint32_t queue) { word(queue).fetch_or(mask(queue), base::relaxed); }
  void clear(std::uint32_t queue) { word(queue).fetch_and(~mask(queue), base::relaxed); }
  [[nodiscard]] bool is_set(std::uint32_t queue) {
    return (word(queue).load(base::relaxed) & mask(queue)) != 0;
  }
  void name_lines() { sim::machine->name(this, sizeof(*this), sim::Share::workers); }

 private:
  struct alignas(base::kFalseSharingBytes) Word {
    base::Atomic<std::uint64_t> bits{0};
  };
  [[nodiscard]] base::Atomic<std::uint64_t>& word(std::uint32_t queue) {
    return words_[queue / 64].bits;
  }
  static std::uint64_t mask(std::uint32_t queue) { return std::uint64_t{1} << (queue % 64); }

  std::array<Word, sim::kMostCores / 64> words_;
};
inline Bitmap bitmap;
inline std::uint32_t queue_count = 0;

/// Where the data of each task is: at the core that polled it last, or that spawned it.
class Homes {
 public:
  void note(const task::Header* task) {
    if (costs().data != 0) homes_[task] = sim::current->index;
  }
  void move_here(const task::Header* task) {
    if (costs().data == 0) return;
    const std::uint32_t here = sim::current->index;
    const std::uint32_t from = std::exchange(homes_.try_emplace(task, here).first->second, here);
    if (from == here) return;
    sim::spend(sim::Share::runtime, sim::machine->from_afar(costs().data, from, here));
  }

 private:
  std::unordered_map<const task::Header*, std::uint32_t> homes_;
};
inline Homes* homes = nullptr;

class Queue : public work_stealing::Policy::LocalQueue {
  using Base = work_stealing::Policy::LocalQueue;
  using Task = task::Header*;
  using Stolen = queue::Stolen<Task>;

 public:
  bool push_back(Task task, auto&& overflow) {
    const bool kept = Base::push_back(task, overflow);
    mark();
    return kept;
  }
  bool push_behind(Task task, auto&& overflow) { return Base::push_behind(task, overflow); }
  void push_batch(std::span<const Task> tasks) {
    Base::push_batch(tasks);
    mark();
  }
  bool pop_front(Task& task) {
    return pop_front(task, [](Task) {});
  }
  bool pop_front(Task& task, auto&& ahead) {
    if (Base::pop_front(task, fetching(ahead))) return true;
    if (std::exchange(marked_, false)) bitmap.clear(index_);
    return false;
  }
  bool rotate(Task& task, auto&& ahead) { return Base::rotate(task, fetching(ahead)); }
  Stolen steal_into(Queue& thief, std::uint32_t limit) {
    if (changes().bitmap && !bitmap.is_set(index_)) return {};
    const std::uint32_t core = index_ + 1;  // the first core is the program's
    sim::current->fence_for = core;
    const Stolen stolen = Base::steal_into(thief, limit);
    sim::current->fence_for.reset();
    if (stolen.count == 0) return stolen;
    sim::machine->count_theft(core);
    sim::spend(sim::Share::workers, copying(stolen.count, core, sim::Share::workers));
    thief.mark();
    return stolen;
  }
  [[nodiscard]] bool looks_empty() const {
    return changes().bitmap ? !bitmap.is_set(index_) : Base::looks_empty();
  }

 private:
  static auto fetching(auto& ahead) {
    return [&ahead](Task task) {
      sim::machine->prefetch(task);
      ahead(task);
    };
  }
  void mark() {
    if (changes().bitmap && !std::exchange(marked_, true)) bitmap.set(index_);
  }

  const std::uint32_t index_ = queue_count++;
  bool marked_ = false;
};

/// One injector, and the cost of its plain memory: the blocks, and the links of the tasks in it.
class PaidInjector {
  using Base = work_stealing::Policy::Injector;

 public:
  PaidInjector() { sim::machine->name(this, sizeof(*this), sim::Share::injector); }

  bool push(task::Header* task, queue::Admit admit, auto&& under_lock) {
    const AtIt at_it(*this);
    return base_.push(task, admit, [&] {
      list(1);
      under_lock();
    });
  }
  void push_batch(std::span<task::Header* const> tasks) {
    // The words are written without waiting for lines.
    const std::function<sim::Ns()> copies = [&] {
      parts_.push_back({true, tasks.size(), sim::current->index});
      return costs().access * static_cast<double>(tasks.size());
    };
    const AtIt at_it(*this);
    sim::current->section = &copies;
    base_.push_batch(tasks);
  }
  std::size_t pop_batch(std::span<task::Header*> out) {
    return pop(out, [this](std::span<task::Header*> room) { return base_.pop_batch(room); });
  }
  std::size_t pop_batch_in_passing(std::span<task::Header*> out, std::uint32_t& passed) {
    if (changes().waits) return pop_batch(out);
    return pop(out, [this, &passed](std::span<task::Header*> room) {
      return base_.pop_batch_in_passing(room, passed);
    });
  }
  void drain(auto&& sink) { base_.drain(sink); }
  void locked(auto&& section) { base_.locked(section); }
  bool close() { return base_.close(); }
  [[nodiscard]] std::size_t size() const { return base_.size(); }
  [[nodiscard]] bool looks_empty() const { return base_.looks_empty(); }

 private:
  class AtIt {
   public:
    explicit AtIt(PaidInjector& injector) : injector_(injector) { ++injector_.at_it_; }
    ~AtIt() { --injector_.at_it_; }
    AtIt(const AtIt&) = delete;
    AtIt& operator=(const AtIt&) = delete;

   private:
    PaidInjector& injector_;
  };

  std::size_t pop(std::span<task::Header*> out, auto&& from) {
    if (changes().tries && at_it_ != 0) return 0;
    const AtIt at_it(*this);
    Part walked_later;
    const std::function<sim::Ns()> takes = [&] { return take(out.size(), walked_later); };
    sim::current->section = &takes;
    const std::size_t taken = from(out);
    sim::current->section = nullptr;
    sim::spend(sim::Share::runtime, walking(walked_later));
    for (task::Header* const task : out.first(taken)) sim::machine->prefetch(task);
    return taken;
  }

  /// A block, or a run of linked tasks.
  struct Part {
    bool is_block = false;
    std::size_t count = 0;
    std::uint32_t from = 0;  // the core that began it
  };

  void list(std::size_t count) {
    if (parts_.empty() || parts_.back().is_block) {
      parts_.push_back({false, 0, sim::current->index});
    }
    parts_.back().count += count;
  }
  /// The cost of taking `most` tasks under the mutex. A list that is the only part and fits is
  /// unhooked as a whole, and walked afterwards.
  sim::Ns take(std::size_t most, Part& walked_later) {
    if (parts_.size() == 1 && !parts_.front().is_block && parts_.front().count <= most) {
      walked_later = parts_.front();
      parts_.clear();
      return 0;
    }
    sim::Ns cost = 0;
    while (most > 0 && !parts_.empty()) {
      Part& part = parts_.front();
      const std::size_t some = std::min(most, part.count);
      cost += part.is_block ? copying(some, part.from, sim::Share::injector)
                            : walking({false, some, part.from});
      most -= some;
      part.count -= some;
      if (part.count == 0) parts_.pop_front();
    }
    return cost;
  }

  /// Only the next task is known, but tasks were often allocated one after the other, so some are
  /// prefetched. kAhead is an assumption; spawn_many with one worker is still slower than measured.
  static sim::Ns walking(const Part& part) {
    constexpr double kAhead = 3;
    if (changes().free == sim::Share::injector) return 0;
    return static_cast<double>(part.count) * line_from(part.from) / kAhead;
  }

  Base base_;
  std::deque<Part> parts_;  // in the order in which they are taken
  int at_it_ = 0;           // threads that hold the mutex or wait for it
};

/// An injector for every few workers. Threads outside take turns, workers use their own; a worker
/// that finds its own empty looks into the following ones.
class Injectors {
 public:
  Injectors() {
    const std::uint32_t count = each_ == 0 ? 1 : (workers + each_ - 1) / each_;
    for (std::uint32_t i = 0; i < count; ++i) all_.push_back(std::make_unique<PaidInjector>());
  }
  bool push(task::Header* task, queue::Admit admit, auto&& under_lock) {
    return nearest().push(task, admit, under_lock);
  }
  void push_batch(std::span<task::Header* const> tasks) { nearest().push_batch(tasks); }
  std::size_t pop_batch(std::span<task::Header*> out) {
    return pop([&](PaidInjector& each) { return each.pop_batch(out); });
  }
  std::size_t pop_batch_in_passing(std::span<task::Header*> out, std::uint32_t& passed) {
    return pop([&](PaidInjector& each) { return each.pop_batch_in_passing(out, passed); });
  }
  void drain(auto&& sink) {
    for (const auto& each : all_) each->drain(sink);
  }
  void locked(auto&& section) { all_.front()->locked(section); }
  bool close() {
    bool was_open = true;
    for (const auto& each : all_) was_open = each->close() && was_open;
    return was_open;
  }
  [[nodiscard]] bool looks_empty() const {
    return std::ranges::all_of(all_, [](const auto& each) { return each->looks_empty(); });
  }

  inline static std::uint32_t workers = 0;

 private:
  // Cores are numbered as threads start: first the program's, then the workers'.
  [[nodiscard]] std::size_t nearest_index() const {
    const std::uint32_t core = sim::current->index;
    const bool is_outside = core == 0 || core > workers;
    if (is_outside) return core % all_.size();
    return (core - 1) / std::max(each_, 1U) % all_.size();
  }
  PaidInjector& nearest() { return *all_[nearest_index()]; }
  std::size_t pop(auto&& from) {
    const std::size_t own = nearest_index();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      PaidInjector& each = *all_[(own + i) % all_.size()];
      if (each.looks_empty()) continue;
      if (const std::size_t taken = from(each)) return taken;
    }
    return 0;
  }

  const std::uint32_t each_ = changes().injector_of_cluster ? sim::machine->topology().cluster
                                                            : changes().workers_per_injector;
  std::vector<std::unique_ptr<PaidInjector>> all_;
};

struct Simulated : work_stealing::Policy {
  using LocalQueue = Queue;
  using Injector = Injectors;

  static task::Polled poll(task::Header* task) noexcept {
    // Otherwise a worker that holds all lines would run ahead of the others.
    sim::spend_and_give_way(sim::Share::runtime, &sim::Costs::poll);
    homes->move_here(task);
    return task::poll(task);
  }
  static bool may_search(std::uint32_t searching, std::uint32_t workers) {
    switch (changes().searchers) {
      case 0:
        return work_stealing::Policy::may_search(searching, workers);
      case sim::Changes::kRoot:
        return std::uint64_t{searching} * searching < workers;
      default:
        return searching < changes().searchers;
    }
  }
  static bool enough_search(std::uint32_t searching) { return searching >= changes().enough; }
};

}  // namespace taskbench::rt::policies

// From here on, work_stealing names this scheduler's namespace.
#define work_stealing simulated

namespace taskbench::rt::work_stealing {
using Policy = policies::Simulated;
}

#include "runtime/scheduler/work_stealing/idle.cpp"
#include "runtime/scheduler/work_stealing/pool.cpp"
#include "runtime/scheduler/work_stealing/worker.cpp"
#include "runtime/scheduler/work_stealing/worker_set.cpp"

namespace taskbench::rt {
namespace work_stealing {

class Simulated final : public Pool {
 public:
  [[nodiscard]] static base::Ref<Pool> make(RuntimeOptions options) {
    policies::queue_count = 0;
    policies::bitmap.reset();
    policies::bitmap.name_lines();
    policies::Injectors::workers = options.workers;
    return start(base::Ref<Pool>(new Simulated(std::move(options))));
  }

  void spawn(task::Header* task) noexcept override {
    sim::spend(sim::Share::runtime, policies::costs().spawn);
    homes_.note(task);
    Pool::spawn(task);
  }

 private:
  explicit Simulated(RuntimeOptions options) : Pool(std::move(options), Worker::Pace::clock) {
    policies::homes = &homes_;
    sim::Machine& machine = *sim::machine;
    machine.name(&idle, sizeof(idle), sim::Share::idle_word);
    machine.name(&driver(), sizeof(driver()), sim::Share::waking);
    for (std::uint32_t i = 0; i < worker_count(); ++i) {
      machine.name(&worker(i), sizeof(Worker), sim::Share::workers);
    }
  }

  policies::Homes homes_;
};

}  // namespace work_stealing

base::Ref<scheduler::Engine> simulated_pool(RuntimeOptions options) {
  return work_stealing::Simulated::make(std::move(options));
}

}  // namespace taskbench::rt
