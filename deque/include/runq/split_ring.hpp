// SPDX-License-Identifier: MIT
// split_ring: a bounded run queue in Go's order. Its owner pushes and pops without a locked instruction. Thieves can
// take every element, also while the owner does nothing.
//
// The owner claims a run of elements at once and pops them with plain stores and loads. All other elements are public:
// a thief takes half of them by one compare-exchange. When there are none, a thief takes from the owner's run by a pair
// of fences: a light one in each pop, a heavy one in the thief. Contract, protocol in steps, proof and rejected
// designs: docs/queues/split_ring.md. The models in models/cases/queues/split_ring/ check what each order is for.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/membarrier.hpp"
#include "runq/split_word.hpp"

namespace runq {

/// The numbers of a split_ring. Each has a cost on one side: the default is for a scheduler's run queue.
struct split_ring_options {
  /// Elements that the owner claims by one compare-exchange, 1 … Capacity. Thieves take the others without a heavy
  /// fence.
  std::size_t run = 16;
  /// Attempts of one steal before it answers `lost`, at least 1. A steal makes at most one heavy fence in all.
  unsigned tries = 4;
  /// How often a thief that has asked for the run pauses and looks whether the owner has given some of it up, before
  /// the thief pays for a heavy fence. 20 pauses are about a microsecond.
  unsigned polls = 20;
  /// The width of the counter that tells two states of the shared word apart, 1 … 37. A thief that sleeps in the middle
  /// of a steal is fooled if the word is changed exactly 2^tag_bits times meanwhile. Small ones are for models.
  unsigned tag_bits = 37;
};
inline constexpr split_ring_options default_split_ring{};

/// A ring of `Capacity` slots. An element's index is the number of elements pushed before it; it sits in slot
/// `index % Capacity`. At any moment the indices are divided like this (run_end is R, the first public one is H):
///
///   head … R        the owner's run; R may lie beyond the tail, and then the next pushes go into the run
///   R … H           taken by thieves
///   H … tail        public
///
/// One thread at a time holds the `owner` (push, push_batch, pop); any thread may hold a `thief` (steal). No operation
/// allocates or locks. The ring must outlive its handles.
///
/// T         trivially copyable and lock-free: a pointer or a small integer
/// Capacity  slots, a power of two, 2 … 512
/// Options   a split_ring_options
/// Atomics   the policy (runq/atomics.hpp), which chooses the pair of fences
template <class T, std::size_t Capacity = 256, split_ring_options Options = default_split_ring,
          class Atomics = std_atomics>
class basic_split_ring {
  static_assert(detail::is_slot_value<T>);
  static_assert(std::has_single_bit(Capacity) && Capacity >= 2 && Capacity <= 512,
                "runq: the capacity of a split_ring must be a power of two, from 2 to 512");
  static_assert(Options.run >= 1 && Options.run <= Capacity,
                "runq: the run of a split_ring must be at least 1 and at most its capacity");
  static_assert(Options.tries >= 1, "runq: a steal needs at least one attempt");

  template <class U>
  using atomic = typename Atomics::template atomic<U>;

 public:
  using value_type = T;
  using index_type = std::uint32_t;
  using atomics = Atomics;
  template <class Policy>
  using with_policy = basic_split_ring<T, Capacity, Options, Policy>;
  class owner;
  class thief;

  /// The first element's index is `first`. Tests that want to cross the wrap-around soon choose a large one.
  explicit basic_split_ring(index_type first = 0) noexcept
      : public_(word_of(0, first, first, false)), head_(first), tail_(first) {}
  basic_split_ring(const basic_split_ring&) = delete;
  basic_split_ring& operator=(const basic_split_ring&) = delete;

  /// The one owner handle. In debug builds making a second one while the first exists ends the program.
  [[nodiscard]] owner make_owner() noexcept { return owner(*this); }

