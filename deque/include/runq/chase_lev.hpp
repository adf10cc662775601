// SPDX-License-Identifier: MIT
// chase_lev: a LIFO deque, unbounded or bounded, with one owner at the bottom and any number of thieves at the top: the
// deque of fork/join schedulers.
//
// Source of the algorithm: David Chase and Yossi Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005), with the
// memory orders of Nhat Minh Lê, Antoniu Pop, Albert Cohen and Francesco Zappa Nardelli, "Correct and Efficient
// Work-Stealing for Weak Memory Models" (PPoPP 2013), corrected: the array is published by release and read by acquire;
// elements are published by a release store instead of a fence, and so all stores of pop() are releases as well. The
// owner's fence is the light one of a pair, and the thief's the heavy one, so a policy can make pops cheaper at the
// thieves' expense (runq/membarrier.hpp). Contract, protocol in steps and rejected designs: docs/queues/chase_lev.md.
// Models: models/cases/queues/chase_lev/.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

/// What a push into a full deque does: makes the deque twice as large, or returns false.
enum class when_full : bool { grow, refuse };

/// How far push_batch() came: `rest` is the iterator's position behind the `count` elements that it pushed.
template <class Iterator>
struct batch_pushed {
  Iterator rest;
  std::size_t count = 0;
};

/// A deque. The owner pushes and pops the newest element, thieves take the oldest.
///
/// One thread at a time holds the `owner`; any thread may hold a `thief`. Only a push into a full array allocates, and
/// only where the deque grows; no operation locks. The deque must outlive its handles.
///
/// T        trivially copyable and lock-free: a pointer or a small integer
/// Atomics  the policy (runq/atomics.hpp)
/// Full     `grow`: unbounded; `refuse`: bounded, and the constructor alone allocates
template <class T, class Atomics = std_atomics, when_full Full = when_full::grow>
class basic_chase_lev {
  static_assert(detail::is_slot_value<T>);

  template <class U>
  using atomic = typename Atomics::template atomic<U>;
  template <class U>
  using cell = typename Atomics::template cell<U>;

  // Signed, because the owner's pop from an empty deque at index 0 computes bottom - 1.
  using index = std::int64_t;

 public:
  using value_type = T;
  using atomics = Atomics;
  template <class Policy>
  using with_policy = basic_chase_lev<T, Policy, Full>;
  class owner;
  class thief;

  /// Room for `capacity` elements, rounded up to a power of two, at least 2. A deque that grows allocates nothing
  /// before its first push. A bounded one allocates here; if there is no memory its capacity() is 0, and no push
  /// succeeds.
  explicit basic_chase_lev(std::size_t capacity = 64) noexcept
      : basic_chase_lev(detail::queue_memory<Atomics>(), capacity) {}
  /// The same with memory from `source`. Only the constructor, the owner's pushes and the destructor call it, so no two
  /// threads do so at once.
  template <memory_source Source>
  basic_chase_lev(std::size_t capacity, Source& source) noexcept
      : basic_chase_lev(detail::queue_memory<Atomics>(source), capacity) {}
  basic_chase_lev(const basic_chase_lev&) = delete;
  basic_chase_lev& operator=(const basic_chase_lev&) = delete;

  /// Frees all arrays. No thread may use a handle any more. Elements still inside are not touched.
  ~basic_chase_lev() {
    // [chase_lev.destroy] relaxed: all uses by other threads happened before the destructor.
    array* a = array_.load(std::memory_order::relaxed);
    while (a != nullptr) a = array::destroy(a, memory_);
  }

  /// The one owner handle. In debug builds making a second one while the first exists ends the program.
  [[nodiscard]] owner make_owner() noexcept { return owner(*this); }

  /// A thief handle. Any thread, any number of them.
  [[nodiscard]] thief make_thief() const noexcept { return thief(*this); }

  /// The number of elements that the deque can hold before a push has to grow it, or fails; before the first push of a
  /// deque that grows, the number for which that push will make room. Any thread. Wait-free.
  [[nodiscard]] std::size_t capacity() const noexcept {
    // [chase_lev.capacity] acquire: pairs with [chase_lev.grow.publish]; weaker: this thread reads the size of an array
    // whose contents it cannot see.
    const array* const a = array_.load(std::memory_order::acquire);
    return a == nullptr ? initial_capacity_ : a->capacity();
  }

