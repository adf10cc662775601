// SPDX-License-Identifier: MIT
// The run of a check, threads, locks, and how an execution ends.
#include "session.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include <cxxabi.h>
#include <fmt/format.h>
#include <limits.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <unwind.h>

#include "outside.hpp"

namespace runq::model::compiled {

bool in_program = false;
touched_memory touched;
session* only_session = nullptr;

bool touched_memory::is_no_address() const noexcept {
  constexpr unsigned address_bits = 48;
  const auto value = reinterpret_cast<std::intptr_t>(begin);
  return (value >> (address_bits - 1)) != 0 && (value >> (address_bits - 1)) != -1;
}

session& make_session() noexcept {
  // Never destroyed: the program's last exit handlers still ask for it.
  alignas(session) static std::byte memory[sizeof(session)];
  static session* const only = ::new (memory) session;
  only_session = only;
  return *only;
}

session::session() {
  if (!heap_.reserve()) {
    std::fputs("runq-check: not enough address space for the heap of the program\n", stderr);
    std::_Exit(2);
  }
  wide_values_.push_back(0);
  wide_numbers_[0] = 0;
}

// --- the run --------------------------------------------------------------------------------------------------------

namespace {

/// At the end of each stack, never to be touched.
constexpr std::size_t guard_bytes = 4096;

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
  in_program = false;
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
  s.fail(failure::crash, message, __builtin_return_address(0));
}

// Not inline: exit_thread() unwinds the stack up to here.
[[gnu::noinline]] int call_main(main_function main, int argc, char** argv, char** environment) noexcept {
  return main(argc, argv, environment);
}
[[gnu::noinline]] void* call_thread(void* (*function)(void*), void* argument) noexcept { return function(argument); }

}  // namespace

search_result session::check(main_function main, int argc, char** argv, char** environment,
                             const exact_options& options) {
  main_ = main;
  argc_ = argc;
  argv_ = argv;
  environment_ = environment;
  search_result result;
  if (!parked_.start(max_threads - 1)) {
    result.message = fmt::format("limit reached: the system gives no {} threads", max_threads - 1);
    return result;
  }
  files_.remember();
  main_pointer_ = thread_pointer();
  program_code_.add_module("");
  omitted_.local_members = has_code_by_clang();
  waiters_ = find_symbol("_ZZNSt8__detail18__waiter_pool_base6_S_forEPKvE3__w");
  standard_library_ = memory_of_standard_library();
  storage_.find();
  storage_.remember_main();
  heap_.remember();
  if (is_whole_program()) {
    handlers_before_main_ = exit_handlers_;
    quick_handlers_before_main_ = quick_handlers_;
    destructors_ = find_destructors();
  }
  keys_before_main_ = keys_;
  values_before_main_ = threads_[1].values;
  exact::search search(*this, options);
  search.take_work_from(source_);
  if (shown_) search.show_only(*shown_);
  search_ = &search;
  // Protects the ends of the stacks until the stacks are freed, when the C library writes to that memory.
  struct guards {
    const exact::search& of;
    explicit guards(const exact::search& s) : of(s) { set(PROT_NONE); }
    guards(const guards&) = delete;
    guards& operator=(const guards&) = delete;
    ~guards() { set(PROT_READ | PROT_WRITE); }
    void set(int access) const {
      for (unsigned t = 1; t <= max_threads; ++t) mprotect(of.stack_of(t).lowest(), guard_bytes, access);
    }
  } const ends_of_stacks(search);
  memory_.add_global_variables();
  if (heap_.used_before_main() != 0) memory_.add(heap_.memory_before_main(), heap_.used_before_main());
  take_over_spin_locks();
  kept_output::begin();
  if (!memory_.protect()) {
    result.message = "the system does not let the checker protect memory";
    return result;
  }
  forget_unseen_code();
  result = search.run();
  note_unseen_code();
  output_ = kept_output::take();
  statistics_ = search.statistics();
  last_way_ = search.way_here();
  if (describes_) show_accesses(result);
  search_ = nullptr;
  if (!describes_) return result;
  for (event& e : result.trace) describe(e);
  if (result.where.code != nullptr) result.where = symbols_.own_line(static_cast<const frame*>(result.where.code));
  return result;
}