  /// A thief handle. Any thread, any number of them.
  [[nodiscard]] thief make_thief() const noexcept { return thief(*this); }

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Capacity; }

 private:
  template <class>
  friend class one_object;
  using made_of = index_type;  // what one_object's constructor takes

  // The elements of `unused`, at the same indices, and who may take which; nobody else uses either ring meanwhile.
  // `unused` is empty then.
  basic_split_ring(basic_split_ring&& unused) noexcept
      : public_(read(unused.public_)), head_(read(unused.head_)), tail_(read(unused.tail_)) {
    const index t = read(unused.tail_);
    for (index at = read(unused.head_); at != t; ++at) {
      // [split_ring.move.slot] relaxed: nobody else is there.
      slot(at).store(read(unused.slot(at)), std::memory_order::relaxed);
    }
    // [split_ring.move.head] relaxed: nobody else is there.
    unused.head_.store(t, std::memory_order::relaxed);
    // [split_ring.move.word] relaxed: nobody else is there.
    unused.public_.store(word_of(read(unused.public_), t, t, false), std::memory_order::relaxed);
  }
  template <class U>
  [[nodiscard]] static U read(const atomic<U>& of_unused) noexcept {
    // [split_ring.move.read] relaxed: nobody else is there.
    return of_unused.load(std::memory_order::relaxed);
  }

  // The shared word: its limit is R, its distance is H - R. While a thief asks for the run, the word shows R with the
  // highest bit flipped. R is never behind the index that a pop compares it with, and at most Capacity ahead; with the
  // bit flipped it looks as if it were behind.
  using words = detail::split_word<Options.tag_bits, 0x8000>;
  using index = typename words::index;
  using word = typename words::word;

  [[nodiscard]] static word word_of(word before, index run_end, index public_begin, bool asked) noexcept {
    return words::next(before, run_end, public_begin - run_end, asked);
  }
  [[nodiscard]] static bool asked(word w) noexcept { return words::asked(w); }
  [[nodiscard]] static index gap(word w) noexcept { return words::distance(w); }
  [[nodiscard]] static index run_end(word w) noexcept { return words::limit(w); }
  [[nodiscard]] static index public_begin(word w) noexcept { return run_end(w) + gap(w); }
  [[nodiscard]] static int ahead(index from, index to) noexcept { return words::ahead(from, to); }
  [[nodiscard]] static index whole(index near, index cut) noexcept { return words::whole(near, cut); }
  [[nodiscard]] static bool owner_may_take(word w, index at) noexcept { return ahead(at, words::shown(w)) > 0; }
  // The number of elements in the run, according to this word, head and tail.
  [[nodiscard]] static int in_run(word w, index head, index tail) noexcept {
    return std::min(ahead(head, run_end(w)), ahead(head, tail));
  }
  [[nodiscard]] static int in_public(word w, index tail) noexcept { return ahead(public_begin(w), tail); }

  [[nodiscard]] atomic<T>& slot(index at) noexcept { return slots_[at % Capacity]; }
  [[nodiscard]] const atomic<T>& slot(index at) const noexcept { return slots_[at % Capacity]; }

  // Written by thieves and, once for each run, by the owner, always by compare-exchange from a word to the next one, so
  // that it never has the same value twice; read by all threads.
  alignas(cache_line) mutable atomic<word> public_;
  // Written by the owner only; read by all threads. Both only grow.
  alignas(cache_line) atomic<index> head_;
  atomic<index> tail_;
  template <class, class>
  friend class detail::owner_handle;
  static constexpr detail::owner_misuse misuse{
      "split_ring: make_owner() was called twice; a ring has one owner",
      "split_ring: this owner handle has been moved from",
      "split_ring: an owner operation was called from a second thread; only one thread may push and pop. "
      "Move the owner handle, or call rebind(), to hand the ring over"};
  detail::owner_flag<Atomics> owned_;
  // Written by the owner only (push, and as the destination of its own steals). A thief whose claim will fail may read
  // a slot while the owner writes it. So slots are atomic, and no thread dereferences a value before its claim has
  // succeeded.
  alignas(cache_line) std::array<atomic<T>, Capacity> slots_;
};

