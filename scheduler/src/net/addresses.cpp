// SPDX-License-Identifier: MIT
// Addresses: whom a name or a path means; listening at one, and connecting to one.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "connection.hpp"
#include "runq/blocking.hpp"
#include "runq/net.hpp"
#include "runq/spawn.hpp"

namespace runq::net {

using detail::access;
using detail::by_request;
using detail::code_of;
using detail::connection;
using detail::fail;
using detail::kind;
using detail::owned_fd;

namespace {

class lookup_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "runq::net::lookup"; }
  [[nodiscard]] std::string message(int error) const override { return gai_strerror(error); }
};

}  // namespace

const std::error_category& lookup_errors() noexcept {
  static const lookup_category category;
  return category;
}

namespace {

struct free_addresses {
  void operator()(addrinfo* a) const noexcept { freeaddrinfo(a); }
};
using addresses = std::unique_ptr<addrinfo, free_addresses>;

// "localhost" and names that end in ".localhost" mean this machine, whatever a file or a server may say: RFC 6761, 6.3.
// Case does not matter, and the name may end with the root's dot.
bool means_loopback(std::string_view host) {
  constexpr std::string_view local = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < local.size()) return false;
  const std::string_view end = host.substr(host.size() - local.size());
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::equal(end.begin(), end.end(), local.begin(), same) &&
         (host.size() == local.size() || host[host.size() - local.size() - 1] == '.');
}

// The addresses of `host`; for "", those of this machine's loopback.
addresses look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error == EAI_SYSTEM) fail(errno, "getaddrinfo");
  if (error != 0) throw std::system_error(error, lookup_errors(), "runq: " + host);
  return addresses(found);
}

int new_socket(int family) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) fail(errno, "socket");
  return fd;
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The kernel would take an empty path for a name that all processes of the machine share.
  if (path.empty()) fail(ENOENT, "runq: path of a Unix socket");
  if (path.size() >= sizeof address.sun_path) fail(ENAMETOOLONG, "runq: path of a Unix socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// Binds the new socket `fd` to `address`, and listens at it.
listener listen_by(owned_fd fd, const sockaddr* address, socklen_t size) {
  const bool unix_socket = address->sa_family == AF_UNIX;
  const int on = 1;
  if (!unix_socket) (void)setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), address, size) != 0) fail(errno, "bind");
  std::unique_ptr<detail::socket_file> file;
  if (unix_socket) {
    file = std::make_unique<detail::socket_file>(reinterpret_cast<const sockaddr_un*>(address)->sun_path);
  }
  // unreached: a stream socket that is bound can listen.
  if (::listen(fd.get(), SOMAXCONN) != 0) fail(errno, "listen");
  const auto c = detail::take_over(fd.release(), unix_socket ? kind::socket : kind::tcp);
  c->keep(std::move(file));
  return access::make_listener(c);
}

bool has_no_ipv6(int error) noexcept {
  return error == EAFNOSUPPORT || error == EPROTONOSUPPORT || error == EADDRNOTAVAIL || error == ENOPROTOOPT;
}

// Listens at all addresses of both families.
listener listen_everywhere(std::uint16_t port) {
  sockaddr_in6 all{};
  all.sin6_family = AF_INET6;
  all.sin6_port = htons(port);
  owned_fd fd(new_socket(AF_INET6));
  const int off = 0;
  // unreached: a socket of IPv6 takes this option.
  if (setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) fail(errno, "setsockopt");
  return listen_by(std::move(fd), reinterpret_cast<const sockaddr*>(&all), sizeof all);
}

listener listen_everywhere_by_ipv4(std::uint16_t port) {
  sockaddr_in all{};
  all.sin_family = AF_INET;
  all.sin_port = htons(port);
  return listen_by(owned_fd(new_socket(AF_INET)), reinterpret_cast<const sockaddr*>(&all), sizeof all);
}

// Connects the new socket of `c`; returns 0 or an error.
task<int> connect_socket(connection& c, const sockaddr* address, socklen_t size, std::stop_token stop,
                         source_place at) {
  const connection::attempt in_progress(&c);
  const int fd = c.open_fd();
  if (::connect(fd, address, size) == 0) co_return 0;
  int error = errno;
  if (error != EINPROGRESS) co_return error;
  for (;;) {
    error = co_await c.wait(c.writing(), stop, at);
    if (error != 0) co_return error;
    socklen_t length = sizeof error;
    // unreached: every socket answers.
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) co_return errno;
    if (error != 0) co_return error;
    sockaddr_storage peer{};
    socklen_t peer_size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0) co_return 0;
  }
}

// A connection, or an error.
struct dialed {
  std::shared_ptr<connection> to;
  int error = 0;
};