bool session::is_end_of_stack(const void* address) const noexcept {
  if (search_ == nullptr) return false;
  const std::byte* const lowest = search_->stack_of(search_->running()).lowest();
  return address >= lowest && address < lowest + guard_bytes;
}

void session::begin_execution() {
  ++executions_;
  note_unseen_code();
  memory_.restore();
  storage_.restore_main();
  if (!callers_stack_.empty()) std::memcpy(callers_begin_, callers_stack_.data(), callers_stack_.size());
  for (const auto& [at, value] : originals_) std::memcpy(at, &value, sizeof value);
  files_.close_others();
  heap_.begin_execution();
  shadow_.begin_execution();
  shown_accesses_.clear();
  kept_output::forget();
  exit_handlers_ = handlers_before_main_;
  quick_handlers_ = quick_handlers_before_main_;
  for (auto& [at, place] : waiting_places_) place.begin_execution();
  objects_.clear();
  for (auto& [at, object] : small_objects_) object.now = object.at_start;
  object_call_ = {};
  keys_ = keys_before_main_;
  unjoined_ = 0;
  releases_ = 0;
  for (thread_info& t : threads_) t.is_started = false;
  begin_thread(1);
  threads_[1].values = values_before_main_;
  std::set_terminate(&terminated);
}

void session::begin_thread(unsigned thread) {
  thread_info& t = threads_[thread];
  t.at = frames_.root();
  t.result = nullptr;
  t.is_started = true;
  t.has_ended = false;
  t.spawned = 0;
  t.keys = 0;
  t.given_up = nullptr;
  t.usable = {};
  t.has_effect = false;
  t.exit_handlers.clear();
  t.visits.clear();
  t.rounds.clear();
  t.woken.clear();
  t.timed = 0;
  t.timeouts = 0;
  t.repeated = 0;
  t.spurious_wakeups = 0;
  t.failed_tries = 0;
  t.reused = 0;
  t.passed.clear();
  t.held.clear();
  t.taken.clear();
  t.values.clear();
  t.in_call = t.has_called = t.in_lock_free_call = false;
}

void session::begin_at(const void* callers_stack) {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const std::byte* const end = static_cast<std::byte*>(lowest) + size;
  callers_begin_ = static_cast<std::byte*>(const_cast<void*>(callers_stack));
  callers_stack_.assign(static_cast<const std::byte*>(callers_begin_), end);
  exit_handlers_.clear();
}

void session::register_exit_handlers() {
  for (const handler& h : exit_handlers_) __cxxabiv1::__cxa_atexit(h.function, h.argument, nullptr);
  exit_handlers_.clear();
}

/// Whether that memory is put back anyway, or is new in every execution.
bool session::is_put_back(const void* at) const noexcept {
  const auto within = [at](const std::byte* begin, std::size_t size) { return at >= begin && at < begin + size; };
  if (heap_.owns(at) || memory_.contains(at) || within(callers_begin_, callers_stack_.size())) return true;
  for (unsigned t = 1; t <= max_threads; ++t) {
    if (within(search_->stack_of(t).lowest(), exact::fiber_stack_bytes)) return true;
  }
  return storage_.contains(at, main_pointer_) ||
         std::any_of(parked_.begin(), parked_.end(), [&](const auto& p) { return storage_.contains(at, p.pointer); });
}

void session::run(unsigned thread) {
  thread_info& t = threads_[thread];
  if (thread == 1) {
    in_program = true;
    const int status = call_main(main_, argc_, argv_, environment_);
    exit_program(status, ending::exit, nullptr);
  }
  in_program = true;
  end_thread(call_thread(t.function, t.argument));
}

void session::end_thread(void* result) {
  thread_info& t = running();
  t.result = result;
  in_program = true;
  run_exit_handlers(t.exit_handlers);
  run_key_handlers(t.values);
  in_program = false;
  t.has_ended = true;
  if (running_thread() != 1) search_->finish_thread();
  wait_for_all_threads();
  exit_program(0, ending::exit, nullptr);
}