/// The owner's side: push at the tail, pop at the head. Move-only, and used by one thread at a time; moving it hands
/// the ring over, and the move itself must happen-before the first use by the next thread.
template <class T, std::size_t Capacity, split_ring_options Options, class Atomics>
class basic_split_ring<T, Capacity, Options, Atomics>::owner : public detail::owner_handle<basic_split_ring, Atomics> {
  using handle = detail::owner_handle<basic_split_ring, Atomics>;

 public:
  /// Adds one element at the tail. Returns false, and changes nothing, when the ring is full: when the element would be
  /// Capacity places behind the oldest one of the owner's run. Reads nothing that thieves write. Owner only. Wait-free.
  [[nodiscard]] bool push(T value) noexcept {
    basic_split_ring& r = enter();
    // [split_ring.push.tail] relaxed: the owner is the only writer.
    const index t = r.tail_.load(std::memory_order::relaxed);
    // Linearises here if the ring is full,
    // [split_ring.push.head] relaxed: the owner is the only writer.
    const index h = r.head_.load(std::memory_order::relaxed);
    if (t - h == Capacity) return false;
    // [split_ring.push.slot] relaxed: published by [split_ring.push.publish]; thieves that have looked at an old word
    // may be reading it.
    r.slot(t).store(value, std::memory_order::relaxed);
    // and linearises here if it adds the element.
    // [split_ring.push.publish] release: pairs with [split_ring.steal.tail], [split_ring.seize.tail] and
    // [split_ring.observe.again]; weaker: a thief takes a slot not yet written, or a task whose contents it cannot see.
    r.tail_.store(t + 1, std::memory_order::release);
    return true;
  }

  /// Adds elements from the front of `values`, in order, as many as fit, all published at once. Returns how many were
  /// added. Reads nothing that thieves write. Owner only. Wait-free.
  [[nodiscard]] std::size_t push_batch(std::span<const T> values) noexcept {
    basic_split_ring& r = enter();
    // [split_ring.push_batch.tail] relaxed: the owner is the only writer.
    const index t = r.tail_.load(std::memory_order::relaxed);
    const auto n = static_cast<index>(std::min(values.size(), room(t)));
    for (index i = 0; i != n; ++i) {
      // [split_ring.push_batch.slot] relaxed: published by [split_ring.push_batch.publish]; thieves that have looked at
      // an old word may be reading it.
      r.slot(t + i).store(values[i], std::memory_order::relaxed);
    }
    if (n == 0) return 0;
    // Linearises here, all at once.
    // [split_ring.push_batch.publish] release: as [split_ring.push.publish].
    r.tail_.store(t + n, std::memory_order::release);
    return n;
  }

  /// Takes the oldest element that no thief has taken, or nothing when there is none. Owner only. Lock-free: it tries
  /// again only when a thief has changed the shared word.
  [[nodiscard]] std::optional<T> pop() noexcept {
    basic_split_ring& r = enter();
    // [split_ring.pop.head] relaxed: the owner is the only writer.
    const index h = r.head_.load(std::memory_order::relaxed);
    // Linearises here if it finds nothing,
    // [split_ring.pop.tail] relaxed: the owner is the only writer.
    if (h == r.tail_.load(std::memory_order::relaxed)) return std::nullopt;
    // and linearises here if the run still has the element, and no thief asks for the run.
    // [split_ring.pop.reserve] release: pairs with [split_ring.seize.head] and [split_ring.steal.head]; weaker: since
    // C++20 a relaxed store does not continue a release sequence, and a thief takes a task whose contents it cannot
    // see.
    r.head_.store(h + 1, std::memory_order::release);
    // [split_ring.pop.fence] seq_cst: pairs with [split_ring.seize.fence]: either this pop sees that a thief asks for
    // the run, or the thief sees that this element is reserved; weaker: both take it.
    Atomics::light_fence(std::memory_order::seq_cst);
    // [split_ring.pop.word] relaxed: ordered by the fence.
    const word w = r.public_.load(std::memory_order::relaxed);
    index at = h;
    if (!owner_may_take(w, h) && !pop_slowly(at)) return std::nullopt;
    return read(at);
  }

