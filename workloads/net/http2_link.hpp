// An HTTP/2 session on a socket: a task in which one coroutine reads and another writes, and a
// channel through which other tasks give it instructions.
//
// Each batch that arrives is one read, and all output that results from it, if ready soon, is one
// write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/net/tcp.hpp"
#include "runtime/runtime.hpp"
#include "runtime/sync/mpsc.hpp"
#include "workloads/net/http2_session.hpp"

namespace taskbench::workloads::net {

/// The session belongs to the task that runs this link. `Note` is the type of other tasks'
/// messages; it must have a constructor.
template <class Note>
class Http2Link {
 public:
  Http2Link(const Http2Link&) = delete;
  Http2Link& operator=(const Http2Link&) = delete;

 protected:
  /// nullopt: there is something to send.
  using Notes = rt::sync::mpsc::UnboundedSender<std::optional<Note>>;

  /// The session need not exist before run().
  Http2Link(rt::net::TcpStream& stream, Http2Session& session)
      : stream_(stream),
        session_(session),
        channel_(rt::sync::mpsc::unbounded_channel<std::optional<Note>>()) {}
  ~Http2Link() = default;

  /// Can be copied, and used from any thread.
  [[nodiscard]] const Notes& notes() const { return channel_.first; }

  /// Runs until the session is over, or the peer ends the stream. Throws std::system_error.
  rt::Task<> run() { co_await rt::select(read_all(), write_all()); }

  /// Called after the session has received data.
  virtual void on_received() = 0;
  virtual void on_note(Note& note) = 0;
  /// Whether notes are expected soon.
  [[nodiscard]] virtual bool expects_notes() const = 0;
  /// Called after the session was asked for output, which is being written if `writes`.
  virtual void on_sending(bool writes) = 0;

 private:
  static constexpr std::size_t kSmallestRead_bytes = 4'096;
  static constexpr std::size_t kLargestRead_bytes = 32'768;
  static constexpr std::size_t kKept_bytes = 16'384;

  rt::Task<> read_all() {
    std::vector<char> in(kSmallestRead_bytes);
    for (;;) {
      const std::size_t size = co_await stream_.read(in);
      if (size == 0) co_return;
      session_.receive({in.data(), size});
      on_received();
      const bool has_news = session_.wants_to_send() || session_.is_over();
      if (has_news && !std::exchange(is_writer_told_, true)) (void)channel_.first.send({});
      if (size == in.size()) in.resize(std::min(2 * size, kLargestRead_bytes));
    }
  }

  rt::Task<> write_all() {
    std::string out;
    for (;;) {
      out.clear();
      session_.send(out);
      on_sending(!out.empty());
      if (!out.empty()) {
        co_await stream_.write_all(out);
        if (out.capacity() > kKept_bytes) out = {};
      } else {
        if (session_.is_over()) co_return;
        std::optional<std::optional<Note>> first = co_await channel_.second.recv();
        if (expects_notes()) co_await rt::yield_now();
        take(*first);
      }
      while (std::optional<std::optional<Note>> next = channel_.second.try_recv()) take(*next);
    }
  }

  void take(std::optional<Note>& note) {
    if (note) {
      on_note(*note);
    } else {
      is_writer_told_ = false;
    }
  }

  rt::net::TcpStream& stream_;
  Http2Session& session_;
  bool is_writer_told_ = false;
  std::pair<Notes, rt::sync::mpsc::Receiver<std::optional<Note>>> channel_;
};

}  // namespace taskbench::workloads::net