/// When main() has left by pthread_exit(), the program goes on until its last thread ends. Only threads that the first
/// one knows of count, so that it does the same in all executions: it knows of others after it has waited for these.
void session::wait_for_all_threads() {
  std::array<bool, exact::thread_slots> seen{};
  const auto next = [&] {
    unsigned t = 2;
    while (t <= max_threads && (seen[t] || !threads_[t].is_started || !threads_[t].started.before(search_->knows()))) {
      ++t;
    }
    return t;
  };
  for (unsigned t = next(); t <= max_threads; t = next()) {
    seen[t] = true;
    search_->join(t, {});
  }
}

/// Repeats it as often as the C library does, because a handler may set values again.
void session::run_key_handlers(std::vector<void*>& values) {
  for (int round = 0; round != PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    for (unsigned key = 0; key != values.size(); ++key) {
      void* const value = std::exchange(values[key], nullptr);
      if (value != nullptr && keys_[key].exists && keys_[key].destroy != nullptr) keys_[key].destroy(value);
    }
  }
}

void session::exit_thread(void* result, const void* code) {
  running().result = result;
  // Until the thread's own function has been left; what is below belongs to the checker.
  const auto stop = [](int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception*, _Unwind_Context* context,
                       void* self) {
    auto& s = *static_cast<session*>(self);
    const auto function = static_cast<std::uintptr_t>(_Unwind_GetRegionStart(context));
    const bool is_last = function == reinterpret_cast<std::uintptr_t>(&call_thread) ||
                         function == reinterpret_cast<std::uintptr_t>(&call_main);
    if (is_last) s.end_thread(s.running().result);
    return _URC_NO_REASON;
  };
  static std::array<_Unwind_Exception, exact::thread_slots> exceptions;
  _Unwind_Exception& exception = exceptions[search_->running()];
  exception = {};
  in_program = true;
  _Unwind_ForcedUnwind(&exception, +stop, this);
  in_program = false;
  refuse("pthread_exit() through a function that cannot be unwound", code);
}

void session::enter(unsigned thread) noexcept {
  if (thread != storage_of_) set_thread_pointer(thread == 1 ? main_pointer_ : parked_.pointer(thread - 2));
  storage_of_ = thread;
  self_ = {thread, search_->position_of(thread), &threads_[thread], search_->stack_of(thread).lowest()};
}
void session::leave() noexcept {
  if (storage_of_ != 1) set_thread_pointer(main_pointer_);
  storage_of_ = 1;
}

void session::run_exit_handlers(std::vector<handler>& handlers) {
  while (!handlers.empty()) {
    const handler last = handlers.back();
    handlers.pop_back();
    last.function(last.argument);
  }
}

void session::exit_program(int status, ending how, const void* code) {
  if (search_->running() != 1) refuse("exit() by another thread than the first", code);
  in_program = true;
  if (how == ending::exit) {
    run_exit_handlers(threads_[1].exit_handlers);
    run_exit_handlers(exit_handlers_);
    if (is_whole_program()) run_destructors();
  } else if (how == ending::quick_exit) {
    run_exit_handlers(quick_handlers_);
  }
  in_program = false;
  if (status != 0) fail(failure::check_failed, fmt::format("the program ends with status {}", status), code);
  search_->finish_thread();
}

/// The functions of the program that the linker has collected, as those with __attribute__((destructor)): after all
/// that were registered, the last one first.
void session::run_destructors() {
  for (auto d = destructors_.rbegin(); d != destructors_.rend(); ++d) (*d)();
}

void session::at_thread_exit(exit_handler function, void* argument) {
  if (search_ == nullptr) return at_exit(function, argument);
  running().exit_handlers.push_back({function, argument});
}
void session::at_exit(exit_handler function, void* argument) { exit_handlers_.push_back({function, argument}); }
void session::at_quick_exit(exit_handler function, void* argument) { quick_handlers_.push_back({function, argument}); }