  /// Takes up to half of a ring into which the last push did not fit, by one pop() after the other, oldest first, and
  /// returns how many. Afterwards a push fits. For an overflow. Owner only. Lock-free.
  [[nodiscard]] std::size_t shed_half_of_full(std::span<T, Capacity / 2> out) noexcept {
    std::size_t n = 0;
    // Does not linearise as a whole: each pop() does.
    while (n != out.size()) {
      const std::optional<T> value = pop();
      if (!value) break;
      out[n++] = *value;
    }
    return n;
  }

  /// Takes all elements, by one pop() after the other, and hands each to `sink(T)`, which must not push here. Returns
  /// how many there were. Owner only. Lock-free.
  template <class Sink>
  std::size_t drain(Sink&& sink) {
    std::size_t n = 0;
    // Does not linearise as a whole: each pop() does.
    for (; const std::optional<T> value = pop(); ++n) sink(*value);
    return n;
  }

  /// How many elements fit, 0 … Capacity, counted as push() counts. Owner only. Wait-free.
  [[nodiscard]] std::size_t room() noexcept {
    basic_split_ring& r = enter();
    // [split_ring.room.tail] relaxed: the owner is the only writer.
    return room(r.tail_.load(std::memory_order::relaxed));
  }

  /// Elements in the ring, 0 … Capacity; others may have taken some by the time it returns. Owner only. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept { return make_thief().size_approx(); }

  /// A thief handle on this ring.
  [[nodiscard]] thief make_thief() const noexcept { return queue().make_thief(); }

 private:
  friend class basic_split_ring;
  friend class thief;

  using handle::enter;
  using handle::queue;
  explicit owner(basic_split_ring& owned) noexcept : handle(owned) {}

  [[nodiscard]] T read(index at) const noexcept {
    // [split_ring.pop.slot] relaxed: the owner wrote it.
    return queue().slot(at).load(std::memory_order::relaxed);
  }

  // Pops when the run is used up, or a thief asks for it or has taken it. Index `at` is reserved, but the element there
  // may be a thief's. Sets `at` to the index of the element that the owner gets; returns false if there is none.
  [[nodiscard]] bool pop_slowly(index& at) noexcept {
    basic_split_ring& r = queue();
    const index h = at;
    // [split_ring.slow.tail] relaxed: the owner is the only writer.
    const index t = r.tail_.load(std::memory_order::relaxed);
    for (;;) {
      // [split_ring.slow.word] acquire: pairs with [split_ring.steal.claim] and [split_ring.seize.claim]: a thief has
      // read its slots before they are overwritten. kept: no model fails with relaxed, but then only a control
      // dependency would order this load before the next store to the slot, and C++ does not promise that order.
      word w = r.public_.load(std::memory_order::acquire);
      if (ahead(h, run_end(w)) > 0) {
        if (!asked(w) || give_up_half(w, h, t)) return true;
      } else if (in_public(w, t) > 0) {
        const index from = whole(h, public_begin(w));
        if (claim_run(w, from, t)) return at = from, true;
      } else if (open_run(w, whole(h, public_begin(w)))) {
        return false;
      }
    }
  }