 private:
  template <class>
  friend class one_object;
  using made_of = std::size_t;  // by one_object's constructor
  class array;

  basic_chase_lev(detail::queue_memory<Atomics> memory, std::size_t capacity) noexcept
      : basic_chase_lev(memory, capacity,
                        Full == when_full::refuse ? array::make(power_of_two(capacity), nullptr, memory) : nullptr) {}
  basic_chase_lev(detail::queue_memory<Atomics> memory, std::size_t capacity, array* made) noexcept
      : top_(index{0}),
        bottom_(index{0}),
        array_(made),
        full_at_(made == nullptr ? 0 : static_cast<index>(made->capacity())),
        memory_(memory),
        initial_capacity_(Full == when_full::refuse ? 0 : power_of_two(capacity)) {}

  // The elements of `unused`, and its array; nobody else uses either deque meanwhile. `unused` is empty then, and has
  // no memory: one that grows allocates at its next push, a bounded one has the capacity 0.
  basic_chase_lev(basic_chase_lev&& unused) noexcept
      : top_(read(unused.top_)),
        bottom_(read(unused.bottom_)),
        array_(read(unused.array_)),
        full_at_(unused.full_at_.get()),
        memory_(unused.memory_),
        initial_capacity_(unused.initial_capacity_) {
    // [chase_lev.move.array] relaxed: nobody else is there.
    unused.array_.store(nullptr, std::memory_order::relaxed);
    // [chase_lev.move.bottom] relaxed: nobody else is there.
    unused.bottom_.store(read(unused.top_), std::memory_order::relaxed);
    unused.full_at_.set(0);
  }
  template <class U>
  [[nodiscard]] static U read(const atomic<U>& of_unused) noexcept {
    // [chase_lev.move.read] relaxed: nobody else is there.
    return of_unused.load(std::memory_order::relaxed);
  }

  // An array of slots, addressed by index modulo capacity, which is a power of two. An outgrown array is kept until the
  // deque is destroyed, because a thief that read its address long ago may still read its slots. Together the outgrown
  // arrays are smaller than the one in use: each has half the capacity of the next.
  class array {
   public:
    /// An array of `capacity` slots that keeps `outgrown` alive, or nullptr when there is no memory for it.
    [[nodiscard]] static array* make(std::size_t capacity, array* outgrown,
                                     const detail::queue_memory<Atomics>& memory) noexcept {
      if (capacity > (std::numeric_limits<std::size_t>::max() - sizeof(array)) / sizeof(atomic<T>)) return nullptr;
      void* const room = memory.allocate(bytes(capacity));
      if (room == nullptr) return nullptr;
      array* const a = ::new (room) array(capacity, outgrown);
      for (std::size_t i = 0; i != capacity; ++i) ::new (a->room(i)) atomic<T>;
      return a;
    }
    /// Frees `a` and returns the array that it kept alive.
    static array* destroy(array* a, const detail::queue_memory<Atomics>& memory) noexcept {
      array* const outgrown = a->outgrown_;
      const std::size_t capacity = a->capacity();
      for (std::size_t i = 0; i != capacity; ++i) a->slot(static_cast<index>(i)).~atomic<T>();
      a->~array();
      memory.deallocate(a, bytes(capacity));
      return outgrown;
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return last_slot_.get() + 1; }
    [[nodiscard]] atomic<T>& slot(index at) noexcept {
      return *std::launder(static_cast<atomic<T>*>(room(static_cast<std::size_t>(at) & last_slot_.get())));
    }

   private:
    [[nodiscard]] static std::size_t bytes(std::size_t capacity) noexcept {
      return sizeof(array) + capacity * sizeof(atomic<T>);
    }
    array(std::size_t capacity, array* outgrown) noexcept : last_slot_(capacity - 1), outgrown_(outgrown) {}
    // Where slot i is.
    [[nodiscard]] void* room(std::size_t i) noexcept {
      return reinterpret_cast<std::byte*>(this + 1) + i * sizeof(atomic<T>);
    }

    // Plain memory that thieves read: so a model reports a data race if the array was not published properly.
    const cell<std::size_t> last_slot_;  // the capacity less 1
    array* const outgrown_;
  };
  static_assert(sizeof(array) % alignof(atomic<T>) == 0);

