// SPDX-License-Identifier: MIT
// split_deque: a bounded LIFO deque for fork/join. Its owner pushes and pops without a locked instruction. Thieves can
// take every element, the oldest first, also while the owner does nothing.
//
// The newest elements are private to the owner, which pops them with plain stores and loads; the older ones are public:
// a thief takes half of them by one compare-exchange. When there are none, a thief takes from the private part by a
// pair of fences: a light one in each pop, a heavy one in the thief. Contract, protocol in steps, proof and rejected
// designs: docs/queues/split_deque.md. The models in models/cases/queues/split_deque/ check what each order is for.
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
#include <type_traits>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/membarrier.hpp"
#include "runq/split_word.hpp"

namespace runq {

/// The numbers of a split_deque. Each has a cost on one side.
struct split_deque_options {
  /// When so many elements are private, a push makes the older half of them public by one compare-exchange; 0: never,
  /// so that thieves get elements by heavy fences only.
  std::size_t publish = 16;
  /// Attempts of one steal before it answers `lost`, at least 1. A steal makes at most one heavy fence in all.
  unsigned tries = 4;
  /// How often a thief that has asked for private elements pauses and looks whether the owner has made some public,
  /// before the thief pays for a heavy fence. 20 pauses are about a microsecond.
  unsigned polls = 20;
  /// The width of the counter that tells two states of the shared word apart, 1 … 37. A thief that sleeps in the middle
  /// of a steal is fooled if the word is changed exactly 2^tag_bits times meanwhile. Small ones are for models.
  unsigned tag_bits = 37;
};
inline constexpr split_deque_options default_split_deque{};

/// A deque of `Capacity` slots. Elements stand at indices head … tail-1, each in slot `index % Capacity`:
///
///   head … limit    public
///   limit … tail    private to the owner
///
/// One thread at a time holds the `owner` (push, pop); any thread may hold a `thief` (steal). No operation allocates or
/// locks. The deque must outlive its handles.
///
/// T         trivially copyable and lock-free: a pointer or a small integer
/// Capacity  slots, a power of two, 2 … 512
/// Options   a split_deque_options
/// Atomics   the policy (runq/atomics.hpp), which chooses the pair of fences
template <class T, std::size_t Capacity = 256, split_deque_options Options = default_split_deque,
          class Atomics = std_atomics>
class basic_split_deque {
  static_assert(detail::is_slot_value<T>);
  static_assert(std::has_single_bit(Capacity) && Capacity >= 2 && Capacity <= 512,
                "runq: the capacity of a split_deque must be a power of two, from 2 to 512");
  static_assert(Options.publish != 1,
                "runq: publish must not be 1: of one private element, half cannot be made public");
  static_assert(Options.tries >= 1, "runq: a steal needs at least one attempt");

  template <class U>
  using atomic = typename Atomics::template atomic<U>;
  template <class U>
  using cell = typename Atomics::template cell<U>;

 public:
  using value_type = T;
  using index_type = std::uint32_t;
  using atomics = Atomics;
  template <class Policy>
  using with_policy = basic_split_deque<T, Capacity, Options, Policy>;
  class owner;
  class thief;

  /// The first element's index is `first`. Tests that want to cross the wrap-around soon choose a large one.
  explicit basic_split_deque(index_type first = 0) noexcept
      : public_(word_of(0, first, first, false)), tail_(first), quiet_until_(first) {}
  basic_split_deque(const basic_split_deque&) = delete;
  basic_split_deque& operator=(const basic_split_deque&) = delete;

  /// The one owner handle. In debug builds making a second one while the first exists ends the program.
  [[nodiscard]] owner make_owner() noexcept { return owner(*this); }

  /// A thief handle. Any thread, any number of them.
  [[nodiscard]] thief make_thief() const noexcept { return thief(*this); }

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Capacity; }

 private:
  template <class>
  friend class one_object;
  using made_of = index_type;  // what one_object's constructor takes

  // The elements of `unused`, at the same indices, and which are public; nobody else uses either deque meanwhile.
  // `unused` is empty then.
  basic_split_deque(basic_split_deque&& unused) noexcept
      : public_(read(unused.public_)), tail_(read(unused.tail_)), quiet_until_(unused.quiet_until_.get()) {
    const index t = read(unused.tail_);
    for (index at = whole(t, head(read(unused.public_))); at != t; ++at) {
      // [split_deque.move.slot] relaxed: nobody else is there.
      slot(at).store(read(unused.slot(at)), std::memory_order::relaxed);
    }
    // [split_deque.move.word] relaxed: nobody else is there.
    unused.public_.store(word_of(read(unused.public_), t, t, false), std::memory_order::relaxed);
  }
  template <class U>
  [[nodiscard]] static U read(const atomic<U>& of_unused) noexcept {
    // [split_deque.move.read] relaxed: nobody else is there.
    return of_unused.load(std::memory_order::relaxed);
  }