  // A thief asks for the run, in which the owner has reserved index `h`. The owner keeps the older half of what is
  // left, `h` included, and makes the other half public. If there is a gap behind the run, because thieves have taken
  // elements there, nothing can be made public; then the owner only withdraws the thief's request.
  [[nodiscard]] bool give_up_half(word w, index h, index t) noexcept {
    const auto left = static_cast<index>(in_run(w, h, t));
    const index kept = gap(w) == 0 ? h + (left - left / 2) : run_end(w);
    return change(w, kept, gap(w) == 0 ? kept : public_begin(w));
  }

  // Makes a run of the oldest public elements, and takes the first of them, `from`.
  [[nodiscard]] bool claim_run(word w, index from, index t) noexcept {
    // [split_ring.slow.head] release: pairs with [split_ring.steal.head]. This store comes before the change of the
    // word, because a thief that sees the new run must not see a head in front of it; otherwise the thief takes what
    // others have taken. kept: no model fails with relaxed, but then a thief may read this head together with an older
    // tail.
    queue().head_.store(from + 1, std::memory_order::release);
    const auto there = static_cast<index>(in_public(w, t));
    const auto wanted = static_cast<index>(Options.run);
    const index size = asked(w) ? std::min(wanted, there - there / 2) : wanted;
    return change(w, from + size, from + size);
  }

  // Thieves have taken everything: the next pushes go into a run.
  [[nodiscard]] bool open_run(word w, index from) noexcept {
    // [split_ring.slow.reset] release: pairs with [split_ring.steal.head]. This store comes before the change of the
    // word, because a thief that sees the new run must not see a head in front of it. kept: no model fails with
    // relaxed, but then a thief may read this head together with an older tail.
    queue().head_.store(from, std::memory_order::release);
    const auto size = static_cast<index>(Options.run);
    return change(w, from + size, from + size);
  }

  // Puts another word in the place of `w`, after which no claim of a thief that has seen `w` succeeds.
  [[nodiscard]] bool change(word w, index run_end, index public_begin) noexcept {
    // A pop that changes the word linearises here, with an element or without.
    // [split_ring.slow.change] release: pairs with [split_ring.steal.word]: a thief that sees the new run sees the new
    // head; weaker: the thief takes what others have taken. Relaxed on failure: the loop reads the word again.
    return queue().public_.compare_exchange_strong(w, word_of(w, run_end, public_begin, false),
                                                   std::memory_order::release, std::memory_order::relaxed);
  }

  // How many elements fit behind tail `t`.
  [[nodiscard]] std::size_t room(index t) const noexcept {
    // Linearises here.
    // [split_ring.room.head] relaxed: the owner is the only writer.
    return Capacity - (t - queue().head_.load(std::memory_order::relaxed));
  }
};

/// The thieves' side. Copyable; any thread, at any time.
///
/// A steal takes from the public elements, oldest first, half of them rounded up. If there are none, it takes from the
/// owner's run: half of it, and makes the rest public; or, where other thieves have already taken what stands behind
/// the run, as much of it as it has room for, from the newest end. Only that needs the heavy fence, once.
///
/// `lost` means that the owner or another thief changed the ring meanwhile, in each attempt; `empty` means that the
/// ring was empty at some moment of the call. Wait-free: `Options.tries` attempts of a bounded number of steps.
template <class T, std::size_t Capacity, split_ring_options Options, class Atomics>
class basic_split_ring<T, Capacity, Options, Atomics>::thief {
 public:
  /// Takes n elements as described above, n at most `limit` and at most the room in `into` + 1. Returns the newest of
  /// them, to be run at once; the other n-1 are now in `into`, in order.
  ///
  /// `into` is another ring, which the calling thread owns. `limit` is at least 1: a 0 ends the program in debug
  /// builds, and counts as 1 in others.
  [[nodiscard]] steal_result<T> steal_half_into(owner& into, std::size_t limit = Capacity) const noexcept {
    basic_split_ring& mine = into.enter();
    Atomics::check(&mine != ring_, "split_ring: a ring cannot steal from itself");
    Atomics::check(limit >= 1, "split_ring: the limit of a steal is at least 1");
    // [split_ring.steal.own_tail] relaxed: the caller owns `into` and is its tail's only writer.
    const index mt = mine.tail_.load(std::memory_order::relaxed);
    const std::size_t most = std::min(std::max<std::size_t>(limit, 1), into.room(mt) + 1);
    T newest{};
    const auto copy = [&](index from, index n) noexcept {
      for (index i = 0; i + 1 != n; ++i) {
        const T value = read(from + i);
        // [split_ring.steal.own_slot] relaxed: behind the published tail; published by [split_ring.steal.publish].
        mine.slot(mt + i).store(value, std::memory_order::relaxed);
      }
      newest = read(from + n - 1);
    };
    const batch_result got = steal_with(most, copy);
    if (!got) return {got.status, T{}, 0};
    // In `into`, the push of n-1 elements linearises here.
    // [split_ring.steal.publish] release: pairs with [split_ring.steal.tail] of a thief of this thief; weaker: the
    // second thief takes a task whose contents it cannot see.
    if (got.count > 1) mine.tail_.store(mt + static_cast<index>(got.count - 1), std::memory_order::release);
    return {steal_status::taken, newest, got.count};
  }