  [[nodiscard]] static constexpr std::size_t power_of_two(std::size_t at_least) noexcept {
    std::size_t n = 2;
    while (n < at_least && n <= std::numeric_limits<std::size_t>::max() / 2) n *= 2;
    return n;
  }

  // Thieves advance it by compare-exchange, and so does the owner for the last element; all threads read it. It only
  // grows.
  alignas(cache_line) mutable atomic<index> top_;
  // Written by the owner only; read by all threads.
  alignas(cache_line) atomic<index> bottom_;
  // Written by the owner only (growth); read by all threads.
  atomic<array*> array_;
  // Owner only: a value that top_ once had, and the capacity. Each smaller index has room, because top_ only grows; a
  // larger one may have room, too. 0 if there is no array.
  cell<index> full_at_{index{0}};
  template <class, class>
  friend class detail::owner_handle;
  static constexpr detail::owner_misuse misuse{
      "chase_lev: make_owner() was called twice; a deque has one owner",
      "chase_lev: this owner handle has been moved from",
      "chase_lev: an owner operation was called from a second thread; only one thread may push and pop. "
      "Move the owner handle, or call rebind(), to hand the deque over"};
  detail::owner_flag<Atomics> owned_;
  const detail::queue_memory<Atomics> memory_;  // used by the owner, the constructor and the destructor
  const std::size_t initial_capacity_;
};

/// The owner's side: push and pop at the bottom. Move-only, used by one thread at a time; moving it hands the deque
/// over.
template <class T, class Atomics, when_full Full>
class basic_chase_lev<T, Atomics, Full>::owner : public detail::owner_handle<basic_chase_lev, Atomics> {
  using handle = detail::owner_handle<basic_chase_lev, Atomics>;

 public:
  /// Adds one element at the bottom. Returns false, and changes nothing, when the deque is full and is bounded or finds
  /// no memory. Owner only. Wait-free, except when it grows: that allocates twice the capacity and copies.
  RUNQ_ON_EVERY_CALL [[nodiscard]] bool push(T value) noexcept { return push_or(value, make_room_and_push); }
  /// The frequent part of push(): false, and nothing is changed, also where push() would have to look whether thieves
  /// have made room, or to grow. For a caller that calls push() then, in a function that is rarely called. Owner only.
  /// Wait-free.
  RUNQ_ON_EVERY_CALL [[nodiscard]] bool push_without_growing(T value) noexcept {
    return push_or(value, [](basic_chase_lev& /*d*/, array* /*a*/, index /*b*/, T /*value*/) { return false; });
  }

  /// Adds the elements of [first, last), in order, as many as fit, all published at once. `rest` is the position of the
  /// first that did not fit, which has not been read. The iterator has passed an element before any thief can take it,
  /// so elements may carry their own list: `first` may be an input iterator over links that thieves overwrite. The
  /// iterator must not use this deque; if it throws, the elements that it has passed are in the deque. Owner only.
  /// Wait-free, except when it grows.
  template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel>
  requires std::convertible_to<std::iter_reference_t<Iterator>, T>
  [[nodiscard]] batch_pushed<Iterator> push_batch(Iterator first, Sentinel last) {
    basic_chase_lev& d = enter();
    // [chase_lev.push_batch.bottom] relaxed: the owner is the only writer.
    unpublished batch{d, d.bottom_.load(std::memory_order::relaxed)};
    while (first != last) {
      array* const a = array_with_room(batch.end());
      if (a == nullptr) break;
      const T value = *first;
      ++first;
      // [chase_lev.push_batch.slot] relaxed: published by [chase_lev.push_batch.publish]; thieves with an old top may
      // be reading it.
      a->slot(batch.end()).store(value, std::memory_order::relaxed);
      ++batch.count;
    }
    return {std::move(first), batch.count};
  }

  /// Adds elements from the front of `values`, in order, as many as fit, all published at once. Returns how many were
  /// added. Owner only. Wait-free, except when it grows.
  [[nodiscard]] std::size_t push_batch(std::span<const T> values) noexcept {
    return push_batch(values.begin(), values.end()).count;
  }

  /// Takes the newest element, or nothing when the deque is empty or a thief got the last one. Owner only. Wait-free.
  [[nodiscard]] std::optional<T> pop() noexcept { return take_newest<std::optional<T>>(); }
  /// The same for pointers of which none is null: null stands for nothing. It costs less: g++ keeps the flag of an
  /// optional beside the value.
  [[nodiscard]] T pop_or_null() noexcept requires std::is_pointer_v<T> { return take_newest<T>(); }

