// What a runtime for tests can be told.
#pragma once

#include <chrono>
#include <cstddef>

namespace taskbench::rt::testing {

/// The way between two hosts, the same in both directions. Probabilities are from 0 to 1, for each
/// segment of a stream, or datagram, by itself.
struct Link {
  /// How long the way takes: for each segment drawn anew. So connections and datagrams overtake
  /// each other; a stream stays in order.
  std::chrono::nanoseconds least_latency = std::chrono::microseconds{100};
  std::chrono::nanoseconds most_latency = std::chrono::milliseconds{2};
  /// How probably it is lost. Of a stream it is sent again, after 200 ms at first: it comes late,
  /// and so does all that follows. A datagram is gone.
  double loss = 0;
  /// How probably a datagram arrives twice.
  double duplicates = 0;
  /// How probably a segment resets the connection, for both ends.
  double resets = 0;
  /// How probably a segment finds the connection forgotten on the way: its sender gets a reset; the
  /// other end hears nothing, and learns it only when it writes.
  double half_opens = 0;
  /// How probably a write is cut in two segments, which may be read one by one.
  double cuts = 0.25;
};

struct Options {
  /// Whether the clock moves on to the next timer or segment when all tasks are asleep; otherwise
  /// only Runtime::advance() moves it.
  bool advances_by_itself = true;
  /// A test that is not over after so long, by its clock, fails.
  std::chrono::nanoseconds time_limit = std::chrono::hours{1};
  /// Whether an exception that ends a task, and that nobody takes, fails the test.
  bool unhandled_exceptions_fail = true;
  /// Whether Runtime::trace() tells all that happened.
  bool trace = false;
  /// The ways between all hosts that are given none of their own.
  Link link = {};
  /// How many bytes a stream holds that were written, and not read so far.
  std::size_t window_bytes = 65'536;
};

}  // namespace taskbench::rt::testing
