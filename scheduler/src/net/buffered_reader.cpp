// SPDX-License-Identifier: MIT
// buffered_reader: what it keeps, and what it looks for.
#include "runq/buffered_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "runq/detail/core.hpp"

namespace runq::net {

namespace detail {

std::optional<std::size_t> piece::find(std::string_view there) noexcept {
  if (delimiter_.empty()) {
    if (there.size() < bytes_) return std::nullopt;
    text_ = there.substr(0, bytes_);
    return bytes_;
  }
  const std::size_t at = there.find(delimiter_, searched_);
  if (at == std::string_view::npos) {
    // The last bytes may be the beginning of a delimiter.
    if (there.size() >= delimiter_.size()) searched_ = there.size() - delimiter_.size() + 1;
    return std::nullopt;
  }
  text_ = there.substr(0, at);
  if (is_line_ && text_.ends_with('\r')) text_.remove_suffix(1);
  return at + delimiter_.size();
}

}  // namespace detail

namespace {

constexpr std::size_t first_buffer = 4096;

[[noreturn]] void throw_too_long(std::size_t max_piece) {
  throw std::system_error(EMSGSIZE, std::generic_category(),
                          "runq: a line or another piece of a stream has more than " + std::to_string(max_piece) +
                              " bytes, the buffered_reader's max_piece");
}

}  // namespace

buffered_reader::buffered_reader(stream& from, std::size_t max_piece) : from_(&from), max_piece_(max_piece) {
  if (max_piece == 0) runq::detail::throw_misuse("runq: the max_piece of a buffered_reader is 1 byte or more");
}

detail::piece_awaiter<std::string_view> buffered_reader::read_until(std::string_view delimiter, std::stop_token stop,
                                                                    source_place at) {
  if (delimiter.empty()) runq::detail::throw_misuse("runq: the delimiter of read_until() has 1 byte or more");
  return {*this, detail::piece::before(delimiter), std::move(stop), at};
}

task<std::size_t> buffered_reader::read(std::span<std::byte> into, std::stop_token stop, source_place at) {
  const auto kept = std::as_bytes(std::span(buffered()));
  if (kept.empty()) co_return co_await source().read(into, std::move(stop), at);
  const std::size_t n = std::min(into.size(), kept.size());
  std::copy_n(kept.begin(), n, into.begin());
  begin_ += n;
  co_return n;
}

bool buffered_reader::take(detail::piece& wanted) {
  if (wanted.at_least() > max_piece_) throw_too_long(max_piece_);
  const auto n = wanted.find(buffered());
  if (!n) return false;
  begin_ += *n;
  return true;
}

task<bool> buffered_reader::bring(detail::piece& wanted, std::stop_token stop, source_place at) {
  while (!take(wanted)) {
    stream& from = source();
    make_room();
    const std::size_t n = co_await from.read(std::span(buffer_).subspan(end_), stop, at);
    if (n == 0) co_return false;
    end_ += n;
  }
  co_return true;
}

// Makes sure that buffer_ has room behind end_.
void buffered_reader::make_room() {
  if (begin_ != 0) {
    const auto kept = std::span(buffer_).subspan(begin_, end_ - begin_);
    std::copy(kept.begin(), kept.end(), buffer_.begin());
    end_ = kept.size();
    begin_ = 0;
  }
  if (end_ != buffer_.size()) return;
  if (end_ == max_piece_) throw_too_long(max_piece_);
  buffer_.resize(std::min(max_piece_, std::max(first_buffer, 2 * end_)));
}

stream& buffered_reader::source() const {
  if (from_ == nullptr) {
    runq::detail::throw_misuse("runq: a buffered_reader was used after it was moved from; assign another one to it");
  }
  return *from_;
}

}  // namespace runq::net