// --- leaks ----------------------------------------------------------------------------------------------------------

void session::end_execution() {
  if (has_abandoned_locks()) return;
  if (leaks_count_) look_for_leaks();
}

/// Memory that no global variable leads to, when all threads have ended.
void session::look_for_leaks() {
  std::vector<const user_heap::block*> left;
  for (unsigned t = 1; t <= max_threads; ++t) {
    for (const user_heap::block& b : heap_.blocks_of(t)) {
      if (!b.is_released) left.push_back(&b);
    }
  }
  if (left.empty()) return;
  std::vector<const user_heap::block*> found;
  for (const restored_memory::range& r : memory_.ranges()) mark_reachable(r.begin, r.end, found);
  for (std::size_t i = 0; i != found.size(); ++i) {
    mark_reachable(found[i]->begin, found[i]->begin + found[i]->size, found);
  }
  for (const user_heap::block* b : left) {
    if (std::find(found.begin(), found.end(), b) != found.end()) continue;
    show(event_kind::allocate, b->allocated, b->begin);
    search_->report(failure::leak,
                    fmt::format("{} bytes, allocated at {}, are never freed", b->size, to_text(b->allocated.at)),
                    {"", 0, frames_.at(b->allocated.at)});
    return;
  }
}

void session::mark_reachable(const std::byte* begin, const std::byte* end,
                             std::vector<const user_heap::block*>& found) {
  for (const std::byte* at = begin; at + sizeof(void*) <= end; at += sizeof(void*)) {
    const void* p = nullptr;
    std::memcpy(&p, at, sizeof p);
    if (!heap_.owns(p)) continue;
    const user_heap::block* const b = heap_.find(p);
    if (b != nullptr && std::find(found.begin(), found.end(), b) == found.end()) found.push_back(b);
  }
}

// --- calls ----------------------------------------------------------------------------------------------------------

void session::enter_function(const void* code) {
  thread_info& t = running();
  t.at = frames_.callee(t.at, code);
  // Fails before the end of the stack is reached: the checker needs some of it, too, and must not be stopped just
  // anywhere.
  constexpr std::size_t left_to_checker = std::size_t{32} * 1024;
  if (static_cast<const std::byte*>(__builtin_frame_address(0)) < self_.stack + guard_bytes + left_to_checker) {
    fail(failure::crash, fmt::format("a thread has used up its stack of {} bytes", exact::fiber_stack_bytes), code);
  }
}
void session::leave_function() noexcept {
  thread_info& t = running();
  if (t.at->caller != nullptr) t.at = t.at->caller;
}

namespace {

[[nodiscard]] const std::byte* word_at(const std::byte* place) noexcept {
  const std::byte* word = nullptr;
  std::memcpy(&word, place, sizeof word);
  return word;
}

/// Whether the instruction before that address is a call.
[[nodiscard]] bool follows_call(const code_ranges& program, const std::byte* code) noexcept {
  constexpr std::size_t call_bytes = 5;
  constexpr std::byte call{0xe8};
  // Its second byte says call rather than jump.
  const auto indirect_call = [](const std::byte* instruction) {
    return instruction[0] == std::byte{0xff} && (instruction[1] & std::byte{0x38}) == std::byte{0x10};
  };
  if (!program.contains(code) || !program.contains(code - call_bytes - 1)) return false;
  return code[-static_cast<int>(call_bytes)] == call || indirect_call(code - 2) || indirect_call(code - 3) ||
         indirect_call(code - 6);
}

}  // namespace

