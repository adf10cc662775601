// SPDX-License-Identifier: MIT
// channel: values handed from task to task.
//
// Source: Go's channels (runtime/chan.go): a bounded buffer under a lock, direct hand-over to a waiting task, waiters
// first come, first served. Models: models/cases/scheduler/channel/.
#pragma once

#include <coroutine>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <utility>

#include "runq/detail/temporaries.hpp"
#include "runq/protocol/waiting.hpp"
#include "runq/task.hpp"

namespace runq {

enum class channel_result : unsigned char {
  done,    ///< the value was handed over, or is in the buffer
  closed,  ///< the channel is closed (and, for a receiver, empty)
  waits    ///< neither: the other side is not ready
};

namespace detail {

/// Memory for `n` elements, aligned for them even if the policy's memory is not.
template <class T, class Atomics>
class element_room {
  static constexpr std::size_t slack = alignof(T) > alignof(std::max_align_t) ? alignof(T) - alignof(std::max_align_t)
                                                                              : 0;

 public:
  /// The most elements that any memory has room for.
  static constexpr std::size_t most = (std::numeric_limits<std::ptrdiff_t>::max() - slack) / sizeof(T);

  /// n <= most. Throws std::bad_alloc.
  explicit element_room(std::size_t n) {
    if (n == 0) return;
    std::size_t bytes = n * sizeof(T) + slack;
    memory_ = Atomics::allocate(bytes);
    if (memory_ == nullptr) throw std::bad_alloc();
    void* first = memory_;
    first_ = static_cast<T*>(std::align(alignof(T), n * sizeof(T), first, bytes));
  }
  element_room(const element_room&) = delete;
  element_room& operator=(const element_room&) = delete;
  ~element_room() {
    if (memory_ != nullptr) Atomics::deallocate(memory_);
  }
  [[nodiscard]] T* at(std::size_t i) const noexcept { return first_ + i; }

 private:
  void* memory_ = nullptr;
  T* first_ = nullptr;
};

/// A task that waits to receive, and the place for its value: a T exists there if `ok` says so. The compiler may put
/// the value into the padding behind the flags.
template <class T, class Policy = task_waiting>
struct receiver : waiter<Policy> {
  receiver() noexcept {}
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;
  /// The task is in no list, and no thread is about to wake it.
  ~receiver() {
    if (this->ok.get()) std::destroy_at(&value);
  }
  union {
    T value;
  };
};

/// A task that waits to send, and its value.
template <class T, class Policy = task_waiting>
struct sender : waiter<Policy> {
  explicit sender(T&& sent) : value(std::move(sent)) {}
  T value;
};

/// A channel without its coroutines. Every operation takes the lock for a few dozen instructions, and wakes tasks after
/// it has released the lock.
template <class T, class Policy = task_waiting>
class channel_core {
  using atomics = typename Policy::atomics;
  using node = waiter<Policy>;
  using competitor = competing_waiter<Policy>;
  using room = element_room<T, atomics>;

 public:
  static constexpr std::size_t max_capacity = room::most;

  /// capacity <= max_capacity. Throws std::bad_alloc.
  explicit channel_core(std::size_t capacity) : capacity_(capacity), buffer_(capacity) {}
  channel_core(const channel_core&) = delete;
  channel_core& operator=(const channel_core&) = delete;
  ~channel_core() {
    {
      // The lock orders this after what tasks on other machines did when they began to wait.
      const std::lock_guard guard(mutex_);
      receivers_.forget_all();
      senders_.forget_all();
    }
    while (size_.get() != 0) drop_first();
  }

  /// Sends, or says why not; `value` is moved from only when the result is `done`.
  [[nodiscard]] channel_result send(T& value) { return send(value, nullptr); }
  /// Sends the value of `w`; if that cannot be done, puts the task among the waiting senders, and the result is
  /// `waits`: from then on another machine may run the task at any moment. `w.ok` says then whether the value was sent.
  [[nodiscard]] channel_result send_or_wait(sender<T, Policy>& w) { return send(w.value, &w); }

  /// Receives into `value`, or says why not.
  [[nodiscard]] channel_result receive(std::optional<T>& value) { return receive(value, nullptr); }
  /// Receives the value of `w`; if that cannot be done, puts the task among the waiting receivers, as send_or_wait().
  [[nodiscard]] channel_result receive_or_wait(receiver<T, Policy>& w) { return receive(w, &w); }

