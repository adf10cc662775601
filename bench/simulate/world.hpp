// SPDX-License-Identifier: MIT
// world: virtual processors in virtual time. Each has a clock; the one whose clock is behind all others runs, up to its
// next operation on shared memory. Each such operation costs what the state of its cache line makes it cost; two
// processors that want one line wait for each other. A world is deterministic: nothing in it depends on real time, on
// addresses, or on chance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "costs.hpp"
#include "exact_fiber.hpp"
#include "runq/detail/policy.hpp"

namespace runq::simulate {

/// The line of source that an operation was called from.
struct site {
  const char* file = "";
  int line = 0;
};

/// What a virtual processor does with its time.
enum class spent : unsigned char {
  work,       // in tasks
  own_lines,  // operations on lines that it has, and fences
  lines,      // until a line comes from another processor
  locks,      // pauses and naps until a lock is free
  looking,    // pauses while it looks for tasks
  calls,      // system calls
  asleep,
  count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(spent::count)> spent_names{
    "work", "own_lines", "lines", "locks", "looking", "calls", "asleep"};

class world {
 public:
  static constexpr unsigned most_processors = 256;
  static constexpr picoseconds never = std::numeric_limits<picoseconds>::max();
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t most_with_heavy_fences = detail::scheduler_fences::most_cpus;

  world(const costs& machine, unsigned processors);
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world();

  /// The world that exists now; there is one at most.
  [[nodiscard]] static world& here() noexcept { return *here_; }

  // -- before run() --

  /// For the report: the memory from `begin` on, at the boundary of a line, belongs to `what`; `every` bytes are an
  /// object, of which the report says the offset. Several objects may have one name.
  void name(const void* begin, std::size_t bytes, std::string_view what, std::size_t every);
  /// Processor `i` will run `body`, from that time on.
  void start(unsigned i, std::function<void()> body, picoseconds from = 0);
  /// Runs all processors until stop(), or until none can go on.
  void run();

  // -- called by processors; before and after run() they cost nothing --

  /// After this the caller reads the value. True: not from memory, but `bits`, from the caller's own store buffer.
  [[nodiscard]] bool load(const void* at, site where, std::uint64_t& bits);
  /// Writes the `size` bytes at `bits` to `at`: now, or when the store leaves the store buffer.
  void store(void* at, site where, const void* bits, std::size_t size);
  /// After this the caller reads and writes the value, before any other operation.
  void read_modify_write(const void* at, site where);
  void fence();
  /// Whether the shipped scheduler has light and heavy fences on so many processors, instead of fences on both sides.
  [[nodiscard]] bool fences_are_asymmetric() const noexcept { return processors_.size() <= most_with_heavy_fences; }
  /// As membarrier(2): the stores of all processors are visible afterwards, and all that run are interrupted.
  void heavy_fence();
  /// Waits for a moment; if `for_lock`, for the lock that it has looked at last.
  void pause(bool for_lock = false);
  void yield_call();
  void nap(picoseconds how_long);
  void work(picoseconds how_long);
  /// As futex(2): sleeps until wake(), unless `reason()`, asked first, says that there is no reason to; or until `end`,
  /// and returns false then.
  template <class Reason>
  bool sleep(Reason&& reason, picoseconds end = never) {
    if (self_ < 0) return true;
    take_turn();
    return !reason() || fall_asleep(end);
  }
  /// Wakes processor `i` if it sleeps or is about to.
  void wake(int i);
  /// Ends run(): the end of what is measured. Processors are abandoned where they are.
  void stop();
  /// The caller's number; -1 outside of run().
  [[nodiscard]] int self() const noexcept { return self_; }
  [[nodiscard]] picoseconds now() const noexcept { return self_ < 0 ? 0 : processors_[index()].clock; }

  /// Memory that lives as long as the world, at the boundary of a line; see name(). Never given out twice, so that a
  /// line's history does not depend on the allocator.
  [[nodiscard]] void* allocate(std::size_t bytes, std::string_view what, std::size_t every = line_bytes);

  // -- after run() --

  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  [[nodiscard]] picoseconds end() const noexcept { return end_; }
  [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }
  /// The share of each use in the time of all processors; the shares sum up to 1.
  [[nodiscard]] std::array<double, static_cast<std::size_t>(spent::count)> shares() const;

  /// How long processors have waited at a place: a line of an object, used by a line of source.
  struct place {
    std::string object;
    std::size_t offset = 0;  // of the cache line in the object
    site where;
    picoseconds waited = 0;  // for the line, and for the lock in it
    picoseconds queued = 0;  // the part of it in which other processors had the line or the lock
    std::uint64_t times = 0;
  };
  /// The places, the worst first.
  [[nodiscard]] std::vector<place> places() const;

