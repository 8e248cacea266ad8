// A chat: every line that somebody sends goes to all others. chat [ADDRESS], by default
// 127.0.0.1:7001; try it with nc.
//
// Each guest has two tasks, which own a half of the connection each: one reads lines and hands them
// to the room, the other writes what comes in its channel. A guest who reads too slowly misses
// lines and holds up nobody.
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <taskbench/runtime/net/tcp.hpp>
#include <taskbench/runtime/runtime.hpp>
#include <taskbench/runtime/sync/mpsc.hpp>

namespace rt = taskbench::rt;
namespace net = rt::net;
namespace mpsc = rt::sync::mpsc;

namespace {

using Line = std::shared_ptr<const std::string>;

class Room {
 public:
  std::uint64_t enter(mpsc::Sender<Line> guest) {
    const std::lock_guard lock(mutex_);
    static_cast<void>(guest.try_send(std::make_shared<const std::string>(
        "welcome; others here: " + std::to_string(guests_.size()) + '\n')));
    guests_.emplace(++newest_, std::move(guest));
    return newest_;
  }
  void leave(std::uint64_t guest) {
    const std::lock_guard lock(mutex_);
    guests_.erase(guest);
  }
  void say(std::uint64_t from, std::string text) {
    const auto line = std::make_shared<const std::string>(std::move(text));
    const std::lock_guard lock(mutex_);
    for (const auto& [number, guest] : guests_) {
      if (number != from) static_cast<void>(guest.try_send(Line(line)));
    }
  }

 private:
  std::mutex mutex_;
  std::uint64_t newest_ = 0;
  std::map<std::uint64_t, mpsc::Sender<Line>> guests_;
};

rt::Task<> write_lines(net::WriteHalf out, mpsc::Receiver<Line> lines) {
  try {
    for (;;) {
      const auto line = co_await lines.recv();
      if (!line) co_return;
      co_await out.write_all(**line);
    }
  } catch (const std::system_error&) {
    // The guest has gone; the task that reads notices, too.
  }
}

rt::Task<> read_lines(net::ReadHalf in, Room& room, std::uint64_t guest) {
  const std::string name = in.peer_address().text() + ": ";
  std::string pending;
  std::array<char, 1024> buffer;
  for (;;) {
    const std::size_t size = co_await in.read(buffer);
    if (size == 0) co_return;
    pending.append(buffer.data(), size);
    for (std::size_t end; (end = pending.find('\n')) != std::string::npos;) {
      room.say(guest, name + pending.substr(0, end + 1));
      pending.erase(0, end + 1);
    }
    // Nobody makes this grow without a limit.
    if (pending.size() > 10'000) co_return;
  }
}

rt::Task<> attend(net::TcpStream stream, std::shared_ptr<Room> room) {
  auto channel = mpsc::channel<Line>(64);
  const std::uint64_t guest = room->enter(std::move(channel.first));
  auto halves = std::move(stream).split();
  rt::spawn(write_lines(std::move(halves.second), std::move(channel.second))).detach();
  try {
    co_await read_lines(std::move(halves.first), *room, guest);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  room->leave(guest);
}

rt::Task<> serve(net::SocketAddress address) {
  auto listener = net::TcpListener::bind(address);
  std::printf("listening at %s\n", listener.local_address().text().c_str());
  std::fflush(stdout);
  const auto room = std::make_shared<Room>();
  for (;;) {
    try {
      net::TcpStream stream = co_await listener.accept();
      rt::spawn(attend(std::move(stream), room)).detach();
    } catch (const std::system_error& error) {
      // Too many guests, perhaps: those who are here stay.
      std::fprintf(stderr, "%s\n", error.what());
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const auto address = net::SocketAddress::parse(argc > 1 ? argv[1] : "127.0.0.1:7001");
  rt::Runtime::Builder{}.build().block_on(serve(address));
} catch (const std::exception& error) {
  std::fprintf(stderr, "chat: %s\n", error.what());
  return 1;
}
