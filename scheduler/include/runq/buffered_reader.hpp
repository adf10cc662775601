// SPDX-License-Identifier: MIT
// buffered_reader: a stream in pieces: lines, what comes before a delimiter, a number of bytes.
//
// Source of the interface: Go's bufio.Reader. But a piece that has not come in full is not taken out of the buffer.
#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runq/net.hpp"
#include "runq/source_place.hpp"
#include "runq/task.hpp"

namespace runq::net {

class buffered_reader;

namespace detail {

/// What is wanted next: some bytes, or what comes before a delimiter.
class piece {
 public:
  [[nodiscard]] static piece bytes(std::size_t n) noexcept { return {n, {}, false}; }
  [[nodiscard]] static piece before(std::string_view delimiter) noexcept { return {0, delimiter, false}; }
  [[nodiscard]] static piece line() noexcept { return {0, "\n", true}; }

  /// Looks for it at the beginning of `there`, which is what it was the last time, and perhaps more. Returns how many
  /// bytes it takes out of the buffer, with its delimiter, and from then on is the piece without it.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view there) noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// The least number of bytes that it takes.
  [[nodiscard]] std::size_t at_least() const noexcept { return bytes_ + delimiter_.size(); }

 private:
  piece(std::size_t bytes, std::string_view delimiter, bool is_line) noexcept
      : bytes_(bytes), delimiter_(delimiter), is_line_(is_line) {}

  std::size_t bytes_;
  std::string_view delimiter_;  // empty: so many bytes are wanted
  bool is_line_;                // "\r\n" ends it, too
  std::size_t searched_ = 0;    // at none of the first so many bytes does a delimiter begin
  std::string_view text_;
};

/// What the operations of a buffered_reader return; it is awaited once. It starts a coroutine only if the piece is not
/// in the buffer. `View` is std::string_view or std::span<const std::byte>.
template <class View>
class [[nodiscard]] piece_awaiter {
 public:
  piece_awaiter(buffered_reader& from, piece wanted, std::stop_token stop, source_place at) noexcept
      : from_(from), wanted_(wanted), stop_(std::move(stop)), at_(at) {}
  piece_awaiter(const piece_awaiter&) = delete;
  piece_awaiter& operator=(const piece_awaiter&) = delete;

  [[nodiscard]] bool await_ready();
  template <class Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self);
  template <class Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self, source_place at) {
    at_ = at;
    return await_suspend(self);
  }
  std::optional<View> await_resume() {
    if (rest_ && !rest_->operator co_await().await_resume()) return std::nullopt;
    if constexpr (std::is_same_v<View, std::string_view>) {
      return wanted_.text();
    } else {
      return std::as_bytes(std::span(wanted_.text()));
    }
  }
  /// For with_timeout(): makes the awaiter of the same wait with a token. Throws runq::misuse if it has one.
  [[nodiscard]] auto stoppable() && {
    runq::detail::must_have_no_token(stop_);
    return [&from = from_, wanted = wanted_, at = at_](std::stop_token stop) {
      return piece_awaiter(from, wanted, std::move(stop), at);
    };
  }

 private:
  buffered_reader& from_;
  piece wanted_;
  std::stop_token stop_;
  source_place at_;
  std::optional<task<bool>> rest_;  // the coroutine that waits; false: the stream has ended
};

}  // namespace detail

/// Reads a stream in pieces. It reads as much as there is and keeps in a buffer what nobody has asked for yet.
///
/// A piece comes whole, or stays in the buffer: when an operation ends before its piece has come in full, because the
/// stream ends, or by a deadline of the stream, a stop request, with_timeout() or another error, no byte is lost. The
/// next operation, of any kind, begins with the same byte. At the end of the stream an operation returns nothing, and
/// buffered() is what is left: empty, or a piece that was cut off.
///
/// A piece is a view of the buffer. It is valid until the next operation begins, and until the reader is destroyed or
/// assigned to. A piece of more than `max_piece()` bytes, its delimiter included, is an error, std::errc::message_size,
/// and stays in the buffer, too. All errors are std::system_error, as those of stream::read(); after a stop request
/// runq::cancelled is thrown.
///
/// One task at a time uses a reader. The stream must stay where it is as long as the reader is used, and nobody else
/// may read from it; tasks may write to it meanwhile. Movable while no operation is in progress; what was moved from
/// may be destroyed and assigned to, and everything else throws runq::misuse.
///
///     auto [in, out] = runq::net::pipe();
///     co_await out.write(std::as_bytes(std::span(std::string_view("one\ntwo\n"))));
///     out.close();
///     runq::net::buffered_reader lines(in);
///     while (const auto line = co_await lines.read_line()) std::printf("%.*s\n", int(line->size()), line->data());
class buffered_reader {
 public:
  static constexpr std::size_t default_max_piece = 65'536;