  /// Closes the channel; false if it was closed already.
  [[nodiscard]] bool close() {
    wake_list<Policy> woken;
    {
      const std::lock_guard guard(mutex_);
      if (closed_.get()) return false;
      closed_.set(true);
      for (wait_list<Policy>* const list : {&receivers_, &senders_}) {
        while (node* const w = list->pop_front()) {
          bool must_wake = false;
          if (!w->wins(must_wake)) continue;
          w->ok.set(false);
          woken.add(*w, must_wake);
        }
      }
    }
    woken.wake_all();
    return true;
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return size_.get();
  }

  // For select, which locks several channels at once.

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  [[nodiscard]] channel_result send_locked(T& value, wake_list<Policy>& woken) {
    if (closed_.get()) return channel_result::closed;
    bool must_wake = false;
    if (node* const r = first_winner(receivers_, must_wake)) {
      hand_over(*r, value);
      r->ok.set(true);
      woken.add(*r, must_wake);
      return channel_result::done;
    }
    if (size_.get() != capacity_) {
      put_last(value);
      return channel_result::done;
    }
    return channel_result::waits;
  }

  /// Receives into `to`: a std::optional<T>, or a receiver.
  template <class To>
  [[nodiscard]] channel_result receive_locked(To& to, wake_list<Policy>& woken) {
    bool must_wake = false;
    if (size_.get() != 0) {
      hand_over(to, *buffer_.at(first_.get()));
      drop_first();
      // If a task waits to send, the buffer was full, and now has room for that task's value.
      if (node* const s = first_winner(senders_, must_wake)) {
        put_last(value_of(*s));
        s->ok.set(true);
        woken.add(*s, must_wake);
      }
      return channel_result::done;
    }
    if (node* const s = first_winner(senders_, must_wake)) {
      hand_over(to, value_of(*s));
      s->ok.set(true);
      woken.add(*s, must_wake);
      return channel_result::done;
    }
    if (closed_.get()) return channel_result::closed;
    return channel_result::waits;
  }

  // `w` holds the address of a T to send, or of a std::optional<T> to receive into.
  void enlist_sender(competitor& w) { senders_.push_back(w); }
  void enlist_receiver(competitor& w) { receivers_.push_back(w); }
  void forget_sender(node& w) { senders_.remove(w); }
  void forget_receiver(node& w) { receivers_.remove(w); }

  // To be called when a task is destroyed while its waiter `w` waits().

  void leave_senders(node& w) { (void)leave(senders_, w, mutex_); }
  void leave_receivers(node& w) { (void)leave(receivers_, w, mutex_); }

 private:
  // The first waiter that no other thread has claimed (a select may have been woken by another channel).
  [[nodiscard]] static node* first_winner(wait_list<Policy>& list, bool& must_wake) {
    while (node* const w = list.pop_front()) {
      if (w->wins(must_wake)) return w;
    }
    return nullptr;
  }

  [[nodiscard]] channel_result send(T& value, node* w) {
    wake_list<Policy> woken;
    channel_result result = channel_result::waits;
    {
      const std::lock_guard guard(mutex_);
      result = send_locked(value, woken);
      if (result == channel_result::waits && w != nullptr) senders_.push_back(*w);
    }
    woken.wake_all();
    return result;
  }
  template <class To>
  [[nodiscard]] channel_result receive(To& to, node* w) {
    wake_list<Policy> woken;
    channel_result result = channel_result::waits;
    {
      const std::lock_guard guard(mutex_);
      result = receive_locked(to, woken);
      if (result == channel_result::waits && w != nullptr) receivers_.push_back(*w);
    }
    woken.wake_all();
    return result;
  }

  // The value of a task that waits to send.
  [[nodiscard]] static T& value_of(node& s) {
    return s.competes ? *static_cast<T*>(static_cast<competitor&>(s).value.get())
                      : static_cast<sender<T, Policy>&>(s).value;
  }

  // The moves of values must not throw: the lock is held, and a waiter may have been claimed that must now be woken.

  static void hand_over(std::optional<T>& to, T& from) noexcept { to.emplace(std::move(from)); }
  static void hand_over(receiver<T, Policy>& to, T& from) noexcept { construct(&to.value, from); }
  // To a task that waits to receive.
  static void hand_over(node& to, T& from) noexcept {
    if (to.competes) {
      hand_over(*static_cast<std::optional<T>*>(static_cast<competitor&>(to).value.get()), from);
    } else {
      hand_over(static_cast<receiver<T, Policy>&>(to), from);
    }
  }
  static void construct(T* at, T& from) noexcept { ::new (static_cast<void*>(at)) T(std::move(from)); }