/// Where the program called the library that calls at `code_of_library`: the innermost return address of the program
/// behind the last place on the stack that holds that one. Deeper places are the checker's own, and may hold any
/// address that it has seen before. The result is only shown to people, so a guess will do. To look through the stack
/// takes long: if the addresses are still where they were found the last time, that result counts.
const void* session::code_of_caller(const void* code_of_library) noexcept {
  const auto* const stack = static_cast<const std::byte*>(__builtin_frame_address(0));
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  static_assert(std::tuple_size_v<decltype(library_calls_)> == 64);
  const auto number = reinterpret_cast<std::uintptr_t>(stack) * odd + reinterpret_cast<std::uintptr_t>(code_of_library);
  library_call& last = library_calls_[number * odd >> 58];
  if (last.stack == stack && last.code_of_library == code_of_library && word_at(last.from) == code_of_library &&
      word_at(last.at) == last.code) {
    return last.code;
  }
  const std::byte* const end = search_->stack_of(search_->running()).lowest() + exact::fiber_stack_bytes;
  const std::byte* from = stack;
  for (const std::byte* place = stack; place + sizeof(void*) <= end; place += sizeof(void*)) {
    if (word_at(place) == code_of_library) from = place;
  }
  for (const std::byte* at = from; at + sizeof(void*) <= end; at += sizeof(void*)) {
    const std::byte* const code = word_at(at);
    if (!follows_call(program_code_, code)) continue;
    last = {stack, code_of_library, from, at, code};
    return code;
  }
  return nullptr;
}

std::string session::to_text(const frame* at) {
  const site where = symbols_.own_line(at);
  const std::string_view path = where.file;
  if (where.line == 0) return "an unknown line";
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), where.line);
}
std::string session::to_text(exact::event_id e) { return to_text(static_cast<const frame*>(search_->site_of(e).code)); }

// --- threads --------------------------------------------------------------------------------------------------------

pthread_t session::spawn(void* (*function)(void*), void* argument, const void* code) {
  const unsigned parent = search_->running();
  thread_info& self = running();
  note_effect();
  const auto [at, added] = thread_numbers_.try_emplace({parent, self.spawned}, 0);
  if (added) {
    const auto next = static_cast<unsigned>(thread_numbers_.size()) + 1;
    if (next > max_threads) {
      search_->give_up(
          fmt::format("limit reached: {} threads, the one of main() included; make the program smaller", max_threads));
    }
    at->second = next;
  }
  ++self.spawned;
  ++unjoined_;
  const unsigned child = at->second;
  const step started = step_here(code);
  search_->spawn(child, here(code));
  thread_info& t = threads_[child];
  begin_thread(child);
  t.started = started;
  t.function = function;
  t.argument = argument;
  storage_.reset(parked_.pointer(child - 2));
  return parked_.handle(child - 2);
}

unsigned session::slot_of(pthread_t thread, const char* what, const void* code) {
  for (unsigned t = 2; t <= max_threads; ++t) {
    if (pthread_equal(parked_.handle(t - 2), thread) != 0) return t;
  }
  fail(failure::misuse, fmt::format("a thread is {} that the program has not started", what), code);
}

/// One call only may join or detach a thread, whatever the order of two.
session::thread_info& session::give_up_handle(unsigned thread, const char* what, const void* code) {
  thread_info& t = threads_[thread];
  if (t.given_up != nullptr) {
    fail(failure::misuse,
         fmt::format("T{} is {} that is {} already, by T{} at {}", thread - 1, what, t.given_up,
                     t.given_up_by.thread - 1, to_text(t.given_up_by.at)),
         code);
  }
  t.given_up = what;
  t.given_up_by = step_here(code);
  return t;
}

void* session::join(pthread_t thread, const void* code) {
  const unsigned number = slot_of(thread, "joined", code);
  thread_info& t = give_up_handle(number, "joined", code);
  note_effect();
  search_->join(number, here(code));
  --unjoined_;
  return t.result;
}

void session::detach(pthread_t thread, const void* code) {
  constexpr unsigned main_thread = 1;
  const bool is_main = running_thread() == main_thread && is_running(thread);
  give_up_handle(is_main ? main_thread : slot_of(thread, "detached", code), "detached", code);
}

// --- keys ----------------------------------------------------------------------------------------------------------