  // The shared word: its limit is the index between public and private elements, its distance is the number of public
  // elements. While a thief asks for private elements, the word shows a limit that is too large by a quarter of all
  // indices. Then no index that a pop reserves looks private, and neither does the index before the oldest element,
  // which a pop from an empty deque reserves.
  static constexpr std::uint32_t out_of_reach = 0x4000;
  using words = detail::split_word<Options.tag_bits, out_of_reach>;
  using index = typename words::index;
  using word = typename words::word;

  [[nodiscard]] static word word_of(word before, index head, index limit, bool asked) noexcept {
    return words::next(before, limit, limit - head, asked);
  }
  [[nodiscard]] static bool asked(word w) noexcept { return words::asked(w); }
  [[nodiscard]] static index count(word w) noexcept { return words::distance(w); }
  [[nodiscard]] static index limit(word w) noexcept { return words::limit(w); }
  [[nodiscard]] static index head(word w) noexcept { return limit(w) - count(w); }
  [[nodiscard]] static int ahead(index from, index to) noexcept { return words::ahead(from, to); }
  [[nodiscard]] static index whole(index near, index cut) noexcept { return words::whole(near, cut); }
  [[nodiscard]] static bool owner_may_take(word w, index at) noexcept { return ahead(words::shown(w), at) >= 0; }
  [[nodiscard]] static int in_private(word w, index tail) noexcept { return ahead(limit(w), tail); }

  [[nodiscard]] atomic<T>& slot(index at) noexcept { return slots_[at % Capacity]; }
  [[nodiscard]] const atomic<T>& slot(index at) const noexcept { return slots_[at % Capacity]; }

  // Written by thieves, and by the owner when it makes elements public or takes them back, always by compare-exchange
  // from a word to the next one, so that it never has the same value twice; read by all threads.
  alignas(cache_line) mutable atomic<word> public_;
  // Written by the owner only; read by all threads.
  alignas(cache_line) atomic<index> tail_;
  // Owner only: the tail at which a push looks at the shared word again, because the deque may be full there, or too
  // much of it private.
  cell<index> quiet_until_;
  template <class, class>
  friend class detail::owner_handle;
  static constexpr detail::owner_misuse misuse{
      "split_deque: make_owner() was called twice; a deque has one owner",
      "split_deque: this owner handle has been moved from",
      "split_deque: an owner operation was called from a second thread; only one thread may push and pop. "
      "Move the owner handle, or call rebind(), to hand the deque over"};
  detail::owner_flag<Atomics> owned_;
  // Written by the owner only (push, and as the destination of its own steals). A thief whose claim will fail may read
  // a slot while the owner writes it. So slots are atomic, and no thread dereferences a value before its claim has
  // succeeded.
  alignas(cache_line) std::array<atomic<T>, Capacity> slots_;
};