  /// The number of elements in the deque; thieves may have taken some by the time it returns. Owner only. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept { return make_thief().size_approx(); }

  /// The deque's capacity(). Wait-free.
  [[nodiscard]] std::size_t capacity() const noexcept { return queue().capacity(); }

  /// A thief handle on this deque.
  [[nodiscard]] thief make_thief() const noexcept { return queue().make_thief(); }

 private:
  friend class basic_chase_lev;

  using handle::enter;
  using handle::queue;
  explicit owner(basic_chase_lev& owned) noexcept : handle(owned) {}

  // The elements that push_batch() has put into slots, from index `begin` on. The destructor publishes them, also if an
  // iterator throws.
  struct unpublished {
    basic_chase_lev& to;
    const index begin;
    std::size_t count = 0;

    unpublished(basic_chase_lev& d, index bottom) noexcept : to(d), begin(bottom) {}
    unpublished(const unpublished&) = delete;
    unpublished& operator=(const unpublished&) = delete;
    ~unpublished() {
      if (count == 0) return;
      // Linearises here, all at once.
      // [chase_lev.push_batch.publish] release: as [chase_lev.push.publish].
      to.bottom_.store(end(), std::memory_order::release);
    }
    [[nodiscard]] index end() const noexcept { return begin + static_cast<index>(count); }
  };

  // pop(), as an optional or as a pointer.
  template <class Taken>
  [[nodiscard]] Taken take_newest() noexcept {
    basic_chase_lev& d = enter();
    // [chase_lev.pop.bottom] relaxed: the owner is the only writer.
    const index b = d.bottom_.load(std::memory_order::relaxed) - 1;
    // [chase_lev.pop.array] relaxed: the owner is the only writer.
    array* const a = d.array_.load(std::memory_order::relaxed);
    if (a == nullptr) return {};
    // Linearises here if it takes an element that is not the last one,
    // [chase_lev.pop.reserve] release: pairs with [chase_lev.steal.bottom]: it publishes the elements below again,
    // because since C++20 a relaxed store would end the release sequence of their publication; weaker: a thief takes a
    // task whose contents it cannot see.
    d.bottom_.store(b, std::memory_order::release);
    // [chase_lev.pop.fence] seq_cst: pairs with [chase_lev.steal.fence]: either the thief sees the smaller bottom, or
    // this load sees the thief's top; weaker: both take the last element.
    Atomics::light_fence(std::memory_order::seq_cst);
    // linearises here if it finds nothing,
    // [chase_lev.pop.top] relaxed: ordered by the fence.
    index t = d.top_.load(std::memory_order::relaxed);
    if (t > b) {
      // [chase_lev.pop.restore] release: as [chase_lev.pop.reserve], because a light fence need not be a release fence;
      // weaker: a thief that made its fence before the first push reads an array that it does not see made.
      d.bottom_.store(b + 1, std::memory_order::release);
      return {};
    }
    // [chase_lev.pop.slot] relaxed: the owner wrote it.
    const T value = a->slot(b).load(std::memory_order::relaxed);
    if (t < b) return value;
    // The last element: owner and thieves meet at top.
    // and linearises here if there is one element, which it takes, or a thief has taken.
    // [chase_lev.pop.claim] seq_cst: pairs with [chase_lev.steal.claim] and [chase_lev.has_work.top]. Relaxed on
    // failure: the value is dropped. kept: no model fails with relaxed, but the published proof is for seq_cst, and
    // larger programs are not searched.
    const bool claimed =
        d.top_.compare_exchange_strong(t, t + 1, std::memory_order::seq_cst, std::memory_order::relaxed);
    // [chase_lev.pop.reset] release: pairs with [chase_lev.steal.bottom], because a light fence need not be a release
    // fence; weaker: a thief with an old top reads a slot that it cannot see written.
    d.bottom_.store(b + 1, std::memory_order::release);
    if (!claimed) return {};
    return value;
  }

