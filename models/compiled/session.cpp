// SPDX-License-Identifier: MIT
#include "session.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <typeinfo>

#include <cxxabi.h>
#include <fmt/format.h>
#include <stdio_ext.h>
#include <sys/mman.h>

#include "outside.hpp"

namespace runq::model::compiled {

process_state this_process;

bool touched_memory::is_no_address() const noexcept {
  constexpr unsigned address_bits = 48;
  const auto value = reinterpret_cast<std::intptr_t>(begin);
  return (value >> (address_bits - 1)) != 0 && (value >> (address_bits - 1)) != -1;
}

session& make_session() noexcept {
  // Never destroyed: the program's last exit handlers still ask for it.
  alignas(session) static std::byte memory[sizeof(session)];
  static session* const only = ::new (memory) session;
  this_process.only_session = only;
  return *only;
}

session::session() {
  if (memory_.heap().reserve()) return;
  std::fputs("runq-check: not enough address space for the heap of the program\n", stderr);
  std::_Exit(2);
}

void session::begin_at(const void* callers_stack) {
  memory_.beginning().is_in_the_middle(callers_stack);
  threads_.forget_exit_handlers();
}

// --- the check ------------------------------------------------------------------------------------------------------

namespace {

/// What main() and the threads write is kept back; only the last execution's is ever shown.
class kept_output {
 public:
  static constexpr std::size_t bytes = std::size_t{1} << 16;
  static void begin() {
    std::fflush(nullptr);
    std::setvbuf(stdout, of_stdout, _IOFBF, bytes);
    std::setvbuf(stderr, of_stderr, _IOFBF, bytes);
  }
  static void forget() {
    if (__fpending(stdout) != 0) __fpurge(stdout);
    if (__fpending(stderr) != 0) __fpurge(stderr);
  }
  static std::string take() {
    const std::size_t out = __fpending(stdout);
    const std::size_t err = __fpending(stderr);
    std::string text(of_stdout, out);
    text.append(of_stderr, err);
    __fpurge(stdout);
    __fpurge(stderr);
    return text;
  }

 private:
  inline static char of_stdout[bytes];
  inline static char of_stderr[bytes];
};

[[noreturn]] void terminated() {
  this_process.in_program = false;
  session& s = current_session();
  std::string message = "std::terminate() is called, as when a std::thread ends that was neither joined nor detached";
  if (const std::type_info* const type = abi::__cxa_current_exception_type()) {
    int status = 0;
    char* const name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    message = fmt::format("an exception is not caught: {}", status == 0 ? name : type->name());
    try {
      throw;
    } catch (const std::exception& e) {
      message += fmt::format(": {}", e.what());
    } catch (...) {
    }
  }
  s.code().fail(failure::crash, message, __builtin_return_address(0));
}

/// Protects the ends of the stacks until the stacks are freed, when the C library writes to that memory.
class ends_of_stacks {
 public:
  explicit ends_of_stacks(const exact::search& of) : search_(of) { allow(PROT_NONE); }
  ends_of_stacks(const ends_of_stacks&) = delete;
  ends_of_stacks& operator=(const ends_of_stacks&) = delete;
  ~ends_of_stacks() { allow(PROT_READ | PROT_WRITE); }

