// SPDX-License-Identifier: MIT
// What the tests of streams and listeners share.
#pragma once

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.hpp"

namespace sched_test {

inline constexpr unsigned longest_net_test = 120;  // in s; after that an alarm ends the program

inline std::set<int> open_descriptors() {
  std::set<int> open;
  for (int fd = 0; fd != 4096; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) open.insert(fd);
  }
  return open;
}

// Checks that after a test the same descriptors are open as before.
class net_fixture : public testing::Test {
 protected:
  void SetUp() override {
    alarm(longest_net_test);
    before_ = open_descriptors();
  }
  void TearDown() override {
    EXPECT_EQ(open_descriptors(), before_);
    alarm(0);
  }

 private:
  std::set<int> before_;
};

using stream_pair = std::pair<runq::net::stream, runq::net::stream>;

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Reads until there are n bytes or the stream ends.
inline runq::task<std::string> read_text(runq::net::stream& from, std::size_t n) {
  std::string text(n, '\0');
  std::size_t have = 0;
  while (have != n) {
    const std::size_t more = co_await from.read(std::as_writable_bytes(std::span(text)).subspan(have));
    if (more == 0) break;
    have += more;
  }
  text.resize(have);
  co_return text;
}

inline runq::task<> write_text(runq::net::stream& to, std::string text) { co_await to.write(bytes_of(text)); }

/// Where the number of an error is wanted: runq::cancelled was thrown.
inline constexpr int was_cancelled = -2;

/// The number of the error that `operation` throws, was_cancelled, or 0 if it succeeds.
template <class T>
runq::task<int> error_of(T operation) {
  int error = 0;
  try {
    static_cast<void>(co_await operation);
  } catch (const std::system_error& e) {
    error = e.code().value();
  } catch (const runq::cancelled&) {
    error = was_cancelled;
  }
  co_return error;
}

inline runq::task<int> error_of_read(runq::net::stream& s, std::stop_token stop = {}) {
  std::byte got{};
  co_return co_await error_of(runq::task<std::size_t>(s.read(std::span(&got, 1), stop)));
}

inline runq::task<int> error_of_write(runq::net::stream& s, std::size_t n = 1, std::stop_token stop = {}) {
  const std::vector<std::byte> bytes(n);
  co_return co_await error_of(runq::task<>(s.write(bytes, stop)));
}

inline constexpr std::size_t more_than_buffers = std::size_t{1} << 20;  // for pipes and socket pairs; in bytes

/// Waits until the scheduler's dump shows a task that waits for a descriptor. False: that took longer than `patience`.
inline runq::task<bool> somebody_waits(runq::scheduler& s) {
  const auto end = runq::clock::now() + patience;
  while (s.dump().find("[IO wait]") == std::string::npos) {
    if (runq::clock::now() > end) co_return false;
    co_await runq::yield();
  }
  co_return true;
}

inline runq::task<stream_pair> tcp_pair(std::string address = "127.0.0.1") {
  runq::net::listener l = runq::net::listen_tcp(address, 0);
  runq::net::stream client = co_await runq::net::connect_tcp(address, l.port());
  runq::net::stream server = co_await l.accept();
  co_return stream_pair(std::move(client), std::move(server));
}

inline bool has_ipv6() {
  const int fd = socket(AF_INET6, SOCK_STREAM, 0);
  if (fd < 0) return false;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return bound;
}

class folder {
 public:
  folder() {
    if (mkdtemp(name_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(name_); }
  [[nodiscard]] std::string file(const char* name) const { return name_ + "/" + name; }

 private:
  std::string name_ = (std::filesystem::temp_directory_path() / "runq_net_XXXXXX").string();
};

}  // namespace sched_test
