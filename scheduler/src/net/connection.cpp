// SPDX-License-Identifier: MIT
#include "connection.hpp"

#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace runq::net::detail {
namespace {

// Makes a descriptor of somebody else's non-blocking: until it is kept, only while this object exists.
class non_blocking {
 public:
  explicit non_blocking(int fd) : fd_(fd), before_(fcntl(fd, F_GETFL)) {
    if (before_ < 0) fail(errno, "runq: fcntl");
    changed_ = (before_ & O_NONBLOCK) == 0;
    // unreached: no kind of descriptor refuses it.
    if (changed_ && fcntl(fd_, F_SETFL, before_ | O_NONBLOCK) != 0) fail(errno, "runq: fcntl");
  }
  non_blocking(const non_blocking&) = delete;
  non_blocking& operator=(const non_blocking&) = delete;
  ~non_blocking() {
    if (changed_) (void)fcntl(fd_, F_SETFL, before_);
  }
  void keep() noexcept { changed_ = false; }

 private:
  const int fd_;
  const int before_;  // its flags
  bool changed_ = false;
};

}  // namespace

std::shared_ptr<connection> take_over(int fd, kind what) {
  owned_fd owner(fd);
  auto c = std::make_shared<connection>(fd, what);
  (void)owner.release();
  return c;
}

std::shared_ptr<connection> adopt(int fd) {
  non_blocking taken(fd);
  struct stat status {};
  // unreached: fcntl() has refused a number that is no descriptor.
  if (fstat(fd, &status) != 0) fail(errno, "runq: fstat");
  auto c = std::make_shared<connection>(fd, S_ISSOCK(status.st_mode) ? kind::socket : kind::other);
  taken.keep();
  return c;
}

void send_at_once(int fd) {
  const int on = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace runq::net::detail