/// The owner's side: push and pop at the tail. Move-only, and used by one thread at a time; moving it hands the
/// deque over, and the move itself must happen-before the first use by the next thread.
template <class T, std::size_t Capacity, split_deque_options Options, class Atomics>
class basic_split_deque<T, Capacity, Options, Atomics>::owner
    : public detail::owner_handle<basic_split_deque, Atomics> {
  using handle = detail::owner_handle<basic_split_deque, Atomics>;

 public:
  /// Adds one element at the tail. Returns false, and changes nothing, when the deque is full. Owner only. Wait-free.
  [[nodiscard]] bool push(T value) noexcept {
    basic_split_deque& d = enter();
    // [split_deque.push.tail] relaxed: the owner is the only writer.
    const index t = d.tail_.load(std::memory_order::relaxed);
    if (!is_before(t, d.quiet_until_.get()) && !look_around(t)) return false;
    // [split_deque.push.slot] relaxed: published by [split_deque.push.publish]; thieves that have looked at an old word
    // may be reading it.
    d.slot(t).store(value, std::memory_order::relaxed);
    // Linearises here if it adds the element.
    // [split_deque.push.publish] release: pairs with [split_deque.steal.tail] and [split_deque.seize.tail]; weaker: a
    // thief takes a slot not yet written, or a task whose contents it cannot see.
    d.tail_.store(t + 1, std::memory_order::release);
    return true;
  }

  /// push(), for code that may have a chase_lev instead: this deque never grows.
  [[nodiscard]] bool push_without_growing(T value) noexcept { return push(value); }

  /// Takes the newest element, or nothing when the deque is empty. Owner only. Lock-free: it tries again only when a
  /// thief has changed the shared word.
  [[nodiscard]] std::optional<T> pop() noexcept {
    basic_split_deque& d = enter();
    // [split_deque.pop.tail] relaxed: the owner is the only writer.
    const index t = d.tail_.load(std::memory_order::relaxed) - 1;
    // Linearises here if the element is private, and no thief asks for it.
    // [split_deque.pop.reserve] release: pairs with [split_deque.seize.tail]; weaker: since C++20 a relaxed store does
    // not continue a release sequence, and a thief takes a task whose contents it cannot see.
    d.tail_.store(t, std::memory_order::release);
    // [split_deque.pop.fence] seq_cst: pairs with [split_deque.seize.fence]: either this pop sees that a thief asks, or
    // the thief sees that this element is reserved; weaker: both take it.
    Atomics::light_fence(std::memory_order::seq_cst);
    // [split_deque.pop.word] relaxed: ordered by the fence.
    const word w = d.public_.load(std::memory_order::relaxed);
    if (!owner_may_take(w, t) && !pop_slowly(t)) return std::nullopt;
    // [split_deque.pop.slot] relaxed: the owner wrote it.
    return d.slot(t).load(std::memory_order::relaxed);
  }
  /// The same for pointers of which none is null: null stands for nothing.
  [[nodiscard]] T pop_or_null() noexcept requires std::is_pointer_v<T> { return pop().value_or(nullptr); }

  /// Elements in the deque, 0 … Capacity; others may have taken some by the time it returns. Owner only. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept { return make_thief().size_approx(); }

  /// A thief handle on this deque.
  [[nodiscard]] thief make_thief() const noexcept { return queue().make_thief(); }

 private:
  friend class basic_split_deque;
  friend class thief;

  using handle::enter;
  using handle::queue;
  explicit owner(basic_split_deque& owned) noexcept : handle(owned) {}

  [[nodiscard]] static bool is_before(index at, index end) noexcept { return static_cast<std::int32_t>(at - end) < 0; }

  // Called by a push when the tail `t` has reached quiet_until_. Returns whether there is room. Makes the older half of
  // the private elements public if they are many, or if a thief asks; if a thief changes the word meanwhile, the next
  // push tries again.
  [[nodiscard]] bool look_around(index t) noexcept {
    basic_split_deque& d = queue();
    // A push that finds the deque full linearises here.
    // [split_deque.room.word] acquire: pairs with [split_deque.steal.claim] and [split_deque.seize.claim]: a thief has
    // read its slots before they are overwritten. kept: no model fails with relaxed, but then only a control dependency
    // would order this load before the next store to the slot, and C++ does not promise that order.
    const word w = d.public_.load(std::memory_order::acquire);
    const index first = whole(t, head(w));
    const index mine = whole(t, limit(w));
    if (t - first == Capacity) return false;
    const bool many = Options.publish != 0 && t - mine >= Options.publish;
    if (!many && !(asked(w) && t - mine >= 2)) return be_quiet(first, mine), true;
    const index limit = mine + (t - mine) / 2;
    if (change(w, first, limit)) be_quiet(first, limit);
    return true;
  }

  // Sets quiet_until_ to the next tail at which the deque may be full, or at which so many elements are private that
  // half of them are to be made public.
  void be_quiet(index first, index limit) noexcept {
    const index full = first + static_cast<index>(Capacity);
    const index many = Options.publish == 0 ? full : limit + static_cast<index>(Options.publish);
    queue().quiet_until_.set(is_before(many, full) ? many : full);
  }

  // Pops when the private elements are used up, or a thief asks for them or has taken them. Index `t` is reserved, but
  // the element there may be a thief's. Returns whether the owner gets it; if not, the deque is empty.
  [[nodiscard]] bool pop_slowly(index t) noexcept {
    basic_split_deque& d = queue();
    for (;;) {
      // A pop that finds nothing linearises here.
      // [split_deque.slow.word] acquire: as [split_deque.room.word]; the next pushes may not read the word.
      const word w = d.public_.load(std::memory_order::acquire);
      const index first = whole(t, head(w));
      const index mine = whole(t, limit(w));
      const int there = ahead(first, t + 1);
      if (there <= 0) {
        // [split_deque.slow.restore] relaxed: there is no element that it would have to publish.
        d.tail_.store(t + 1, std::memory_order::relaxed);
        return false;
      }
      const bool is_private = ahead(mine, t) >= 0;
      if (is_private && !asked(w)) return true;
      // Keeps the newer half of all that is there, and makes or leaves the older one public.
      const index half = first + static_cast<index>(there) / 2;
      const index limit = is_private && is_before(half, mine) ? mine : half;
      if (change(w, first, limit)) return be_quiet(first, limit), true;
    }
  }

  // Puts another word in the place of `w`, after which no claim of a thief that has seen `w` succeeds.
  [[nodiscard]] bool change(word w, index first, index limit) noexcept {
    // A pop that changes the word linearises here.
    // [split_deque.slow.change] release: pairs with [split_deque.steal.word]: a thief takes only slots that it sees
    // written. Relaxed on failure: the word is read again.
    return queue().public_.compare_exchange_strong(w, word_of(w, first, limit, false), std::memory_order::release,
                                                   std::memory_order::relaxed);
  }

  // How many elements fit behind tail `t`. A steal that fills the deque looks at the word as a push does, so that
  // quiet_until_ is never behind the tail by more than there are elements.
  [[nodiscard]] std::size_t room(index t) noexcept {
    // [split_deque.into.word] acquire: as [split_deque.room.word].
    const word w = queue().public_.load(std::memory_order::acquire);
    const index first = whole(t, head(w));
    be_quiet(first, whole(t, limit(w)));
    return Capacity - (t - first);
  }
};

