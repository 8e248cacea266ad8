// A storm of many-to-many channels: tasks on several runtimes and plain threads send and receive,
// give up, leave and close.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/sync/mpmc.hpp"
#include "tests/stress/storm.hpp"

namespace taskbench::rt::stress {
namespace {

namespace mpmc = sync::mpmc;

struct Mail {
  std::atomic<long> sent{0};
  std::atomic<long> received{0};
};

Task<> sends_on(mpmc::Sender<Entry> sender, Mail* mail, Account* account, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Entry entry(*account);
    const bool sent = co_await sender.send(std::move(entry));
    if (!sent) co_return;
    mail->sent.fetch_add(1);
  }
}

Task<> receives_on(mpmc::Receiver<Entry> receiver, Mail* mail) {
  for (;;) {
    const std::optional<Entry> entry = co_await receiver.recv();
    if (!entry) co_return;
    mail->received.fetch_add(1);
  }
}

/// Sends and receives without waiting.
void visit(const mpmc::Sender<Entry>& sender, const mpmc::Receiver<Entry>& receiver, Mail& mail,
           Account& account, std::uint64_t choices) {
  Random random(choices);
  for (std::uint64_t i = below(random, 200); i != 0; --i) {
    if (one_in(random, 2)) {
      if (sender.try_send(Entry(account)) == sync::TrySend::sent) mail.sent.fetch_add(1);
    } else if (receiver.try_recv()) {
      mail.received.fetch_add(1);
    }
  }
}

TEST(MpmcStorm, of_ends_that_send_receive_give_up_and_close) {
  storm([](Random& random) {
    Account account;
    Mail mail;
    long left = 0;
    {
      auto ends = mpmc::channel<Entry>(1 + below(random, 5));
      mpmc::Receiver<Entry> last = ends.second;
      {
        Runtime one = any_runtime(random, any_scheduler(random));
        Runtime other = any_runtime(random, any_pool(random));
        std::vector<JoinHandle<void>> handles;
        for (std::uint64_t i = below(random, 16); i != 0; --i) {
          Runtime& where = one_in(random, 2) ? one : other;
          handles.push_back(one_in(random, 2) ? where.spawn(sends_on(ends.first, &mail, &account,
                                                                     below(random, 300)))
                                              : where.spawn(receives_on(ends.second, &mail)));
        }
        std::thread visitor([ends, &mail, &account, choices = random()] {
          visit(ends.first, ends.second, mail, account, choices);
        });
        for (JoinHandle<void>& each : handles) {
          if (one_in(random, 3)) each.abort();
        }
        visitor.join();
        if (one_in(random, 2)) ends.first.close();
        { const auto gone = std::move(ends); }
        // A receiver ends when all senders have; a sender, when somebody receives its messages.
        one.block_on(receives_on(last, &mail));
      }
      while (last.try_recv()) ++left;
      EXPECT_TRUE(last.is_drained());
    }
    EXPECT_EQ(mail.sent.load(), mail.received.load() + left);
    EXPECT_EQ(account.created.load(), account.destroyed.load());
  });
}

}  // namespace
}  // namespace taskbench::rt::stress
