// SPDX-License-Identifier: MIT
// chase_lev: an unbounded LIFO deque with one owner at the bottom and any number of thieves at the top: the deque of
// fork/join schedulers.
//
// Source of the algorithm: David Chase and Yossi Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005), with the
// memory orders of Nhat Minh Lê, Antoniu Pop, Albert Cohen and Francesco Zappa Nardelli, "Correct and Efficient
// Work-Stealing for Weak Memory Models" (PPoPP 2013), corrected: the array is published by release and read by acquire;
// elements are published by a release store instead of a fence, and so the store that reserves one in pop() is a
// release as well. Contract, protocol in steps and rejected designs: docs/queues/chase_lev.md. Models:
// models/cases/queues/chase_lev/.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

/// A deque that grows. The owner pushes and pops the newest element, thieves take the oldest.
///
/// One thread at a time holds the `owner`; any thread may hold a `thief`. Only a push into a full array allocates;
/// nothing locks. The deque must outlive its handles.
///
/// T        trivially copyable and lock-free: a pointer or a small integer
/// Atomics  the policy (runq/atomics.hpp)
template <class T, class Atomics = std_atomics>
class basic_chase_lev {
  static_assert(detail::is_slot_value<T>);

  template <class U>
  using atomic = typename Atomics::template atomic<U>;
  template <class U>
  using cell = typename Atomics::template cell<U>;

  // Signed: on an empty deque at 0 the owner's pop looks at bottom - 1.
  using index = std::int64_t;

 public:
  using value_type = T;
  class owner;
  class thief;

  /// Nothing is allocated before the first push, which makes room for `initial_capacity` elements, rounded up to a
  /// power of two, at least 2.
  explicit basic_chase_lev(std::size_t initial_capacity = 64) noexcept
      : top_(index{0}), bottom_(index{0}), array_(nullptr), initial_capacity_(power_of_two(initial_capacity)) {}
  basic_chase_lev(const basic_chase_lev&) = delete;
  basic_chase_lev& operator=(const basic_chase_lev&) = delete;

  /// Frees all arrays. Nobody may be using a handle any more. Elements still inside are not touched.
  ~basic_chase_lev() {
    // [chase_lev.destroy] relaxed: all other threads are done, and that happened before.
    array* a = array_.load(std::memory_order::relaxed);
    while (a != nullptr) a = array::destroy(a);
  }

  /// The one owner handle. Debug builds stop when a second one is made while the first exists.
  [[nodiscard]] owner make_owner() noexcept { return owner(*this); }

  /// A thief handle. Any thread, any number of them.
  [[nodiscard]] thief make_thief() const noexcept { return thief(*this); }

 private:
  // A power of two of slots, addressed by index modulo capacity. An array that was outgrown is kept until the deque is
  // destroyed: a thief that read the pointer long ago may still look at a slot of it. All arrays that were outgrown
  // together are smaller than the one in use, since each is half of the next.
  class array {
   public:
    /// An array of `capacity` slots that keeps `outgrown` alive, or nullptr when there is no memory for it.
    [[nodiscard]] static array* make(std::size_t capacity, array* outgrown) noexcept {
      if (capacity > (std::numeric_limits<std::size_t>::max() - sizeof(array)) / sizeof(atomic<T>)) return nullptr;
      void* const memory = Atomics::allocate(sizeof(array) + capacity * sizeof(atomic<T>));
      if (memory == nullptr) return nullptr;
      array* const a = ::new (memory) array(capacity, outgrown);
      for (std::size_t i = 0; i != capacity; ++i) ::new (static_cast<void*>(a->slots() + i)) atomic<T>;
      return a;
    }
    /// Frees `a` and returns the array that it kept alive.
    static array* destroy(array* a) noexcept {
      array* const outgrown = a->outgrown_;
      for (std::size_t i = 0; i != a->capacity(); ++i) a->slots()[i].~atomic<T>();
      a->~array();
      Atomics::deallocate(a);
      return outgrown;
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_.get(); }
    [[nodiscard]] atomic<T>& slot(index at) noexcept {
      return slots()[static_cast<std::size_t>(at) & (capacity() - 1)];
    }