  /// Takes at most `out.size()` elements as described above into `out`, oldest first. For a thief that has no ring, or
  /// runs all that it takes at once. `out` is not empty: an empty one ends the program in debug builds; other builds
  /// return `lost`. After `lost`, any part of `out` may hold garbage.
  [[nodiscard]] batch_result steal_half(std::span<T> out) const noexcept {
    Atomics::check(!out.empty(), "split_ring: a steal of half needs room for at least one element");
    if (out.empty()) return {steal_status::lost, 0};
    return steal_with(out.size(), [&](index from, index n) noexcept {
      for (index i = 0; i != n; ++i) out[i] = read(from + i);
    });
  }

  /// Takes one element: the oldest public one, or one of the owner's run. Needs no ring of the caller's.
  [[nodiscard]] steal_result<T> steal() const noexcept {
    T value{};
    const batch_result got = steal_with(1, [&](index from, index) noexcept { value = read(from); });
    if (!got) return {got.status, T{}, 0};
    return {steal_status::taken, value, 1};
  }

  /// Whether there is something to take: the question to ask before going to sleep. False only if nothing that
  /// happened-before this call left an element behind. True may be wrong if others took elements during the call.
  /// Wait-free.
  [[nodiscard]] bool has_work() const noexcept { return !observe().empty(); }

