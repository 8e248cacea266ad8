// What the driver keeps for a descriptor: an event makes the right directions ready, the next owner
// of a number starts afresh, and after the end of the runtime nothing waits.
#include "runtime/driver/registration.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include "runtime/driver/driver.hpp"

namespace taskbench::rt::driver {
namespace {

using State = Readiness::State;

State taken(Readiness& direction) { return direction.take(nullptr); }

/// Expects that each direction can be taken once, for a call that tries.
void expect_to_be_new(Registration& registration) {
  for (Readiness* const direction : {&registration.reading(), &registration.writing()}) {
    EXPECT_EQ(taken(*direction), State::yes);
    EXPECT_EQ(taken(*direction), State::no);
  }
}

class RegistrationTest : public ::testing::Test {
 protected:
  ~RegistrationTest() override { ::close(descriptor_); }

  Registration& add() { return driver_->registrations().add(*driver_, descriptor_); }

  const int descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const base::Ref<Driver> driver_{new Driver(0)};
};

TEST_F(RegistrationTest, an_event_makes_its_own_direction_ready) {
  Registration registration;
  expect_to_be_new(registration);
  registration.on_events(EPOLLIN);
  EXPECT_EQ(taken(registration.writing()), State::no);
  EXPECT_EQ(taken(registration.reading()), State::yes);
  registration.on_events(EPOLLOUT);
  EXPECT_EQ(taken(registration.reading()), State::no);
  EXPECT_EQ(taken(registration.writing()), State::yes);
}

TEST_F(RegistrationTest, G2_the_next_of_a_number_begins_anew) {
  Registration& registration = add();
  expect_to_be_new(registration);
  registration.is_owned = true;
  registration.retire();
  EXPECT_EQ(&add(), &registration);
  EXPECT_FALSE(registration.is_owned);
  expect_to_be_new(registration);
  registration.on_events(EPOLLHUP);  // both readable and writable, until a call fails
  registration.retire();
  EXPECT_EQ(&add(), &registration);
  expect_to_be_new(registration);
  registration.retire();
}

TEST_F(RegistrationTest, nothing_has_to_wait_that_is_added_after_the_end) {
  driver_->registrations().close();
  Registration& late = add();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(taken(late.reading()), State::closed);
    EXPECT_EQ(taken(late.writing()), State::closed);
  }
  late.retire();
}

TEST_F(RegistrationTest, what_is_refused_is_refused_for_its_own_reason) {
  Registration& registration = add();
  std::string text;
  try {
    static_cast<void>(add());
  } catch (const std::system_error& error) {
    text = error.what();
  }
  EXPECT_EQ(text, "watch descriptor " + std::to_string(descriptor_) + ": File exists");
  registration.retire();
}

}  // namespace
}  // namespace taskbench::rt::driver