  void put_last(T& value) {
    construct(buffer_.at((first_.get() + size_.get()) % capacity_), value);
    size_.set(size_.get() + 1);
  }
  void drop_first() {
    std::destroy_at(buffer_.at(first_.get()));
    first_.set((first_.get() + 1) % capacity_);
    size_.set(size_.get() - 1);
  }

  template <class U>
  using cell = typename atomics::template cell<U>;

  // The lock protects all of it, except capacity_ and the buffer's address, which never change.
  mutable typename atomics::mutex mutex_;
  const std::size_t capacity_;
  const room buffer_;
  cell<std::size_t> first_{std::size_t{0}};
  cell<std::size_t> size_{std::size_t{0}};
  cell<bool> closed_{false};
  wait_list<Policy> receivers_;
  wait_list<Policy> senders_;
};

}  // namespace detail

namespace detail {
template <class T>
class channel_handle;
// In select.hpp.
template <class T>
class stoppable_send;
template <class T>
class stoppable_receive;
}  // namespace detail

template <class T>
class receive_arm;
template <class T>
class send_arm;

/// A queue of values between tasks, bounded, first in, first out. With capacity 0 a send waits until a task receives.
/// Waiting senders and receivers are served in the order in which they came; a value is handed directly to a receiver
/// that waits. Any number of tasks may call all operations at the same time; any thread may call those that are not
/// awaited.
///
/// T is movable, of any alignment. The channel is locked while a T is moved into it or out of it: a move that throws
/// ends the process (std::terminate), and neither moves nor T's destructor may use the channel. The channel must
/// outlive the operations on it, with one exception: tasks that wait when their run ends are destroyed, with the values
/// that they were to send or had just been given, and the channel, if it still exists, forgets them.
///
///     runq::channel<int> numbers(3);
///     co_await numbers.send(42);
///     numbers.close();
///     while (auto n = co_await numbers.receive()) std::printf("%d\n", *n);
template <class T>
class channel {
  using core = detail::channel_core<T>;

  // What both awaiters do with their waiters.
  static void prepare(detail::waiter<detail::task_waiting>& w, std::coroutine_handle<> self, wait_reason reason,
                      source_place at) {
    w.who.set(&detail::fall_asleep(self, reason, at));
  }
  // Whether the task waits.
  [[nodiscard]] static bool settle(detail::waiter<detail::task_waiting>& w, channel_result now) noexcept {
    w.ok.set(now == channel_result::done);
    return detail::preempt_or_go_on(*w.who.get());
  }

 public:
  using value_type = T;

  /// The most values that any memory has room for: PTRDIFF_MAX bytes of them.
  static constexpr std::size_t max_capacity = core::max_capacity;

  /// A channel with room for `capacity` values. Throws runq::misuse when that is more than max_capacity, std::bad_alloc
  /// when there is no memory for them.
  explicit channel(std::size_t capacity = 0) : core_(checked(capacity)) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  class [[nodiscard]] send_awaiter {
   public:
    send_awaiter(core& on, T&& value) : on_(on), waiter_(std::move(value)) {}
    send_awaiter(const send_awaiter&) = delete;
    send_awaiter& operator=(const send_awaiter&) = delete;
    ~send_awaiter() {
      if (waiter_.waits()) on_.leave_senders(waiter_);
    }
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
      prepare(waiter_, self, wait_reason::chan_send, at);
      // After `waits` another machine may have destroyed this awaiter.
      const channel_result now = on_.send_or_wait(waiter_);
      return now == channel_result::waits || settle(waiter_, now);
    }
    void await_resume() {
      waiter_.who.set(nullptr);
      if (!waiter_.ok.get()) detail::throw_misuse("send on closed channel");
    }
    /// For with_timeout(): makes the awaiter of the same wait with a token. It is called once, and moves the value on.
    [[nodiscard]] auto stoppable() && {
      return [&on = on_, value = std::move(waiter_.value)](std::stop_token stop) mutable {
        return detail::stoppable_send<T>(on, std::move(value), std::move(stop));
      };
    }

   private:
    core& on_;
    detail::sender<T> waiter_;
  };