  /// A guess at the number of elements, 0 … Capacity, for statistics and for choosing victims. Before going to sleep
  /// ask has_work() instead. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    // [split_ring.size.word] relaxed: a guess; the three may belong to different moments, hence the clamp.
    const word w = ring_->public_.load(std::memory_order::relaxed);
    // [split_ring.size.head] relaxed: a guess.
    const index h = ring_->head_.load(std::memory_order::relaxed);
    // [split_ring.size.tail] relaxed: a guess.
    const index t = ring_->tail_.load(std::memory_order::relaxed);
    const int n = std::max(in_public(w, t), 0) + std::max(in_run(w, h, t), 0);
    return std::min(static_cast<std::size_t>(n), Capacity);
  }

  /// Whether there is something to take, and the tail that was read. With it local_queue can ask later whether the
  /// owner has pushed since.
  struct observation {
    bool nothing;
    index_type tail;
    [[nodiscard]] bool empty() const noexcept { return nothing; }
  };
  [[nodiscard]] observation observe() const noexcept {
    const state seen = look();
    const bool some = seen.public_count() > 0 || seen.run_count() > 0 || nothing(seen.w) != steal_status::empty;
    return {!some, seen.tail};
  }
  [[nodiscard]] bool pushed_since(const observation& seen) const noexcept {
    // Linearises here.
    // [split_ring.observe.again] acquire: pairs with [split_ring.push.publish]. kept: no model of the queue alone fails
    // with relaxed, but a scheduler uses this answer to decide which threads sleep, and a thread that is told of a task
    // must see that task.
    return ring_->tail_.load(std::memory_order::acquire) != seen.tail;
  }

 private:
  friend class basic_split_ring;
  explicit thief(const basic_split_ring& ring) noexcept : ring_(&ring) {}

  // The word, the head and the tail, read in this order.
  struct state {
    word w;
    index head, tail;
    [[nodiscard]] int public_count() const noexcept { return in_public(w, tail); }
    [[nodiscard]] int run_count() const noexcept { return in_run(w, head, tail); }
  };

  [[nodiscard]] state look() const noexcept {
    // [split_ring.steal.word] acquire: pairs with [split_ring.slow.change] and [split_ring.steal.claim]: the head and
    // the tail that are read next are no older than this word. kept: no model fails with relaxed, but the answer
    // "empty" promises that word, head and tail had these values at one moment, and with relaxed they need not have had
    // them.
    const word w = ring_->public_.load(std::memory_order::acquire);
    // [split_ring.steal.head] acquire: pairs with [split_ring.pop.reserve], [split_ring.slow.head] and
    // [split_ring.slow.reset]: the tail read next is no older than this head; weaker: a thief calls a ring empty that
    // never was.
    const index h = ring_->head_.load(std::memory_order::acquire);
    // A steal or has_work() that finds nothing linearises here, as [split_ring.steal.again] confirms. What has_work()
    // finds was there between the reads.
    // [split_ring.steal.tail] acquire: pairs with [split_ring.push.publish] and [split_ring.steal.publish]; weaker:
    // this thief takes a slot not yet written, or a task whose contents it cannot see.
    const index t = ring_->tail_.load(std::memory_order::acquire);
    return {w, h, t};
  }

  // What a thief answers that read word `w` and found nothing: `empty` if the ring was empty at one moment, else
  // `lost`.
  [[nodiscard]] steal_status nothing(word w) const noexcept {
    // [split_ring.steal.again] relaxed: this read comes after the acquire load of the tail. If the word has not
    // changed, neither owner nor thieves claimed anything between the two reads of the word, and so the ring was empty
    // when the tail was read.
    return ring_->public_.load(std::memory_order::relaxed) == w ? steal_status::empty : steal_status::lost;
  }

  [[nodiscard]] T read(index at) const noexcept {
    // [split_ring.steal.slot] relaxed: may be garbage until the claim succeeds; never dereferenced before.
    return ring_->slot(at).load(std::memory_order::relaxed);
  }

  // Tries until it has taken something, or has seen that there is nothing, or has made all its attempts. `copy(from,
  // n)` copies n elements from index `from` on; what it copies is garbage unless the answer is `taken`.
  template <class Copy>
  [[nodiscard]] batch_result steal_with(std::size_t most, Copy&& copy) const noexcept {
    for (unsigned attempt = 0; attempt != Options.tries; ++attempt) {
      const state seen = look();
      if (const int there = seen.public_count(); there > 0) {
        if (const std::size_t n = take_public(seen.w, there, most, copy); n != 0) return {steal_status::taken, n};
      } else if (seen.run_count() > 0) {
        word w = seen.w;
        if (asked(w) || (ask(w) && !owner_answered(w))) return seize(w, most, copy);
      } else if (nothing(seen.w) == steal_status::empty) {
        return {};
      }
    }
    return {steal_status::lost, 0};
  }

  // Takes the older half of the `there` public elements. Returns how many it took, or 0.
  template <class Copy>
  [[nodiscard]] std::size_t take_public(word w, int there, std::size_t most, Copy&& copy) const noexcept {
    // More than fit: the word is old and the tail new, and the claim would fail.
    if (there > static_cast<int>(Capacity)) return 0;
    const auto n = static_cast<index>(std::min<std::size_t>(static_cast<std::size_t>(there - there / 2), most));
    const index from = public_begin(w);
    copy(from, n);
    // A steal from the public elements linearises here.
    // [split_ring.steal.claim] release: pairs with [split_ring.slow.word]: the slots were read before the owner may
    // reuse them; and with [split_ring.steal.word]: another thief that reads this word then reads a head and a tail
    // that are no older. Strong: a failure is taken for a lost race. Relaxed on failure: what was read is dropped.
    return ring_->public_.compare_exchange_strong(w, word_of(w, run_end(w), from + n, asked(w)),
                                                  std::memory_order::release, std::memory_order::relaxed)
               ? n
               : 0;
  }

  // Asks the owner for its run: its next pop will not take an element before it has changed the word.
  [[nodiscard]] bool ask(word& w) const noexcept {
    const word asking = word_of(w, run_end(w), public_begin(w), true);
    // [split_ring.ask] relaxed: ordered by [split_ring.seize.fence]: an owner that passes [split_ring.pop.fence] later
    // sees it.
    if (!ring_->public_.compare_exchange_strong(w, asking, std::memory_order::relaxed, std::memory_order::relaxed)) {
      return false;
    }
    w = asking;
    return true;
  }

  // Gives an owner that is at work a moment to answer, so that the thief need not interrupt it.
  [[nodiscard]] bool owner_answered(word w) const noexcept {
    for (unsigned i = 0; i != Options.polls; ++i) {
      // [split_ring.ask.answer] relaxed: this only asks whether the word has changed; the next attempt reads it again.
      if (ring_->public_.load(std::memory_order::relaxed) != w) return true;
      Atomics::pause();
    }
    return false;
  }

  // Takes from the run under word `w`, in which a thief asks for it. Every pop that has not seen this word has reserved
  // its element where this thief sees it; every later pop changes the word, and then this claim fails.
  template <class Copy>
  [[nodiscard]] batch_result seize(word w, std::size_t most, Copy&& copy) const noexcept {
    // [split_ring.seize.fence] seq_cst: pairs with [split_ring.pop.fence]; weaker, or none: thief and owner take the
    // same element.
    Atomics::heavy_fence(std::memory_order::seq_cst);
    // [split_ring.seize.head] acquire: pairs with [split_ring.pop.reserve]; weaker: this thief takes a task whose
    // contents it cannot see.
    const index h = ring_->head_.load(std::memory_order::acquire);
    // A steal that finds no run any more, and nothing else, linearises here.
    // [split_ring.seize.tail] acquire: pairs with [split_ring.push.publish]; weaker: as [split_ring.steal.tail].
    const index t = ring_->tail_.load(std::memory_order::acquire);
    const int there = in_run(w, h, t);
    if (there <= 0) return {in_public(w, t) > 0 ? steal_status::lost : nothing(w), 0};
    const auto all = static_cast<std::size_t>(there);
    const bool behind_gap = gap(w) != 0;
    const auto n = static_cast<index>(std::min(behind_gap ? all : all - all / 2, most));
    const index from = behind_gap ? run_end(w) - n : h;
    copy(from, n);
    // A steal from the run linearises here.
    // [split_ring.seize.claim] release: pairs with [split_ring.slow.word]: the slots were read before the owner may
    // reuse them. Relaxed on failure: what was read is dropped.
    const bool claimed =
        ring_->public_.compare_exchange_strong(w, word_of(w, from, behind_gap ? public_begin(w) : from + n, false),
                                               std::memory_order::release, std::memory_order::relaxed);
    return claimed ? batch_result{steal_status::taken, n} : batch_result{steal_status::lost, 0};
  }

  const basic_split_ring* ring_;
};

/// 256 slots, and fences by membarrier(2) where the system has it.
template <class T>
using split_ring = basic_split_ring<T, 256, default_split_ring, membarrier_atomics>;

}  // namespace runq

#endif  // C++20
