// What listens to signals: a descriptor is closed only when no handler is about to write to it.
#include "runtime/signal/listeners.hpp"

#include <gtest/gtest.h>

#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

TEST(ListenersModel, a_descriptor_that_a_handler_has_found_lasts_until_it_was_written_to) {
  holds([] {
    constexpr int kSignal = 15;
    constexpr int kDescriptor = 7;
    signal::Listeners<1> listeners;
    base::Cell<int> is_open{1};
    bool told = false;
    mc::require(listeners.add(kSignal, kDescriptor), "there is room");
    base::Thread handler([&] {
      listeners.tell(kSignal, [&](int descriptor) {
        mc::require(descriptor == kDescriptor, "the one that listens");
        mc::require(is_open.get() == 1, "not closed yet");
        told = true;
      });
    });
    listeners.remove(kSignal, kDescriptor);
    is_open.set(0);
    handler.join();
    mc::sometimes("told", told);
    mc::sometimes("came too late", !told);
  });
}

}  // namespace
}  // namespace taskbench::rt::model