unsigned session::create_key(exit_handler destroy, const void* code) {
  auto number = static_cast<unsigned>(keys_.size());
  if (search_ != nullptr) {
    thread_info& self = running();
    const auto next = static_cast<unsigned>(keys_before_main_.size() + key_numbers_.size());
    number = key_numbers_.try_emplace({search_->running(), self.keys++}, next).first->second;
    note_effect();
    if (number >= key_uses_.size()) search_->give_up(fmt::format("limit reached: {} keys", key_uses_.size()));
    access(&key_uses_[number], 1, true, code);
  }
  if (keys_.size() <= number) keys_.resize(number + 1);
  keys_[number] = {destroy, true, {}};
  return number;
}

void session::require_key(unsigned key, const char* what, bool is_write, const void* code) {
  if (key >= keys_.size() || (!keys_[key].exists && keys_[key].deleted.thread == 0)) {
    fail(failure::misuse, fmt::format("a key is {} that was not created", what), code);
  }
  if (!keys_[key].exists) {
    fail(failure::misuse,
         fmt::format("a key is {} after or while it is deleted by T{} at {}", what, keys_[key].deleted.thread - 1,
                     to_text(keys_[key].deleted.at)),
         code);
  }
  if (is_write) object_call_.what = "deleted";
  access(&key_uses_[key], 1, is_write, code);
  object_call_ = {};
}

void session::delete_key(unsigned key, const void* code) {
  if (search_ != nullptr) {
    require_key(key, "deleted", true, code);
    keys_[key].deleted = step_here(code);
  } else if (key >= keys_.size()) {
    return;
  }
  keys_[key].exists = false;
}

void*& session::value_of_key(unsigned key, const void* code) {
  if (search_ != nullptr) require_key(key, "used", false, code);
  std::vector<void*>& values = search_ == nullptr ? threads_[1].values : running().values;
  if (values.size() <= key) values.resize(key + 1);
  return values[key];
}

// --- time ----------------------------------------------------------------------------------------------------------

session::wait_begun session::before_wait(const caller_state& caller) {
  if (!recognises_waiting_) return {0, wait_begun::no_round};
  forget_before_effect();
  const std::uint64_t state = state_of(caller);
  for (const visit& v : running().woken) {
    if (v.state == state) return {state, v.position};
  }
  return {state, wait_begun::no_round};
}

void session::note_woken(const wait_begun& wait) {
  if (!recognises_waiting_) return;
  forget_before_effect();
  running().woken.push_back({wait.state, search_->position(), running().timed});
}

/// A round that changes nothing and leads back to the wait may be left out, as one of a loop that takes locks.
void session::leave_out_round(const wait_begun& wait, const void* code) {
  // While the thread is replayed, the graph says what it does.
  if (wait.round == wait_begun::no_round || !search_->at_frontier()) return;
  if (takes_locks_since(wait.round)) omitted_.lock_rounds = true;
  wait_for_others(wait.round, code);
}

bool session::may_wake_for_no_reason(const void* code) {
  thread_info& t = running();
  if (t.spurious_wakeups == bounds_.spurious_wakeups) {
    omitted_.spurious_wakeups = true;
    return false;
  }
  if (choose(2, code) == 0) return false;
  ++t.spurious_wakeups;
  return true;
}

bool session::returns_at_once(const wait_begun& wait, const void* code) {
  if (!bounds_.wakes_at_once_only) return false;
  omitted_.spurious_wakeups = true;
  leave_out_round(wait, code);
  if (!may_wake_for_no_reason(code)) return false;
  note_woken(wait);
  return true;
}

bool session::wakes_up_for_no_reason(const wait_begun& wait, const void* code) {
  if (bounds_.wakes_at_once_only) return false;
  leave_out_round(wait, code);
  return may_wake_for_no_reason(code);
}

bool session::times_out(const void* code) {
  thread_info& t = running();
  ++t.timed;
  if (t.timeouts == bounds_.timeouts) {
    omitted_.timeouts = true;
    return false;
  }
  if (search_->choose(2, here(code)) == 0) return false;
  ++t.timeouts;
  note_effect();
  return true;
}

void session::wait_for_others(unsigned since, const void* code) { search_->wait_unjudged(since, here(code)); }
unsigned session::position() const noexcept { return search_->position(); }