 private:
  using set_of_processors = std::array<std::uint64_t, most_processors / 64>;
  struct cache_line_state {
    set_of_processors holders{};
    bool modified = false;    // by its only holder, since it got the line
    picoseconds free_at = 0;  // when the last transfer that was asked for ends
    int asked_last = -1;      // the processor that has asked for the line last
    bool to_write = false;    // whether that processor wants to be the only holder
    std::uint32_t name = 0;   // of names_
    std::size_t offset = 0;
  };
  struct buffered_store {
    void* to;
    std::uint64_t bits;
    std::size_t size;
    bool takes_line;  // false: an earlier store has done that
  };
  struct processor {
    model::exact::fiber stack;
    std::function<void()> body;
    picoseconds clock = 0;
    std::deque<buffered_store> stores;  // in the store buffer, the oldest first
    picoseconds stores_done = 0;        // when the last store leaves the store buffer
    picoseconds store_queued = 0;       // how long it has to wait for the line to be free
    std::size_t last_store = 0;         // its place
    const void* last_at = nullptr;      // of the last operation
    site last_site;
    enum class condition : unsigned char { absent, ready, falling_asleep, sleeping, ended } is = condition::absent;
    bool woken = false;           // since it began to fall asleep
    picoseconds interrupted = 0;  // by others, since its last operation
    std::array<picoseconds, static_cast<std::size_t>(spent::count)> uses{};
  };
  struct object {
    std::uintptr_t begin;
    std::uintptr_t end;
    std::size_t every;
    std::uint32_t name;
  };

  [[nodiscard]] std::size_t index() const noexcept { return static_cast<std::size_t>(self_); }
  [[nodiscard]] processor& me() noexcept { return processors_[index()]; }
  void take_turn();
  void spend(spent what, picoseconds how_long) noexcept;
  void wait(std::size_t at_place, picoseconds how_long, picoseconds queued) noexcept;
  [[nodiscard]] cache_line_state& line_of(const void* at);
  [[nodiscard]] std::size_t place_of(const cache_line_state& line, site where);
  [[nodiscard]] std::uint32_t number_of_name(std::string_view what);
  [[nodiscard]] std::uint64_t number_of_file(const char* file);
  [[nodiscard]] bool has(const cache_line_state& line) const noexcept;
  [[nodiscard]] bool has_alone(const cache_line_state& line) const noexcept;
  [[nodiscard]] bool travels(const cache_line_state& line) const noexcept { return line.free_at > now(); }
  /// The processors of the caller's socket, and of its group: each from the first up to the end.
  struct neighbourhood {
    unsigned socket, socket_end, group, group_end;
  };
  [[nodiscard]] neighbourhood neighbours() const noexcept;
  [[nodiscard]] picoseconds from_nearest(const cache_line_state& line) const noexcept;
  [[nodiscard]] picoseconds from_farthest(const cache_line_state& line) const noexcept;
  [[nodiscard]] set_of_processors sources(const cache_line_state& line) const noexcept;
  [[nodiscard]] static bool any_in(const set_of_processors& of, unsigned begin, unsigned end) noexcept;
  static void own(cache_line_state& line, int processor) noexcept;
  cache_line_state& begin_operation(const void* at, site where);
  void await_own_store(cache_line_state& line, site where);
  void drain_stores();
  void leave_buffer(int of);
  void apply_stores(picoseconds until);
  [[nodiscard]] bool fall_asleep(picoseconds until);
  void go_on_at(picoseconds at, int i);
  void forget_alarm(int i);
  [[noreturn]] void abandon();
  static void enter(void*);

  static inline world* here_ = nullptr;

  const costs machine_;
  std::deque<processor> processors_;
  int self_ = -1;
  // The processors that can go on, except the running one: a heap, the earliest clock first; ties by number.
  std::vector<std::pair<picoseconds, int>> turns_;
  // The stores in all buffers: a heap, the earliest first. The second number is that of the store.
  std::vector<std::tuple<picoseconds, std::uint64_t, int>> drains_;
  std::uint64_t stores_ = 0;
  bool stopped_ = false;
  picoseconds end_ = 0;
  std::uint64_t operations_ = 0;

  std::vector<object> objects_;
  std::vector<std::string> names_{"other"};
  std::unordered_map<std::uintptr_t, cache_line_state> lines_;
  std::unordered_map<const char*, std::uint64_t> files_;  // by address; one file may have several
  std::vector<std::string_view> file_names_;
  std::unordered_map<std::uint64_t, std::size_t> place_numbers_;  // key: name, line of the object, site
  std::vector<place> places_;
  struct free_bytes {
    void operator()(std::byte* p) const;
  };
  std::vector<std::unique_ptr<std::byte[], free_bytes>> memory_;
};

}  // namespace runq::simulate