/// The thieves' side. Copyable; any thread, at any time.
///
/// A steal takes the oldest elements: half of the public ones, rounded up. If there are none, it takes half of the
/// private ones and makes the others public. Only that needs the heavy fence, once.
///
/// `lost` means that the owner or another thief changed the deque meanwhile, in each attempt; `empty` means that at
/// some moment of the call the deque was empty, or held only the element that the owner was popping. Wait-free:
/// `Options.tries` attempts of a bounded number of steps.
template <class T, std::size_t Capacity, split_deque_options Options, class Atomics>
class basic_split_deque<T, Capacity, Options, Atomics>::thief {
 public:
  /// Takes n elements as described above, n at most `limit` and at most the room in `into` + 1. Returns the newest of
  /// them, to be run at once; the other n-1 are now in `into`, in order.
  ///
  /// `into` is another deque, which the calling thread owns. `limit` is at least 1: a 0 ends the program in debug
  /// builds, and counts as 1 in others.
  [[nodiscard]] steal_result<T> steal_half_into(owner& into, std::size_t limit = Capacity) const noexcept {
    basic_split_deque& mine = into.enter();
    Atomics::check(&mine != deque_, "split_deque: a deque cannot steal from itself");
    Atomics::check(limit >= 1, "split_deque: the limit of a steal is at least 1");
    // [split_deque.steal.own_tail] relaxed: the caller owns `into` and is its tail's only writer.
    const index mt = mine.tail_.load(std::memory_order::relaxed);
    const std::size_t most = std::min(std::max<std::size_t>(limit, 1), into.room(mt) + 1);
    T newest{};
    const auto copy = [&](index from, index n) noexcept {
      for (index i = 0; i + 1 != n; ++i) {
        const T value = read(from + i);
        // [split_deque.steal.own_slot] relaxed: behind the published tail; published by [split_deque.steal.publish].
        mine.slot(mt + i).store(value, std::memory_order::relaxed);
      }
      newest = read(from + n - 1);
    };
    const batch_result got = steal_with(most, copy);
    if (!got) return {got.status, T{}, 0};
    // In `into`, the push of n-1 elements linearises here.
    // [split_deque.steal.publish] release: pairs with [split_deque.steal.tail] of a thief of this thief; weaker: the
    // second thief takes a task whose contents it cannot see.
    if (got.count > 1) mine.tail_.store(mt + static_cast<index>(got.count - 1), std::memory_order::release);
    return {steal_status::taken, newest, got.count};
  }