 private:
  void allow(int access) const {
    for (unsigned t = 1; t <= max_threads; ++t) mprotect(search_.stack_of(t).lowest(), guard_bytes, access);
  }
  const exact::search& search_;
};

}  // namespace

/// Notes what every execution begins with. False, with a message, when the system gives too little.
bool session::begin_check(const program_threads::program_start& start, search_result& result) {
  if (!identities_.start()) {
    result.message = fmt::format("limit reached: the system gives no {} threads", max_threads - 1);
    return false;
  }
  code_.find();
  atomics_.find_libraries();
  memory_.find_libraries();
  memory_.beginning().remember();
  threads_.remember(start, memory_.beginning().is_of_whole_program());
  keys_.remember();
  return true;
}

search_result session::check(const program_threads::program_start& start, const exact_options& options) {
  search_result result;
  if (!begin_check(start, result)) return result;
  exact::search search(*this, options);
  search.take_work_from(options_.source);
  if (options_.shown) search.show_only(*options_.shown);
  now_.search = &search;
  now_.at_end = &waits_;
  now_.identities = &identities_;
  const ends_of_stacks protected_ends(search);
  memory_.beginning().add_memory();
  objects_.take_over_spin_locks();
  kept_output::begin();
  if (!memory_.beginning().protect()) {
    now_.search = nullptr;
    result.message = "the system does not let the checker protect memory";
    return result;
  }
  begin_search();
  result = search.run();
  note_unseen_code();
  output_ = kept_output::take();
  statistics_ = search.statistics();
  last_way_ = search.full_way_here();
  weight_done_ = search.weight_done();
  if (result.what == failure::data_race) note_accepted_race();
  if (options_.describes) show(result);
  now_.search = nullptr;
  return result;
}

/// Nothing has been explored yet.
void session::begin_search() {
  now_.omitted = {};
  now_.waits.forget();
  now_.last_late = {};
  now_.omitted.local_members = has_code_by_clang();
  forget_unseen_code();
}

bool session::is_end_of_stack(const void* address) const noexcept {
  if (!checking()) return false;
  const std::byte* const lowest = search()->stack_of(search()->running()).lowest();
  return address >= lowest && address < lowest + guard_bytes;
}

void session::begin_search_again() {
  begin_search();
  failures_.forget();
}

// --- an execution ---------------------------------------------------------------------------------------------------

void session::begin_execution() {
  ++executions_;
  failures_here_ = 0;
  note_unseen_code();
  memory_.beginning().restore();
  memory_.begin_execution();
  kept_output::forget();
  now_.begin();
  threads_.begin_execution();
  keys_.begin_execution();
  waits_.begin_execution();
  reuse_.begin_execution();
  objects_.begin_execution();
  atomics_.begin_execution();
  begin_thread(1);
  std::set_terminate(&terminated);
}

void session::begin_thread(unsigned thread) {
  now_.threads[thread].begin(code_.root());
  reuse_.begin_thread(thread);
  threads_.begin_thread(thread);
  keys_.begin_thread(thread);
  waits_.begin_thread(thread);
  locks_.begin_thread(thread);
}

void session::enter(unsigned thread) noexcept {
  identities_.take(thread);
  now_.enter(thread);
}

void session::end_execution() {
  if (locks_.are_abandoned(threads_)) return;
  if (options_.counts_leaks) memory_.heap().look_for_leaks(memory_.beginning().ranges());
}

/// What std::thread gives its thread: a block of the heap, which nobody else knows.
std::span<const std::byte> session::captured(void* (*function)(void*), const void* argument) {
  program_heap& heap = memory_.heap();
  if (code_.is_own(reinterpret_cast<const void*>(function)) || !heap.owns(argument)) return {};
  const user_heap::block* const b = heap.find(argument);
  if (b == nullptr || b->begin != argument) return {};
  return {b->begin, b->size};
}

pthread_t session::spawn(void* (*function)(void*), void* argument, const void* code) {
  const unsigned child = threads_.number_of_child();
  now_.note_effect();
  const step started = code_.step_here(code);
  const unsigned like = now_.alike.first_like(now_, child, function, argument, captured(function, argument));
  now_.search->spawn(child, code_.here(code), like);
  begin_thread(child);
  return threads_.start(child, started, function, argument);
}

void* session::allocate(std::size_t size, std::size_t alignment, const void* code) {
  step by;
  if (!checking()) {
    by.thread = user_heap::before_main;
    return memory_.heap().allocate(size, alignment, by);
  }
  now_.note_effect();
  by = code_.step_here(code);
  void* const again = reuse_.allocate(size, alignment, by, code);
  return again != nullptr ? again : memory_.heap().allocate(size, alignment, by);
}

void session::free(void* p, const void* code) {
  program_heap& heap = memory_.heap();
  if (!checking()) return heap.free_outside(p);
  user_heap::block& b = heap.block_to_free(p, code);
  objects_.require_idle(b.begin, b.size, "freed", code);
  objects_.forget(b.begin, b.end());
  heap.free(b, code);
}

}  // namespace runq::model::compiled