  /// Throws runq::misuse when max_piece is 0. Memory for max_piece bytes is taken only when a piece needs it.
  explicit buffered_reader(stream& from, std::size_t max_piece = default_max_piece);
  buffered_reader(buffered_reader&& other) noexcept
      : from_(std::exchange(other.from_, nullptr)),
        max_piece_(other.max_piece_),
        buffer_(std::move(other.buffer_)),
        begin_(std::exchange(other.begin_, 0)),
        end_(std::exchange(other.end_, 0)) {}
  buffered_reader& operator=(buffered_reader&& other) noexcept {
    buffered_reader moved(std::move(other));
    std::swap(from_, moved.from_);
    std::swap(max_piece_, moved.max_piece_);
    buffer_.swap(moved.buffer_);
    std::swap(begin_, moved.begin_);
    std::swap(end_, moved.end_);
    return *this;
  }
  ~buffered_reader() = default;

  /// `co_await r.read_line()`: the next line, without the "\n" or "\r\n" that ends it; nothing if the stream ends
  /// before one is complete. Tasks only, as all that is awaited here. Throws std::system_error, runq::cancelled,
  /// std::bad_alloc.
  [[nodiscard]] detail::piece_awaiter<std::string_view> read_line(std::stop_token stop = {},
                                                                  source_place at = source_place::here()) {
    return {*this, detail::piece::line(), std::move(stop), at};
  }
  /// What comes before the next `delimiter`, which is taken out of the stream, too; nothing if the stream ends before
  /// one has come. The delimiter must exist until the operation has ended. Throws as read_line(); runq::misuse when the
  /// delimiter is empty.
  ///
  ///     auto [in, out] = runq::net::pipe();
  ///     runq::net::buffered_reader request(in, 8'192);
  ///     const auto header = co_await request.read_until("\r\n\r\n");
  [[nodiscard]] detail::piece_awaiter<std::string_view> read_until(std::string_view delimiter,
                                                                   std::stop_token stop = {},
                                                                   source_place at = source_place::here());
  /// The next n bytes; nothing if the stream ends before them. When n is more than max_piece(), it throws at once.
  [[nodiscard]] detail::piece_awaiter<std::span<const std::byte>> read_exactly(std::size_t n, std::stop_token stop = {},
                                                                               source_place at = source_place::here()) {
    return {*this, detail::piece::bytes(n), std::move(stop), at};
  }
  /// As stream::read(): at least one byte, at most into.size(); 0 only at the end of the stream, or if `into` is empty.
  /// What is in the buffer comes first, and then, without a copy, what the stream has: for pieces of any size.
  [[nodiscard]] task<std::size_t> read(std::span<std::byte> into, std::stop_token stop = {},
                                       source_place at = source_place::here());

  /// What was read from the stream and is in no piece yet. Valid until the next operation begins.
  [[nodiscard]] std::string_view buffered() const noexcept {
    return {reinterpret_cast<const char*>(buffer_.data()) + begin_, end_ - begin_};
  }
  [[nodiscard]] std::size_t max_piece() const noexcept { return max_piece_; }

 private:
  template <class View>
  friend class detail::piece_awaiter;

  /// Takes the piece out of the buffer, if it is there. Throws as read_line().
  [[nodiscard]] bool take(detail::piece& wanted);
  /// Reads until the piece is there, and takes it; false at the end of the stream.
  [[nodiscard]] task<bool> bring(detail::piece& wanted, std::stop_token stop, source_place at);
  void make_room();
  [[nodiscard]] stream& source() const;

  stream* from_;  // null: this was moved from
  std::size_t max_piece_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // what is in no piece yet is buffer_[begin_] up to buffer_[end_]
  std::size_t end_ = 0;
};

namespace detail {

template <class View>
bool piece_awaiter<View>::await_ready() {
  // Otherwise by a coroutine, which begins after the others.
  return !runq::detail::time_slice_over() && from_.take(wanted_);
}

template <class View>
template <class Promise>
std::coroutine_handle<> piece_awaiter<View>::await_suspend(std::coroutine_handle<Promise> self) {
  rest_.emplace(from_.bring(wanted_, std::move(stop_), at_));
  return rest_->operator co_await().await_suspend(self);
}

}  // namespace detail
}  // namespace runq::net