/// What the running thread knows of: clocks never go back along happens-before.
std::uint64_t session::known_time() const {
  constexpr std::uint64_t at_start = 1'000'000'000'000;  // any time but 0
  const exact::clock known = search_->knows();
  const unsigned self = search_->running();
  std::uint64_t time = at_start;
  for (unsigned t = 1; t <= max_threads; ++t) {
    for (const passed_time& p : threads_[t].passed) {
      if (p.until > time && (t == self || p.at.before(known))) time = p.until;
    }
  }
  return time;
}

std::uint64_t session::time(const void* code) {
  omitted_.clocks = true;
  constexpr std::uint64_t long_enough = 1'000'000'000ULL * 3600 * 24;
  if (times_out(code)) let_time_pass_until(known_time() + long_enough);
  return known_time();
}

void session::let_time_pass_until(std::uint64_t nanoseconds) {
  running().passed.push_back({{{}, search_->position(), static_cast<std::uint8_t>(search_->running())}, nanoseconds});
}

// --- locks -----------------------------------------------------------------------------------------------------------

namespace {

constexpr unsigned mutex_bytes = 4;

}  // namespace

void session::note_taken(const void* lock) {
  thread_info& t = running();
  t.rounds.clear();
  t.taken.push_back({lock, search_->position()});
}

/// A loop that waits may take a lock and give it back in each round. It may not give a lock back and take it again:
/// another thread may have had the lock in between, and what this thread saw before is then older than what it sees
/// now.
void session::note_given_back(const void* lock) {
  thread_info& t = running();
  const auto found = std::find_if(t.taken.begin(), t.taken.end(), [&](const taken_lock& l) { return l.lock == lock; });
  if (found == t.taken.end()) return note_effect();
  t.rounds.clear();
  for (std::vector<visit>* const before : {&t.visits, &t.woken}) {
    std::erase_if(*before, [&](const visit& v) { return v.position >= found->position; });
  }
  t.taken.erase(found);
}

bool session::is_in_std_lock(const void* code) {
  const frame* const at = frame_of(code);
  const auto [known, added] = known_in_std_lock_.try_emplace(at, false);
  if (added) known->second = symbols_.is_in_std_lock(at);
  return known->second;
}
bool session::is_in_try_lock(const void* code) {
  const frame* const at = frame_of(code);
  const auto [known, added] = known_in_try_lock_.try_emplace(at, false);
  if (added) known->second = symbols_.is_in_try_lock(at);
  return known->second;
}

void session::note_failed_try(const void* code) {
  if (!is_in_std_lock(code)) omitted_.failed_tries = true;
}

/// std::lock() only tries again.
bool session::fails_for_no_reason(const void* code) {
  if (!is_in_try_lock(code) || is_in_std_lock(code)) return false;
  thread_info& t = running();
  if (t.failed_tries == bounds_.spurious_failures) {
    omitted_.tries = true;
    return false;
  }
  if (choose(2, code) == 0) return false;
  ++t.failed_tries;
  return true;
}

void session::lock(void* mutex, const void* code) {
  const site where = here(code);
  granule& g = shadow_.of(mutex);
  location at = variable_at(g, mutex, mutex_bytes, where, code);
  search_->mutex_lock(at, where);
  check_atomic_access(g, mutex, mutex_bytes, code);
  note_taken(mutex);
}

bool session::try_lock(void* mutex, const void* code, exact::event_id like) {
  const site where = here(code);
  granule& g = shadow_.of(mutex);
  location at = variable_at(g, mutex, mutex_bytes, where, code);
  const bool done = search_->mutex_try_lock(at, like, where);
  check_atomic_access(g, mutex, mutex_bytes, code);
  if (done) {
    note_taken(mutex);
  } else {
    note_failed_try(code);
  }
  return done;
}

void session::unlock(void* mutex, const void* code) {
  note_given_back(mutex);
  const site where = here(code);
  granule& g = shadow_.of(mutex);
  location at = variable_at(g, mutex, mutex_bytes, where, code);
  search_->mutex_unlock(at, where);
  check_atomic_access(g, mutex, mutex_bytes, code);
}