   private:
    array(std::size_t capacity, array* outgrown) noexcept : capacity_(capacity), outgrown_(outgrown) {}
    [[nodiscard]] atomic<T>* slots() noexcept { return std::launder(reinterpret_cast<atomic<T>*>(this + 1)); }

    // Plain, and read by thieves: a model reports an array that was not published properly.
    const cell<std::size_t> capacity_;
    array* const outgrown_;
  };
  static_assert(sizeof(array) % alignof(atomic<T>) == 0);

  [[nodiscard]] static constexpr std::size_t power_of_two(std::size_t at_least) noexcept {
    std::size_t n = 2;
    while (n < at_least && n <= std::numeric_limits<std::size_t>::max() / 2) n *= 2;
    return n;
  }

  // Advanced by compare-exchange by thieves, and by the owner for the last element; read by everybody. Only grows.
  alignas(cache_line) mutable atomic<index> top_;
  // Written by the owner only; read by everybody.
  alignas(cache_line) atomic<index> bottom_;
  // Written by the owner only (growth); read by everybody.
  atomic<array*> array_;
  // Owner only: a value that top_ once had. top_ only grows, so it errs on the side of "full".
  cell<index> top_seen_{index{0}};
  // Owner only: whether an owner handle exists.
  cell<bool> owned_{false};
  const std::size_t initial_capacity_;
};

/// The owner's side: push and pop at the bottom. Move-only, used by one thread at a time; moving it hands the deque
/// over.
template <class T, class Atomics>
class basic_chase_lev<T, Atomics>::owner {
 public:
  owner(owner&& other) noexcept : deque_(std::exchange(other.deque_, nullptr)), guard_(std::move(other.guard_)) {}
  owner& operator=(owner&& other) noexcept {
    if (this != &other) {
      release();
      deque_ = std::exchange(other.deque_, nullptr);
      guard_ = std::move(other.guard_);
    }
    return *this;
  }
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;
  ~owner() { release(); }

  /// Adds one element at the bottom. Returns false, and changes nothing, when the array is full and there is no memory
  /// for a larger one. Owner only. Wait-free but for the allocation and copy of a growth, which double the capacity.
  [[nodiscard]] bool push(T value) noexcept {
    enter();
    basic_chase_lev& d = *deque_;
    // [chase_lev.push.bottom] relaxed: the owner is the only writer.
    const index b = d.bottom_.load(std::memory_order::relaxed);
    array* const a = array_with_room(b);
    if (a == nullptr) return false;
    // [chase_lev.push.slot] relaxed: published by [chase_lev.push.publish]; thieves with an old top may be reading it.
    a->slot(b).store(value, std::memory_order::relaxed);
    // [chase_lev.push.publish] release: pairs with [chase_lev.steal.bottom]; weaker: a thief takes a slot not yet
    // written, or a task whose contents it cannot see. A store rather than a fence, so that ThreadSanitizer sees it
    // too.
    d.bottom_.store(b + 1, std::memory_order::release);
    return true;
  }

