#include "runtime/net/address.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/runtime/allocations.hpp"

namespace taskbench::rt::net {
namespace {

void expect_refused_address(std::string_view text, std::string_view why) {
  try {
    const auto parsed = SocketAddress::parse(text);
    ADD_FAILURE() << text << " was read as " << parsed.text();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string_view(error.what()).find(why), std::string_view::npos) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(text), std::string_view::npos) << error.what();
  }
}

TEST(SocketAddress, what_is_printed_is_read_back) {
  for (const char* text :
       {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[2001:db8::7]:443",
        "[::ffff:10.0.0.1]:1", "[fe80::1%3]:80", "/run/it.sock", "unix:it.sock", "@hidden"}) {
    const auto address = SocketAddress::parse(text);
    EXPECT_EQ(address.text(), text);
    EXPECT_EQ(SocketAddress(address.data(), address.size()), address) << text;
  }
}

TEST(SocketAddress, has_a_family_and_a_port) {
  EXPECT_EQ(SocketAddress::parse("10.0.0.1:80").family(), AF_INET);
  EXPECT_EQ(SocketAddress::parse("10.0.0.1:80").port(), 80);
  EXPECT_EQ(SocketAddress::parse("[::1]:443").family(), AF_INET6);
  EXPECT_EQ(SocketAddress::parse("[::1]:443").port(), 443);
  EXPECT_EQ(SocketAddress::parse("/a").family(), AF_UNIX);
  EXPECT_EQ(SocketAddress::parse("/a").port(), 0);
  EXPECT_EQ(SocketAddress::loopback(7), SocketAddress::ip("127.0.0.1", 7));
}

TEST(SocketAddress, addresses_differ_in_each_of_their_parts) {
  const auto address = SocketAddress::parse("10.0.0.1:80");
  EXPECT_NE(address, SocketAddress::parse("10.0.0.1:81"));
  EXPECT_NE(address, SocketAddress::parse("10.0.0.2:80"));
  EXPECT_NE(address, SocketAddress::parse("[::ffff:10.0.0.1]:80"));
  EXPECT_NE(SocketAddress::parse("0.0.0.0:0"), SocketAddress());
  EXPECT_NE(SocketAddress::parse("[::1]:80"), SocketAddress::parse("[::1]:81"));
  EXPECT_NE(SocketAddress::parse("[::1]:80"), SocketAddress::parse("[::2]:80"));
  EXPECT_NE(SocketAddress::parse("[fe80::1%1]:80"), SocketAddress::parse("[fe80::1%2]:80"));
  EXPECT_NE(SocketAddress::parse("/a"), SocketAddress::parse("@/a"));
}

TEST(SocketAddress, an_interface_may_be_named) {
  EXPECT_EQ(SocketAddress::parse("[fe80::1%lo]:80"), SocketAddress::parse("[fe80::1%1]:80"));
}

TEST(SocketAddress, a_socket_without_a_name_says_so) {
  EXPECT_EQ(SocketAddress().text(), "a socket without a name");
  EXPECT_EQ(SocketAddress(nullptr, 0), SocketAddress());
  const SocketAddress unnamed;
  EXPECT_EQ(unnamed.family(), AF_UNIX);
  EXPECT_EQ(SocketAddress(unnamed.data(), unnamed.size()).text(), "a socket without a name");
}

TEST(SocketAddress, a_path_may_fill_all_of_its_place) {
  const std::string longest = '/' + std::string(106, 'x');
  EXPECT_EQ(SocketAddress::unix_path(longest).text(), longest);
  expect_refused_address(longest + 'x', "107 bytes");
}

TEST(SocketAddress, what_is_no_address_is_refused_with_what_to_write) {
  for (const char* text :
       {"", "80", "127.0.0.1", "::1:80", "[127.0.0.1]:80", "[::12:80", "1::1]:80"}) {
    expect_refused_address(text, "write 127.0.0.1:80, [::1]:80, /run/it.sock or unix:it.sock");
  }
  for (const char* text : {"127.0.0.1:", "127.0.0.1:-1", "127.0.0.1:65536", "127.0.0.1:8o"}) {
    expect_refused_address(text, "a number from 0 to 65535");
  }
  EXPECT_THROW(static_cast<void>(SocketAddress::parse("localhost:80")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(SocketAddress::parse("127.0.0.1%lo:80")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(SocketAddress::parse("[::1%nothing]:80")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(SocketAddress::parse("unix:")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(SocketAddress::unix_path(std::string("a\0b", 3))),
               std::invalid_argument);
  for (const std::string& text :
       {std::string("127.0.0.1\0.b", 12), std::string("::1\0b", 5), std::string("::1%lo\0b", 8)}) {
    EXPECT_THROW(static_cast<void>(SocketAddress::ip(text, 80)), std::invalid_argument);
  }
}

TEST(SocketAddress, a_path_that_looks_like_an_abstract_name_is_printed_as_a_path) {
  sockaddr_un file{};
  file.sun_family = AF_UNIX;
  file.sun_path[0] = '@';
  file.sun_path[1] = 'x';
  const SocketAddress address(reinterpret_cast<const sockaddr*>(&file), sizeof(file));
  EXPECT_EQ(address.text(), "unix:./@x");
  EXPECT_EQ(SocketAddress::parse(address.text()), address);
  EXPECT_NE(SocketAddress::parse("unix:@x"), address);
}

/// An address of zeros, in the system's form.
SocketAddress made_of(int family, std::size_t size) {
  sockaddr_storage storage{};
  storage.ss_family = static_cast<sa_family_t>(family);
  return {reinterpret_cast<const sockaddr*>(&storage), static_cast<socklen_t>(size)};
}

TEST(SocketAddress, other_families_and_cut_addresses_are_refused) {
  EXPECT_THROW(made_of(AF_NETLINK, sizeof(sockaddr_storage)), std::invalid_argument);
  EXPECT_THROW(made_of(AF_INET, sizeof(sockaddr_in) - 1), std::invalid_argument);
  EXPECT_THROW(made_of(AF_INET6, sizeof(sockaddr_in)), std::invalid_argument);
  EXPECT_THROW(made_of(AF_UNIX, sizeof(sockaddr_storage)), std::invalid_argument);
}

TEST(SocketAddress, what_follows_an_address_is_no_part_of_it) {
  EXPECT_EQ(made_of(AF_INET, sizeof(sockaddr_storage)).size(), sizeof(sockaddr_in));
  EXPECT_EQ(made_of(AF_INET6, sizeof(sockaddr_storage)).size(), sizeof(sockaddr_in6));
}

TEST(SocketAddress, the_last_copy_gives_its_memory_back) {
  // Many, as a thread that another test has left behind may free something meanwhile.
  constexpr std::size_t kMany = 1000;
  const std::size_t before = tests::allocations() - tests::deallocations();
  for (std::size_t i = 0; i < kMany; ++i) {
    const auto address = SocketAddress::ip("::1", 80);
    const auto copy = address;
  }
  EXPECT_LT(tests::allocations() - tests::deallocations(), before + kMany / 2);
}

}  // namespace
}  // namespace taskbench::rt::net