  // A push that calls `otherwise` where the array is not known to have room.
  template <class Otherwise>
  RUNQ_ON_EVERY_CALL [[nodiscard]] bool push_or(T value, Otherwise otherwise) noexcept {
    basic_chase_lev& d = enter();
    // [chase_lev.push.bottom] relaxed: the owner is the only writer.
    const index b = d.bottom_.load(std::memory_order::relaxed);
    // [chase_lev.push.array] relaxed: the owner is the only writer.
    array* const a = d.array_.load(std::memory_order::relaxed);
    if (!has_room(d, b)) return otherwise(d, a, b, value);
    put(d, *a, b, value);
    return true;
  }

  // The second half of push().
  static void put(basic_chase_lev& d, array& a, index b, T value) noexcept {
    // [chase_lev.push.slot] relaxed: published by [chase_lev.push.publish]; thieves with an old top may be reading it.
    a.slot(b).store(value, std::memory_order::relaxed);
    // Linearises here if it adds the element.
    // [chase_lev.push.publish] release: pairs with [chase_lev.steal.bottom] and [chase_lev.has_work.bottom]; weaker: a
    // thief takes a slot not yet written, or a task whose contents it cannot see. A store rather than a fence, so that
    // ThreadSanitizer sees it too.
    d.bottom_.store(b + 1, std::memory_order::release);
  }

  // Static, so that a compiler need not keep the handle that push() is called with in memory.
  RUNQ_RARELY_CALLED [[nodiscard]] static bool make_room_and_push(basic_chase_lev& d, array* a, index b,
                                                                  T value) noexcept {
    a = make_room(d, a, b);
    if (a == nullptr) return false;
    put(d, *a, b, value);
    return true;
  }

  // The array that has a free slot for index b: the present one, or a larger one; nullptr when there is no memory for
  // that, or the deque is bounded.
  [[nodiscard]] array* array_with_room(index b) noexcept {
    // [chase_lev.push_batch.array] relaxed: the owner is the only writer.
    array* const a = queue().array_.load(std::memory_order::relaxed);
    return has_room(queue(), b) ? a : make_room(queue(), a, b);
  }

  // Whether there is an array, and it is known to have a free slot for index b.
  [[nodiscard]] static bool has_room(const basic_chase_lev& d, index b) noexcept { return b < d.full_at_.get(); }

  // The rare part of array_with_room(): `a`, if thieves have made room in it, or a larger array.
  [[nodiscard]] static array* make_room(basic_chase_lev& d, array* a, index b) noexcept {
    if (a == nullptr)
      return Full == when_full::grow ? publish(d, array::make(d.initial_capacity_, nullptr, d.memory_), b) : nullptr;
    // A push that finds a bounded deque full linearises here.
    // [chase_lev.push.top] acquire: pairs with [chase_lev.steal.claim]: a thief has read its slot before it is
    // overwritten. kept: no model fails with relaxed, but then only a control dependency would order this load before
    // the next store to the slot, and C++ does not promise that order.
    const index t = d.top_.load(std::memory_order::acquire);
    d.full_at_.set(t + static_cast<index>(a->capacity()));
    if (has_room(d, b)) return a;
    if constexpr (Full == when_full::refuse) return nullptr;
    return publish(d, grown(d, a, t, b), t);
  }

  // A copy of `a` of twice the capacity that holds the elements t … b-1 at their indices, or nullptr.
  [[nodiscard]] static array* grown(const basic_chase_lev& d, array* a, index t, index b) noexcept {
    array* const larger = array::make(2 * a->capacity(), a, d.memory_);
    if (larger == nullptr) return nullptr;
    for (index i = t; i != b; ++i) {
      // [chase_lev.grow.old] relaxed: the owner wrote it.
      const T value = a->slot(i).load(std::memory_order::relaxed);
      // [chase_lev.grow.new] relaxed: published by [chase_lev.grow.publish].
      larger->slot(i).store(value, std::memory_order::relaxed);
    }
    return larger;
  }

  // Makes `a` the array. The oldest element has the index t. Returns `a`.
  static array* publish(basic_chase_lev& d, array* a, index t) noexcept {
    if (a == nullptr) return nullptr;
    d.full_at_.set(t + static_cast<index>(a->capacity()));
    // [chase_lev.grow.publish] release: pairs with [chase_lev.steal.array] and [chase_lev.capacity]; weaker: a thief
    // reads slots of an array whose contents it cannot see.
    d.array_.store(a, std::memory_order::release);
    return a;
  }
};

