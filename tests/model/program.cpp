#include "tests/model/program.hpp"

#include <array>
#include <string_view>

namespace mc::testing {
namespace {

constexpr std::array<std::string_view, 3> kPlaces{"x", "y", "z"};

struct Memory {
  std::array<Atomic<int>, 3> places;
};

std::string run(const std::vector<Instruction>& thread, Memory& memory) {
  std::string reads;
  for (const Instruction& each : thread) {
    Atomic<int>& place = memory.places[static_cast<std::size_t>(each.place)];
    switch (each.kind) {
      case Instruction::Kind::read:
        reads += std::to_string(place.load(each.order));
        break;
      case Instruction::Kind::await:
        reads += std::to_string(
            place.await(each.order, [&each](int value) { return value >= each.value; }));
        break;
      case Instruction::Kind::spin: {
        int value = 0;
        while ((value = place.load(each.order)) < each.value) yield();
        reads += std::to_string(value);
        break;
      }
      case Instruction::Kind::write:
        place.store(each.value, each.order);
        break;
      case Instruction::Kind::add:
        reads += std::to_string(place.fetch_add(each.value, each.order));
        break;
      case Instruction::Kind::exchange_if:
      case Instruction::Kind::exchange_if_weak: {
        int expected = each.expected;
        const Order failure = each.order == release   ? relaxed
                              : each.order == acq_rel ? acquire
                                                      : each.order;
        const bool done =
            each.kind == Instruction::Kind::exchange_if
                ? place.compare_exchange_strong(expected, each.value, each.order, failure)
                : place.compare_exchange_weak(expected, each.value, each.order, failure);
        reads += done ? "s" : std::to_string(expected);
        break;
      }
      case Instruction::Kind::fence:
        fence(each.fence);
        break;
    }
  }
  return reads;
}

}  // namespace

Result outcomes_of(const Program& program, const Options& options, bool last) {
  return check(options, [&] {
    Memory memory;
    std::vector<std::string> reads(program.size());
    {
      std::vector<Thread> threads;
      for (std::size_t i = 0; i < program.size(); ++i) {
        threads.emplace_back([&, i] { reads[i] = run(program[i], memory); });
      }
      for (Thread& thread : threads) thread.join();
    }
    std::string text;
    for (const std::string& each : reads) text += each;
    for (std::size_t i = 0; last && i < kPlaces.size(); ++i) {
      bool is_used = false;
      for (const auto& thread : program) {
        for (const Instruction& each : thread) {
          is_used |= each.kind != Instruction::Kind::fence && each.place == static_cast<int>(i);
        }
      }
      if (!is_used) continue;
      if (!text.empty()) text += ' ';
      text += std::string(kPlaces[i]) + "=" + std::to_string(memory.places[i].load(relaxed));
    }
    outcome(text);
  });
}

std::string text_of(const Program& program) {
  constexpr std::array kOrders{"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
  constexpr std::array kFences{"acquire", "release", "acq_rel", "seq_cst", "light", "heavy"};
  constexpr std::array kNames{"R", "Await", "Spin", "W", "Add", "Cas", "WeakCas"};
  std::string text;
  for (const auto& thread : program) {
    text += "{";
    for (const Instruction& each : thread) {
      if (each.kind == Instruction::Kind::fence) {
        text += std::string(" F(") + kFences[static_cast<std::size_t>(each.fence)] + ")";
        continue;
      }
      text += std::string(" ") + kNames[static_cast<std::size_t>(each.kind)] + "(" +
              std::string(kPlaces[static_cast<std::size_t>(each.place)]);
      if (each.kind >= Instruction::Kind::exchange_if) text += ", " + std::to_string(each.expected);
      if (each.kind != Instruction::Kind::read) text += ", " + std::to_string(each.value);
      text += std::string(", ") + kOrders[static_cast<std::size_t>(each.order)] + ")";
    }
    text += " }\n";
  }
  return text;
}

}  // namespace mc::testing
