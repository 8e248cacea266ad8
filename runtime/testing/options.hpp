// The options of a runtime for tests.
#pragma once

#include <chrono>
#include <cstddef>

namespace taskbench::rt::testing {

/// The link between two hosts, the same in both directions. Probabilities are from 0 to 1, and hold
/// for each segment of a stream, or datagram, separately.
struct Link {
  /// The bounds of the latency, which is drawn anew for each segment. So connections and datagrams
  /// overtake each other; a stream stays in order.
  std::chrono::nanoseconds least_latency = std::chrono::microseconds{100};
  std::chrono::nanoseconds most_latency = std::chrono::milliseconds{2};
  /// The probability of loss. A lost segment of a stream is sent again, after 200 ms at first: it
  /// comes late, and so does all that follows. A lost datagram is gone.
  double loss = 0;
  /// The probability that a datagram arrives twice.
  double duplicates = 0;
  /// The probability that a segment resets the connection, for both ends.
  double resets = 0;
  /// The probability that a segment finds the connection forgotten on the way: its sender gets a
  /// reset; the other end learns of it only when it writes.
  double half_opens = 0;
  /// The probability that a write is cut into two segments, which may be read one by one.
  double cuts = 0.25;
};

struct Options {
  /// Whether the clock moves on to the next timer or segment when all tasks are asleep; otherwise
  /// only Runtime::advance() moves it.
  bool advances_by_itself = true;
  /// A test fails if it takes longer than this, by its own clock.
  std::chrono::nanoseconds time_limit = std::chrono::hours{1};
  /// Whether an exception that ends a task, and that nobody takes, fails the test.
  bool unhandled_exceptions_fail = true;
  /// Whether Runtime::trace() tells all that happened.
  bool trace = false;
  /// The links between all hosts that are given none of their own.
  Link link = {};
  /// How many written but unread bytes a stream holds.
  std::size_t window_bytes = 65'536;
};

}  // namespace taskbench::rt::testing