  /// Takes at most `out.size()` elements as described above into `out`, oldest first. For a thief that has no deque, or
  /// runs all that it takes at once. `out` is not empty: an empty one ends the program in debug builds; other builds
  /// return `lost`. After `lost`, any part of `out` may hold garbage.
  [[nodiscard]] batch_result steal_half(std::span<T> out) const noexcept {
    Atomics::check(!out.empty(), "split_deque: a steal of half needs room for at least one element");
    if (out.empty()) return {steal_status::lost, 0};
    return steal_with(out.size(), [&](index from, index n) noexcept {
      for (index i = 0; i != n; ++i) out[i] = read(from + i);
    });
  }

  /// Takes the oldest element. Needs no deque of the caller's.
  [[nodiscard]] steal_result<T> steal() const noexcept {
    T value{};
    const batch_result got = steal_with(1, [&](index from, index) noexcept { value = read(from); });
    if (!got) return {got.status, T{}, 0};
    return {steal_status::taken, value, 1};
  }

  /// Whether there is something to take: the question to ask before going to sleep. False only if nothing that
  /// happened-before this call left an element behind, or the owner is popping the last one. True may be wrong if
  /// others took elements during the call. Wait-free.
  [[nodiscard]] bool has_work() const noexcept {
    const observation seen = observe();
    return count(seen.w) != 0 || seen.private_count() > 0 || nothing(seen.w) != steal_status::empty;
  }