  /// Takes the newest element, or nothing when the deque is empty or a thief got the last one. Owner only. Wait-free.
  [[nodiscard]] std::optional<T> pop() noexcept {
    enter();
    basic_chase_lev& d = *deque_;
    // [chase_lev.pop.bottom] relaxed: the owner is the only writer.
    const index b = d.bottom_.load(std::memory_order::relaxed) - 1;
    // [chase_lev.pop.array] relaxed: the owner is the only writer.
    array* const a = d.array_.load(std::memory_order::relaxed);
    if (a == nullptr) return std::nullopt;
    // [chase_lev.pop.reserve] release: pairs with [chase_lev.steal.bottom], as [chase_lev.push.publish] for the
    // elements below: since C++20 a relaxed store would end the release sequence of their publication.
    d.bottom_.store(b, std::memory_order::release);
    // [chase_lev.pop.fence] seq_cst: pairs with [chase_lev.steal.fence]: either the thief sees the smaller bottom, or
    // this load sees the thief's top; weaker: both take the last element.
    Atomics::fence(std::memory_order::seq_cst);
    // [chase_lev.pop.top] relaxed: ordered by the fence.
    index t = d.top_.load(std::memory_order::relaxed);
    if (t > b) {
      // [chase_lev.pop.restore] relaxed: the fence above, a release fence too, publishes what came before it.
      d.bottom_.store(b + 1, std::memory_order::relaxed);
      return std::nullopt;
    }
    // [chase_lev.pop.slot] relaxed: the owner wrote it.
    const T value = a->slot(b).load(std::memory_order::relaxed);
    if (t < b) return value;
    // The last element: owner and thieves meet at top.
    // [chase_lev.pop.claim] seq_cst: pairs with [chase_lev.steal.claim]. Relaxed on failure: the value is dropped.
    // kept: no model objects to relaxed, but the published proof is for seq_cst, and larger programs are not searched.
    const bool claimed =
        d.top_.compare_exchange_strong(t, t + 1, std::memory_order::seq_cst, std::memory_order::relaxed);
    // [chase_lev.pop.reset] relaxed: as [chase_lev.pop.restore].
    d.bottom_.store(b + 1, std::memory_order::relaxed);
    if (!claimed) return std::nullopt;
    return value;
  }

  /// Elements in the deque; thieves may have taken some by the time it returns. Owner only. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept { return make_thief().size_approx(); }

  /// Elements that fit before the next growth would allocate; 0 before the first push. Owner only. Wait-free.
  [[nodiscard]] std::size_t capacity() const noexcept {
    // [chase_lev.capacity] relaxed: the owner is the only writer.
    array* const a = deque_->array_.load(std::memory_order::relaxed);
    return a == nullptr ? 0 : a->capacity();
  }

  /// A thief handle on this deque.
  [[nodiscard]] thief make_thief() const noexcept {
    require_deque();
    return deque_->make_thief();
  }

  /// Makes the next thread that uses this handle its owner, as a move would. The hand-over must happen-before that use.
  void rebind() noexcept { guard_.rebind(); }

 private:
  friend class basic_chase_lev;

  explicit owner(basic_chase_lev& deque) noexcept : deque_(&deque) {
    Atomics::check(!deque.owned_.get(), "chase_lev: make_owner() was called twice; a deque has one owner");
    deque.owned_.set(true);
  }

  void release() noexcept {
    if (deque_ != nullptr) deque_->owned_.set(false);
  }

  void require_deque() const noexcept {
    Atomics::check(deque_ != nullptr, "chase_lev: this owner handle has been moved from");
  }

  void enter() noexcept {
    require_deque();
    guard_.check(
        "chase_lev: an owner operation was called from a second thread; only one thread may push and pop. "
        "Move the owner handle, or call rebind(), to hand the deque over");
  }

  // The array, with a free slot for index b; grown if need be; nullptr when that fails.
  [[nodiscard]] array* array_with_room(index b) noexcept {
    basic_chase_lev& d = *deque_;
    // [chase_lev.push.array] relaxed: the owner is the only writer.
    array* const a = d.array_.load(std::memory_order::relaxed);
    if (a == nullptr) return publish(array::make(d.initial_capacity_, nullptr));
    const index capacity = static_cast<index>(a->capacity());
    if (b - d.top_seen_.get() < capacity) return a;
    // [chase_lev.push.top] acquire: pairs with [chase_lev.steal.claim]: a thief has read its slot before it is
    // overwritten. kept: no model objects to relaxed, but then only a control dependency keeps the slot's store behind
    // this load, and C++ does not promise that.
    const index t = d.top_.load(std::memory_order::acquire);
    d.top_seen_.set(t);
    if (b - t < capacity) return a;
    return publish(grown(a, t, b));
  }

  // A copy of `a` of twice the capacity that holds the elements t … b-1 at their indices, or nullptr.
  [[nodiscard]] static array* grown(array* a, index t, index b) noexcept {
    array* const larger = array::make(2 * a->capacity(), a);
    if (larger == nullptr) return nullptr;
    for (index i = t; i != b; ++i) {
      // [chase_lev.grow.old] relaxed: the owner wrote it.
      const T value = a->slot(i).load(std::memory_order::relaxed);
      // [chase_lev.grow.new] relaxed: published by [chase_lev.grow.publish].
      larger->slot(i).store(value, std::memory_order::relaxed);
    }
    return larger;
  }

