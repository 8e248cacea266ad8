// Makes the system refuse threads.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>

namespace taskbench::rt::tests {

/// While it lives, the system gives no thread, as there is no room for its stack. Not under the
/// sanitizers, which make threads in their own way.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t attributes;
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    EXPECT_EQ(pthread_getattr_default_np(&attributes), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{1} << 60), 0);
    EXPECT_EQ(pthread_setattr_default_np(&attributes), 0);
    pthread_attr_destroy(&attributes);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

}  // namespace taskbench::rt::tests