  class [[nodiscard]] receive_awaiter {
   public:
    explicit receive_awaiter(core& on) noexcept : on_(on) {}
    receive_awaiter(const receive_awaiter&) = delete;
    receive_awaiter& operator=(const receive_awaiter&) = delete;
    ~receive_awaiter() {
      if (waiter_.waits()) on_.leave_receivers(waiter_);
    }
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
      prepare(waiter_, self, wait_reason::chan_receive, at);
      const channel_result now = on_.receive_or_wait(waiter_);
      return now == channel_result::waits || settle(waiter_, now);
    }
    [[nodiscard]] std::optional<T> await_resume() {
      waiter_.who.set(nullptr);
      if (!waiter_.ok.get()) return std::nullopt;
      return std::optional<T>(std::move(waiter_.value));
    }
    /// For with_timeout(): makes the awaiter of the same wait with a token.
    [[nodiscard]] auto stoppable() && noexcept {
      return [&on = on_](std::stop_token stop) { return detail::stoppable_receive<T>(on, std::move(stop)); };
    }

   private:
    core& on_;
    detail::receiver<T> waiter_;
  };

  /// `co_await c.send(v)` returns when the value is in the buffer or a receiver has it. Throws runq::misuse("send
  /// on closed channel"), also when the channel is closed while it waits. Tasks only.
  ///
  /// g++ up to 12 destroys a lambda or an aggregate `T{…}` twice when it is a temporary beside a co_await
  /// (docs/limits.md), and the library cannot tell such a temporary from std::move(value). With these compilers send an
  /// aggregate with destructors as `c.send({x, 1})`, `c.send({std::move(value)})` or `c.send({co_await f()})`, and give
  /// a lambda a name first. Anything else does not compile.
  [[nodiscard]] send_awaiter send(detail::by_value<T> value) { return send_awaiter(core_, std::move(value)); }
  template <detail::destroyed_twice Temporary>
  [[nodiscard]] auto send(Temporary&& value) {
    static_assert(!detail::destroyed_twice<Temporary>,
                  "g++ up to 12 would destroy this temporary twice: write c.send({x, 1}) for a new aggregate, "
                  "c.send({std::move(value)}) for one with a name, c.send({co_await f()}) for a result; "
                  "give a lambda a name first");
    return send_awaiter(core_, std::forward<Temporary>(value));  // so that this is the only error
  }
  /// `co_await c.receive()` returns the next value, or nothing when the channel is closed and empty. Tasks only.
  [[nodiscard]] receive_awaiter receive() noexcept { return receive_awaiter(core_); }

  /// Like send(v) and receive(), but a stop request that comes before or while they wait ends them, and runq::cancelled
  /// is thrown. Then the value of the send() is destroyed, and no other task has it; the receive() has taken no value.
  /// Dumps show them as a select. Defined in runq/select.hpp.
  [[nodiscard]] detail::stoppable_send<T> send(detail::by_value<T> value, std::stop_token stop) {
    return detail::stoppable_send<T>(core_, std::move(value), std::move(stop));
  }
  template <detail::destroyed_twice Temporary>
  [[nodiscard]] auto send(Temporary&& value, std::stop_token) {
    return send(std::forward<Temporary>(value));  // which refuses it, and says why
  }
  [[nodiscard]] detail::stoppable_receive<T> receive(std::stop_token stop) {
    return detail::stoppable_receive<T>(core_, std::move(stop));
  }

  /// Sends if that needs no waiting; `value` is moved from only when the result is `done`. Any thread.
  [[nodiscard]] channel_result try_send(T& value) { return core_.send(value); }
  [[nodiscard]] channel_result try_send(T&& value) { return core_.send(value); }
  /// Receives if that needs no waiting. Any thread.
  [[nodiscard]] channel_result try_receive(std::optional<T>& value) { return core_.receive(value); }

  /// Closes the channel: no value can be sent any more, and those in the buffer can still be received. All waiting
  /// tasks go on. Throws runq::misuse("close of closed channel"). Any thread.
  void close() {
    if (!core_.close()) detail::throw_misuse("close of closed channel");
  }

  /// The number of values in the buffer a moment ago. Any thread.
  [[nodiscard]] std::size_t size() const { return core_.size(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return core_.capacity(); }

 private:
  friend receive_arm<T>;
  friend send_arm<T>;
  friend detail::channel_handle<T>;
  [[nodiscard]] static std::size_t checked(std::size_t capacity) {
    if (capacity > max_capacity) {
      detail::throw_misuse("runq: the capacity of a channel must be at most channel<T>::max_capacity");
    }
    return capacity;
  }
  core core_;
};

}  // namespace runq