  /// A guess at the number of elements, 0 … Capacity, for statistics and for choosing victims. Before going to sleep
  /// ask has_work() instead. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    // [split_deque.size.word] relaxed: a guess; the two may belong to different moments, hence the clamp.
    const word w = deque_->public_.load(std::memory_order::relaxed);
    // [split_deque.size.tail] relaxed: a guess.
    const index t = deque_->tail_.load(std::memory_order::relaxed);
    return static_cast<std::size_t>(std::clamp(ahead(head(w), t), 0, static_cast<int>(Capacity)));
  }

  /// The index of the oldest element: it changes when a thread takes that element, but not when the owner pops it and
  /// it is private. A guess, for a thief that watches a victim. Wait-free.
  [[nodiscard]] std::size_t oldest_approx() const noexcept {
    // [split_deque.oldest.word] relaxed: a guess.
    return head(deque_->public_.load(std::memory_order::relaxed));
  }

 private:
  friend class basic_split_deque;
  explicit thief(const basic_split_deque& deque) noexcept : deque_(&deque) {}

  // The word and the tail, read in this order.
  struct observation {
    word w;
    index tail;
    [[nodiscard]] int private_count() const noexcept { return in_private(w, tail); }
  };

  [[nodiscard]] observation observe() const noexcept {
    // [split_deque.steal.word] acquire: pairs with [split_deque.slow.change] and [split_deque.seize.claim]; weaker:
    // this thief takes a slot not yet written, or a task whose contents it cannot see.
    const word w = deque_->public_.load(std::memory_order::acquire);
    // A steal or has_work() that finds nothing linearises here, as [split_deque.steal.again] confirms; an element
    // that a pop has reserved counts as taken. What has_work() finds was there between the two reads.
    // [split_deque.steal.tail] acquire: pairs with [split_deque.push.publish] and [split_deque.steal.publish]; weaker:
    // a thread calls the deque empty although it sees what another one did because has_work() had said yes.
    const index t = deque_->tail_.load(std::memory_order::acquire);
    return {w, t};
  }

  // What a thief answers that read word `w` and found nothing: `empty` if the deque was empty at one moment, else
  // `lost`.
  [[nodiscard]] steal_status nothing(word w) const noexcept {
    // [split_deque.steal.again] relaxed: this read comes after the acquire load of the tail. If the word has not
    // changed, no element was claimed between the two reads of the word, and so the deque was empty when the tail was
    // read.
    return deque_->public_.load(std::memory_order::relaxed) == w ? steal_status::empty : steal_status::lost;
  }

  [[nodiscard]] T read(index at) const noexcept {
    // [split_deque.steal.slot] relaxed: may be garbage until the claim succeeds; never dereferenced before.
    return deque_->slot(at).load(std::memory_order::relaxed);
  }

  // Tries until it has taken something, or has seen that there is nothing, or has made all its attempts. `copy(from,
  // n)` copies n elements from index `from` on; what it copies is garbage unless the answer is `taken`.
  template <class Copy>
  [[nodiscard]] batch_result steal_with(std::size_t most, Copy&& copy) const noexcept {
    for (unsigned attempt = 0; attempt != Options.tries; ++attempt) {
      const observation seen = observe();
      if (count(seen.w) != 0) {
        if (const std::size_t n = take_public(seen.w, most, copy); n != 0) return {steal_status::taken, n};
      } else if (seen.private_count() > 0) {
        word w = seen.w;
        if (asked(w) || (ask(w) && !owner_answered(w))) return seize(w, most, copy);
      } else if (nothing(seen.w) == steal_status::empty) {
        return {};
      }
    }
    return {steal_status::lost, 0};
  }

  // Takes the older half of the public elements. Returns how many it took, or 0.
  template <class Copy>
  [[nodiscard]] std::size_t take_public(word w, std::size_t most, Copy&& copy) const noexcept {
    const index there = count(w);
    const auto n = static_cast<index>(std::min<std::size_t>(there - there / 2, most));
    const index from = head(w);
    copy(from, n);
    // A steal of public elements linearises here.
    // [split_deque.steal.claim] release: pairs with [split_deque.room.word]: the slots were read before the owner may
    // reuse them. Strong: a failure is taken for a lost race. Relaxed on failure: what was read is dropped.
    return deque_->public_.compare_exchange_strong(w, word_of(w, from + n, limit(w), asked(w)),
                                                   std::memory_order::release, std::memory_order::relaxed)
               ? n
               : 0;
  }

  // Asks the owner for private elements: its next pop will not take one before it has changed the word.
  [[nodiscard]] bool ask(word& w) const noexcept {
    const word asking = word_of(w, head(w), limit(w), true);
    // [split_deque.ask] relaxed: ordered by [split_deque.seize.fence]: an owner that passes [split_deque.pop.fence]
    // later sees it.
    if (!deque_->public_.compare_exchange_strong(w, asking, std::memory_order::relaxed, std::memory_order::relaxed)) {
      return false;
    }
    w = asking;
    return true;
  }

  // Gives an owner that is at work a moment to answer, so that the thief need not interrupt it.
  [[nodiscard]] bool owner_answered(word w) const noexcept {
    for (unsigned i = 0; i != Options.polls; ++i) {
      // [split_deque.ask.answer] relaxed: this only asks whether the word has changed; the next attempt reads it again.
      if (deque_->public_.load(std::memory_order::relaxed) != w) return true;
      Atomics::pause();
    }
    return false;
  }

  // Takes half of the private elements under word `w`, in which a thief asks for them and nothing is public. Every pop
  // that has not seen this word has reserved its element where this thief sees it; every later pop changes the word,
  // and then this claim fails.
  template <class Copy>
  [[nodiscard]] batch_result seize(word w, std::size_t most, Copy&& copy) const noexcept {
    // [split_deque.seize.fence] seq_cst: pairs with [split_deque.pop.fence]; weaker, or none: thief and owner take the
    // same element.
    Atomics::heavy_fence(std::memory_order::seq_cst);
    // A steal that finds nothing any more linearises here.
    // [split_deque.seize.tail] acquire: pairs with [split_deque.push.publish] and [split_deque.pop.reserve]; weaker: as
    // [split_deque.steal.word].
    const index t = deque_->tail_.load(std::memory_order::acquire);
    const int there = in_private(w, t);
    if (there <= 0) return {nothing(w), 0};
    // More than fit: the word is old, and the claim would fail.
    if (there > static_cast<int>(Capacity)) return {steal_status::lost, 0};
    const auto all = static_cast<std::size_t>(there);
    const auto n = static_cast<index>(std::min(all - all / 2, most));
    const index from = limit(w);
    copy(from, n);
    // A steal of private elements linearises here.
    // [split_deque.seize.claim] release: pairs with [split_deque.steal.word]; weaker: another thief takes a slot that
    // this one has made public and that it does not see written. And with [split_deque.room.word]: the slots were read
    // before the owner may reuse them. Relaxed on failure: what was read is dropped.
    const bool claimed = deque_->public_.compare_exchange_strong(
        w, word_of(w, from + n, t, false), std::memory_order::release, std::memory_order::relaxed);
    return claimed ? batch_result{steal_status::taken, n} : batch_result{steal_status::lost, 0};
  }

  const basic_split_deque* deque_;
};

/// 256 slots, and fences by membarrier(2) where the system has it.
template <class T>
using split_deque = basic_split_deque<T, 256, default_split_deque, membarrier_atomics>;

}  // namespace runq

#endif  // C++20