unsigned session::choose(unsigned alternatives, const void* code) {
  note_effect();
  return search_->choose(alternatives, here(code));
}

void session::begin_call(bool is_lock_free) noexcept {
  running().in_call = running().has_called = true;
  running().in_lock_free_call = is_lock_free;
}
void session::end_call() noexcept { running().in_call = running().in_lock_free_call = false; }
void session::let_one_stop(unsigned threads, const void* code) { search_->let_stop(choose(threads + 1, code)); }

void session::wait_while(const void* at, unsigned size, std::uint64_t value, std::memory_order order, bool for_ever,
                         const void* code) {
  note_effect();
  const unsigned since = search_->position();
  search_->await_begin();
  if (load(at, size, order, code) != value) return;
  if (for_ever || bounds_.judges_timed_waits) search_->await_failed(here(code));
  wait_for_others(since, code);
}

unsigned session::begin_waiting(const void* at, const void* code) {
  const auto number =
      static_cast<unsigned>(rmw(&place_of(at).begun, 4, rmw_op::add, 1, std::memory_order::relaxed, code));
  if (number >= waiting_place::most) {
    search_->give_up(fmt::format("limit reached: {} waits for one condition variable or atomic", waiting_place::most));
  }
  return number;
}

unsigned session::begin_waiting_for_condition(const void* at, const void* mutex, const void* code) {
  const step by = step_here(code);
  const unsigned number = begin_waiting(at, code);
  waiting_place& place = place_of(at);
  for (unsigned i = 0; i != number; ++i) {
    const auto& other = place.waiters[i];
    if (place.woken[i] != 0 || other.mutex == mutex) continue;
    fail(failure::misuse,
         fmt::format("T{} waits for {} with another mutex than T{}, which waits for it at {}", by.thread - 1,
                     name_of_object(a_condition_variable, at), other.thread - 1, to_text(other.at)),
         code);
  }
  place.waiters[number] = {by, mutex};
  return number;
}

void session::wait_until_woken(const void* at, unsigned number, bool for_ever, const void* code) {
  wait_while(&place_of(at).woken[number], 1, 0, std::memory_order::relaxed, for_ever, code);
}

bool session::stop_waiting(const void* at, unsigned number, const void* code) {
  std::uint64_t expected = 0;
  return compare_exchange(&place_of(at).woken[number], 1, expected, 2, false, std::memory_order::relaxed,
                          std::memory_order::relaxed, code);
}

unsigned session::wake(const void* at, bool all, const void* code) {
  waiting_place& place = place_of(at);
  // Reads the newest count: a thread has begun to wait before this, or it sees what was done before this.
  const std::uint64_t begun = rmw(&place.begun, 4, rmw_op::add, 0, std::memory_order::relaxed, code);
  std::vector<unsigned> asleep;
  for (unsigned i = 0; i != begun && i != waiting_place::most; ++i) {
    if (load(&place.woken[i], 1, std::memory_order::relaxed, code) == 0) asleep.push_back(i);
  }
  unsigned woken = 0;
  while (!asleep.empty() && (all || woken == 0)) {
    const auto chosen = asleep.size() == 1 || all ? 0 : choose(static_cast<unsigned>(asleep.size()), code);
    const auto who = asleep.begin() + chosen;
    std::uint64_t expected = 0;
    if (compare_exchange(&place.woken[*who], 1, expected, 1, false, std::memory_order::relaxed,
                         std::memory_order::relaxed, code)) {
      ++woken;
    }
    asleep.erase(who);
  }
  return woken;
}

// --- verdicts -------------------------------------------------------------------------------------------------------

void session::fail(failure what, const std::string& message, const void* code) {
  search_->report_here(what, message, here(code));
}

void session::refuse(const std::string& what, const void* code) {
  give_up(fmt::format("not modelled: {}", what), code);
}

void session::give_up(const std::string& message, const void* code) {
  search_->give_up(fmt::format("{}, at {}", message, to_text(frame_of(code))));
}

}  // namespace runq::model::compiled