  array* publish(array* a) noexcept {
    // [chase_lev.grow.publish] release: pairs with [chase_lev.steal.array]; weaker: a thief reads slots of an array
    // whose contents it cannot see.
    if (a != nullptr) deque_->array_.store(a, std::memory_order::release);
    return a;
  }

  basic_chase_lev* deque_;
  detail::owner_guard<Atomics> guard_;
};

/// The thieves' side. Copyable; any thread, at any time.
template <class T, class Atomics>
class basic_chase_lev<T, Atomics>::thief {
 public:
  /// Takes the oldest element. `lost` means that the owner or another thread took it first: with the last element, the
  /// owner may have, by a pop that began before this call and has not returned yet. `empty` means that at some moment
  /// of the call nothing was there, or only the element that the owner was popping. One attempt, wait-free.
  [[nodiscard]] steal_result<T> steal() const noexcept {
    // [chase_lev.steal.top] relaxed: the fence below makes it an acquire.
    index t = deque_->top_.load(std::memory_order::relaxed);
    // [chase_lev.steal.fence] seq_cst: pairs with [chase_lev.pop.fence]; weaker: as there.
    Atomics::fence(std::memory_order::seq_cst);
    // [chase_lev.steal.bottom] acquire: pairs with [chase_lev.push.publish]; weaker: as there.
    const index b = deque_->bottom_.load(std::memory_order::acquire);
    if (t >= b) return {};
    // [chase_lev.steal.array] acquire: pairs with [chase_lev.grow.publish]; weaker: as there.
    array* const a = deque_->array_.load(std::memory_order::acquire);
    Atomics::check(a != nullptr, "chase_lev: a thief sees an element but not the array that holds it");
    // [chase_lev.steal.slot] relaxed: may be garbage until the claim succeeds; never dereferenced before. An array that
    // was outgrown meanwhile still holds the element: it is not written any more.
    const T value = a->slot(t).load(std::memory_order::relaxed);
    // [chase_lev.steal.claim] seq_cst: pairs with [chase_lev.pop.claim]; and, as a release, with [chase_lev.push.top]:
    // the slot was read before the owner may reuse it. Strong: a spurious failure would be reported as a lost race.
    // Relaxed on failure: the value is dropped. kept: no model objects to release, but the published proof is for
    // seq_cst, and larger programs are not searched.
    if (!deque_->top_.compare_exchange_strong(t, t + 1, std::memory_order::seq_cst, std::memory_order::relaxed)) {
      return {steal_status::lost, T{}, 0};
    }
    return {steal_status::taken, value, 1};
  }

  /// Whether there is something to take: the question to ask before going to sleep. About the last element, while the
  /// owner is popping it, it may say either. Wait-free.
  [[nodiscard]] bool has_work() const noexcept {
    // [chase_lev.has_work.top] acquire: the bottom read next is no older than this top. kept: no model of a deque alone
    // objects to relaxed, but the answer decides who sleeps and who is woken.
    const index t = deque_->top_.load(std::memory_order::acquire);
    // [chase_lev.has_work.bottom] acquire: pairs with [chase_lev.push.publish]. kept: as [chase_lev.has_work.top].
    return t < deque_->bottom_.load(std::memory_order::acquire);
  }

  /// A guess at the number of elements, for statistics and for choosing victims. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    // [chase_lev.size.bottom] relaxed: a guess.
    const index b = deque_->bottom_.load(std::memory_order::relaxed);
    // [chase_lev.size.top] relaxed: a guess.
    const index t = deque_->top_.load(std::memory_order::relaxed);
    return b > t ? static_cast<std::size_t>(b - t) : 0;
  }

 private:
  friend class basic_chase_lev;
  explicit thief(const basic_chase_lev& deque) noexcept : deque_(&deque) {}

  const basic_chase_lev* deque_;
};

template <class T>
using chase_lev = basic_chase_lev<T>;

}  // namespace runq

#endif  // C++20