/// The thieves' side. Copyable; any thread, at any time.
template <class T, class Atomics, when_full Full>
class basic_chase_lev<T, Atomics, Full>::thief {
 public:
  /// Takes the oldest element. `lost` means that the owner or another thread took it first. The owner may have done so
  /// by a pop that began before this call and has not returned yet, if the element is the last one. `empty` means that
  /// at some moment of the call the deque was empty, or held only the element that the owner was popping. One attempt,
  /// wait-free.
  [[nodiscard]] steal_result<T> steal() const noexcept {
    // [chase_lev.steal.top] relaxed: the fence below makes it an acquire.
    index t = deque_->top_.load(std::memory_order::relaxed);
    // [chase_lev.steal.fence] seq_cst: pairs with [chase_lev.pop.fence]: either the owner sees this thief's top, or the
    // load of bottom below sees the owner's smaller bottom; weaker: both take the last element.
    Atomics::heavy_fence(std::memory_order::seq_cst);
    // Linearises here if it finds nothing; an element that a pop has reserved counts as taken.
    // [chase_lev.steal.bottom] acquire: pairs with [chase_lev.push.publish], [chase_lev.pop.reserve] and
    // [chase_lev.pop.reset]; weaker: this thief takes a slot not yet written, or a task whose contents it cannot see.
    const index b = deque_->bottom_.load(std::memory_order::acquire);
    if (t >= b) return {};
    // [chase_lev.steal.array] acquire: pairs with [chase_lev.grow.publish]; weaker: this thief reads slots of an array
    // whose contents it cannot see.
    array* const a = deque_->array_.load(std::memory_order::acquire);
    Atomics::check(a != nullptr, "chase_lev: a thief sees an element but not the array that holds it");
    // [chase_lev.steal.slot] relaxed: may be garbage until the claim succeeds; never dereferenced before. If the array
    // has been outgrown meanwhile, it still holds the element, because no thread writes to an outgrown array.
    const T value = a->slot(t).load(std::memory_order::relaxed);
    // Linearises here if it takes the element.
    // [chase_lev.steal.claim] seq_cst: pairs with [chase_lev.pop.claim] and [chase_lev.has_work.top]; and, as a
    // release, with [chase_lev.push.top]: the slot was read before the owner may reuse it. Strong: the caller takes a
    // failure for a lost race. Relaxed on failure: the value is dropped. kept: no model fails with release, but the
    // published proof is for seq_cst, and larger programs are not searched.
    if (!deque_->top_.compare_exchange_strong(t, t + 1, std::memory_order::seq_cst, std::memory_order::relaxed)) {
      return {steal_status::lost, T{}, 0};
    }
    return {steal_status::taken, value, 1};
  }

  /// Whether there is something to take: the question to ask before going to sleep. While the owner pops the last
  /// element, the answer may be either. Wait-free.
  [[nodiscard]] bool has_work() const noexcept {
    // [chase_lev.has_work.top] acquire: pairs with [chase_lev.pop.claim] and [chase_lev.steal.claim]: a thread that
    // finds the deque empty sees what the taker of the last element had seen; weaker: all_empty() says yes although
    // there was an element in one of the queues at each moment.
    const index t = deque_->top_.load(std::memory_order::acquire);
    // Linearises here if it finds nothing. What it finds was there between the two reads.
    // [chase_lev.has_work.bottom] acquire: pairs with [chase_lev.push.publish]: what a thread does after it has seen an
    // element comes after the push; weaker: all_empty() says yes although there was an element in one of the queues at
    // each moment.
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

  /// The index of the oldest element: it changes when a thread takes that element, the owner's pop of the last one
  /// included. A guess, for a thief that watches a victim. Wait-free.
  [[nodiscard]] std::size_t oldest_approx() const noexcept {
    // [chase_lev.oldest.top] relaxed: a guess.
    return static_cast<std::size_t>(deque_->top_.load(std::memory_order::relaxed));
  }

 private:
  friend class basic_chase_lev;
  explicit thief(const basic_chase_lev& deque) noexcept : deque_(&deque) {}

  const basic_chase_lev* deque_;
};

template <class T>
using chase_lev = basic_chase_lev<T>;

/// A deque of a capacity that is fixed when it is constructed: a push into a full one returns false.
template <class T>
using bounded_chase_lev = basic_chase_lev<T, std_atomics, when_full::refuse>;

}  // namespace runq

#endif  // C++20