task<dialed> dial(const sockaddr* address, socklen_t size, std::stop_token stop, source_place at) {
  const int family = address->sa_family;
  dialed result;
  if (stop.stop_requested()) {
    result.error = by_request;
    co_return result;
  }
  try {
    result.to = detail::take_over(new_socket(family), family == AF_UNIX ? kind::socket : kind::tcp);
  } catch (const std::system_error& e) {
    result.error = e.code().value();
    co_return result;
  }
  if (family != AF_UNIX) detail::send_at_once(result.to->open_fd());
  result.error = co_await connect_socket(*result.to, address, size, std::move(stop), at);
  if (result.error != 0) result.to.reset();
  co_return result;
}

// Tries the addresses in their order.
task<dialed> dial_first_of(const addrinfo* found, std::stop_token stop, source_place at) {
  dialed result;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    result = co_await dial(a->ai_addr, a->ai_addrlen, stop, at);
    if (result.error == 0 || result.error == by_request) break;
  }
  co_return result;
}

task<dialed> dial_unix(const std::string& path, std::stop_token stop, source_place at) {
  const sockaddr_un address = unix_address(path);
  co_return co_await dial(reinterpret_cast<const sockaddr*>(&address), sizeof address, std::move(stop), at);
}

task<addresses> look_up_in_call(std::string host, std::uint16_t port, source_place at) {
  co_return co_await runq::detail::placed(
      blocking([&host, port] { return look_up(means_loopback(host) ? "" : host, port, 0); }), at);
}

// A look-up cannot be ended. So where somebody may ask for that, it is a task of its own, which is then left behind.
task<addresses> look_up_peer(std::string host, std::uint16_t port, std::stop_token stop, source_place at) {
  if (stop.stop_requested()) throw cancelled();
  task<addresses> call = look_up_in_call(std::move(host), port, at);
  if (!stop.stop_possible()) co_return co_await call;
  spawned<addresses> alone = spawn(std::move(call));
  co_return co_await runq::detail::placed(alone.wait(std::move(stop)), at);
}

stream stream_to(dialed result) {
  detail::throw_if(result.error, "connect");
  return access::make_stream(std::move(result.to));
}

std::optional<stream> stream_or_error(dialed result, std::error_code& error) {
  error = code_of(result.error);
  if (error) return std::nullopt;
  return access::make_stream(std::move(result.to));
}

template <class Listen>
std::optional<listener> listener_or_error(Listen listen, std::error_code& error) {
  error.clear();
  try {
    return listen();
  } catch (const std::system_error& e) {
    error = e.code();
    return std::nullopt;
  }
}

}  // namespace

listener listen_tcp(const std::string& address, std::uint16_t port) {
  if (!address.empty()) {
    // A name means one address, as in Go: the IPv4 one, which every machine has.
    const addresses found = look_up(means_loopback(address) ? "127.0.0.1" : address, port, AI_PASSIVE | AI_NUMERICHOST);
    return listen_by(owned_fd(new_socket(found->ai_family)), found->ai_addr, found->ai_addrlen);
  }
  try {
    return listen_everywhere(port);
  } catch (const std::system_error& e) {
    if (!has_no_ipv6(e.code().value())) throw;
  }
  return listen_everywhere_by_ipv4(port);
}

std::optional<listener> listen_tcp(const std::string& address, std::uint16_t port, std::error_code& error) {
  return listener_or_error([&] { return listen_tcp(address, port); }, error);
}

stoppable_task<stream> connect_tcp(std::string host, std::uint16_t port, std::stop_token stop, source_place at) {
  task<addresses> looks_up = look_up_peer(std::move(host), port, stop, at);
  const addresses found = co_await looks_up;
  dialed result = co_await dial_first_of(found.get(), std::move(stop), at);
  co_return stream_to(std::move(result));
}

stoppable_task<std::optional<stream>> connect_tcp(std::string host, std::uint16_t port, std::error_code& error,
                                                  std::stop_token stop, source_place at) {
  addresses found;
  error.clear();
  try {
    task<addresses> looks_up = look_up_peer(std::move(host), port, stop, at);
    found = co_await looks_up;
  } catch (const cancelled&) {
    error = code_of(by_request);
  } catch (const std::system_error& e) {
    error = e.code();
  }
  if (error) co_return std::nullopt;
  dialed result = co_await dial_first_of(found.get(), std::move(stop), at);
  co_return stream_or_error(std::move(result), error);
}

listener listen_unix(const std::string& path) {
  const sockaddr_un address = unix_address(path);
  return listen_by(owned_fd(new_socket(AF_UNIX)), reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

std::optional<listener> listen_unix(const std::string& path, std::error_code& error) {
  return listener_or_error([&] { return listen_unix(path); }, error);
}

stoppable_task<stream> connect_unix(std::string path, std::stop_token stop, source_place at) {
  dialed result = co_await dial_unix(path, std::move(stop), at);
  co_return stream_to(std::move(result));
}

stoppable_task<std::optional<stream>> connect_unix(std::string path, std::error_code& error, std::stop_token stop,
                                                   source_place at) {
  dialed result;
  try {
    result = co_await dial_unix(path, std::move(stop), at);
  } catch (const std::system_error& e) {
    result.error = e.code().value();  // the path is too long
  }
  co_return stream_or_error(std::move(result), error);
}

}  // namespace runq::net
