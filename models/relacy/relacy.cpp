// SPDX-License-Identifier: MIT
// Everything that Relacy replaces (operator new, and a dozen names by macro) stays inside this file.
#include "relacy.hpp"

#include <algorithm>
#include <array>
#include <charconv>  // before Relacy, whose macros would change it
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <type_traits>
#include <utility>

#include <relacy/relacy.hpp>

#include "judged_calls.hpp"
#include "runtime.hpp"

// Relacy's macros would rewrite the code below.
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace runq::model {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t max_locations = 4096;    // shared variables alive at once in one execution
constexpr std::size_t max_trace_steps = 8192;  // steps kept of one execution; the step limit is below it
constexpr std::uint64_t clock_period = 1024;   // executions between two looks at the clock

// A step of the trace. Relacy lets other threads run between the call of an operation and its effect, so steps are
// recorded when they are called (a failing one must be there) and stamped when they have taken effect.
struct step {
  event what;
  moment at;                // the moment before this step
  std::uint64_t stamp = 0;  // 0: never took effect
};

// What a location's record points to. The union's member is chosen by the *_init call.
struct shared_variable {
  std::uint32_t id = 0;  // 0: not touched yet in this execution
  bool in_use = false;
  alignas(16) std::array<std::byte, 192> storage;
};
using rl_atomic = rl::atomic<std::uint64_t>;
using rl_cell = rl::var<std::uint64_t>;
using rl_mutex = rl::mutex;
static_assert(sizeof(rl_atomic) <= 192 && sizeof(rl_cell) <= 192 && sizeof(rl_mutex) <= 192);

[[nodiscard]] rl::debug_info info(site where) noexcept { return {"", where.file, static_cast<unsigned>(where.line)}; }

[[nodiscard]] rl::memory_order to_relacy(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order::relaxed: return rl::mo_relaxed;
    case std::memory_order::consume: return rl::mo_consume;
    case std::memory_order::acquire: return rl::mo_acquire;
    case std::memory_order::release: return rl::mo_release;
    case std::memory_order::acq_rel: return rl::mo_acq_rel;
    case std::memory_order::seq_cst: return rl::mo_seq_cst;
  }
  return rl::mo_seq_cst;
}

[[nodiscard]] failure to_failure(rl::test_result_e result) noexcept {
  switch (result) {
    case rl::test_result_success: return failure::none;
    case rl::test_result_until_condition_hit: return failure::none;
    case rl::test_result_data_race: return failure::data_race;
    case rl::test_result_unitialized_access: return failure::uninitialised_read;
    case rl::test_result_access_to_freed_memory: return failure::use_after_free;
    case rl::test_result_double_free: return failure::double_free;
    case rl::test_result_memory_leak:
    case rl::test_result_resource_leak: return failure::leak;
    case rl::test_result_deadlock: return failure::deadlock;
    case rl::test_result_livelock: return failure::livelock;
    case rl::test_result_user_assert_failed: return failure::check_failed;
    default: return failure::misuse;
  }
}

/// Translates the engine interface to Relacy's, and keeps the trace of the running execution.
class relacy_engine final : public engine {
 public:
  relacy_engine(const case_spec& spec, const relacy_options& options)
      : spec_(spec),
        options_(options),
        scenario_memory_(static_cast<std::byte*>(std::aligned_alloc(64, max_scenario_size))),
        locations_(static_cast<shared_variable*>(std::calloc(max_locations, sizeof(shared_variable)))),
        trace_(static_cast<step*>(std::calloc(max_trace_steps, sizeof(step)))),
        started_(clock::now()) {}
  ~relacy_engine() override {
    std::free(scenario_memory_);
    std::free(locations_);
    std::free(trace_);
  }
  relacy_engine(const relacy_engine&) = delete;
  relacy_engine& operator=(const relacy_engine&) = delete;

  // -- the life of one execution, called by Relacy through `suite` ---------------------------------------------------
  void begin() {
    ++executions_;
    trace_size_ = 0;
    next_stamp_ = 0;
    next_id_ = 0;
    operations_.fill(0);
    stage_ = stage::construction;
    // An execution that failed left its variables behind; the next search starts afresh.
    next_free_ = 0;
    scenario_ = spec_.construct(scenario_memory_);
    stage_ = stage::threads;
  }
  void run(unsigned thread) { scenario_->thread(thread); }
  void end() {
    stage_ = stage::finish;
    scenario_->finish();
    scenario_->~scenario();
    const std::uint64_t number = options_.first - 1 + executions_;
    if (number == options_.show) stop("shown");
    if (executions_ % clock_period == 0) look_at_clock();
    if (options_.search != relacy_search::random && executions_ == options_.executions) stop("execution limit");
  }

  // -- engine ---------------------------------------------------------------------------------------------------------
  void atomic_init(location& at, bool initialised, std::uint64_t value, site) override {
    shared_variable& v = take_variable(at);
    if (initialised) {
      ::new (v.storage.data()) rl_atomic(value);
    } else {
      ::new (v.storage.data()) rl_atomic();
    }
  }
  void atomic_destroy(location& at) noexcept override {
    variable<rl_atomic>(at).~atomic();
    give_back(at);
  }
  std::uint64_t load(location& at, std::memory_order order, site where) override {
    step& s = record(event_kind::load, at, order, where);
    const rl_atomic& variable_at = variable<rl_atomic>(at);
    const std::uint64_t value = variable_at.load(to_relacy(order), info(where));
    return read(s, value, variable_at.debug_value());
  }
  void store(location& at, std::uint64_t value, std::memory_order order, site where) override {
    step& s = record(event_kind::store, at, order, where);
    s.what.value = value;
    variable<rl_atomic>(at).store(value, to_relacy(order), info(where));
    done(s);
  }
  std::uint64_t rmw(location& at, rmw_op op, std::uint64_t operand, std::memory_order order, site where) override {
    step& s = record(event_kind::rmw, at, order, where);
    rl_atomic& a = variable<rl_atomic>(at);
    // Relacy's own arithmetic is 64 bits wide; an exchange of the computed value, retried, would add steps. A narrower
    // type wraps when its value is read back, since the location's mask is applied below.
    const std::uint64_t old = perform(a, op, operand, to_relacy(order), info(where)) & at.mask;
    s.what.written = apply(op, old, operand) & at.mask;
    return read(s, old, old);
  }
  bool compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                        std::memory_order success, std::memory_order failure_order, site where) override {
    step& s = record(event_kind::cas_failure, at, success, where);
    rl_atomic& a = variable<rl_atomic>(at);
    std::uint64_t seen = expected;
    // As C++11 asks, a failure must not be ordered more strongly than a success: Relacy would make such a failure
    // relaxed. So the success is made stronger here. That may hide a bug from Relacy; the exact engine finds it.
    const bool acquires_on_failure_only =
        success == std::memory_order::release && failure_order == std::memory_order::acquire;
    const rl::memory_order on_success = to_relacy(acquires_on_failure_only ? std::memory_order::acq_rel : success);
    const rl::memory_order on_failure = to_relacy(failure_order);
    const bool exchanged =
        weak ? a.compare_exchange_weak(seen, desired, on_success, info(where), on_failure, info(where))
             : a.compare_exchange_strong(seen, desired, on_success, info(where), on_failure, info(where));
    if (exchanged) {
      s.what.kind = event_kind::cas_success;
      s.what.written = desired;
      read(s, expected, expected);
    } else {
      s.what.order = failure_order;
      expected = read(s, seen, seen);
    }
    return exchanged;
  }
  void fence(std::memory_order order, site where) override {
    step& s = record(event_kind::fence, where);
    s.what.order = order;
    rl::atomic_thread_fence(to_relacy(order), info(where));
    done(s);
  }

  void cell_init(location& at, bool initialised, site where) override {
    shared_variable& v = take_variable(at);
    ::new (v.storage.data()) rl_cell();
    if (initialised) variable<rl_cell>(at)(info(where)).store(0);
  }
  void cell_destroy(location& at) noexcept override {
    variable<rl_cell>(at).~var();
    give_back(at);
  }
  void cell_read(location& at, std::uint64_t value, site where) override {
    step& s = record(event_kind::cell_read, at, std::memory_order::relaxed, where);
    s.what.value = value;
    static_cast<void>(variable<rl_cell>(at)(info(where)).load());
    done(s);
  }
  void cell_write(location& at, std::uint64_t value, site where) override {
    step& s = record(event_kind::cell_write, at, std::memory_order::relaxed, where);
    s.what.value = value;
    variable<rl_cell>(at)(info(where)).store(value);
    done(s);
  }

  void mutex_init(location& at, site) override { ::new (take_variable(at).storage.data()) rl_mutex(); }
  void mutex_destroy(location& at) noexcept override {
    variable<rl_mutex>(at).~rl_mutex();
    give_back(at);
  }
  void mutex_lock(location& at, site where) override {
    step& s = record(event_kind::lock, at, std::memory_order::acquire, where);
    variable<rl_mutex>(at).lock(info(where));
    s.what.value = 1;
    done(s);
  }
  bool mutex_try_lock(location& at, site where) override {
    step& s = record(event_kind::lock, at, std::memory_order::acquire, where);
    const bool locked = variable<rl_mutex>(at).try_lock(info(where));
    s.what.value = locked ? 1 : 0;
    done(s);
    return locked;
  }
  void mutex_unlock(location& at, site where) override {
    step& s = record(event_kind::unlock, at, std::memory_order::release, where);
    variable<rl_mutex>(at).unlock(info(where));
    done(s);
  }

  void* allocate(std::size_t size, site where) override {
    step& s = record(event_kind::allocate, where);
    s.what.value = size;
    done(s);
    return rl::ctx().alloc(size, false, info(where));
  }
  void deallocate(void* p, site where) override {
    done(record(event_kind::deallocate, where));
    rl::ctx().free(p, false, info(where));
  }

  void pause(site where) override {
    done(record(event_kind::pause, where));
    rl::yield(1, info(where));
  }

  [[noreturn]] void fail(failure what, const char* text, site where) override {
    record(event_kind::failure, where);
    failed_check_ = what;
    check_text_ = text;
    rl::ctx().fail_test(text, rl::test_result_user_assert_failed, info(where));
    std::abort();  // not reached: fail_test leaves this fiber for good
  }

  [[nodiscard]] int thread_index() const noexcept override {
    return stage_ == stage::threads ? static_cast<int>(rl::thread_index()) : -1;
  }
  [[nodiscard]] moment now() const noexcept override {
    const int thread = stage_ == stage::finish ? finishing : thread_index();
    return {thread, static_cast<std::uint32_t>(operations())};
  }
  [[nodiscard]] bool happened_before(moment end, moment begin) const noexcept override {
    if (end.thread == begin.thread) return end.steps <= begin.steps;
    return end.thread == constructing || begin.thread == finishing;
  }
  [[nodiscard]] std::uint64_t operations() const noexcept override {
    return operations_[static_cast<std::size_t>(thread_index() + 1)];
  }

  // -- after the search -----------------------------------------------------------------------------------------------
  [[nodiscard]] search_result result(rl::test_result_e outcome) const {
    search_result r;
    r.what = failed_check_ == failure::none ? to_failure(outcome) : failed_check_;
    r.executions = options_.first - 1 + executions_;
    r.seconds = std::chrono::duration<double>(clock::now() - started_).count();
    r.outcomes = outcomes();
    if (r.what != failure::none) {
      r.message = failed_check_ == failure::none ? rl::test_result_str(outcome) : check_text_;
      if (trace_size_ != 0) r.where = trace_[trace_size_ - 1].what.where;
    }
    if (r.what != failure::none || options_.show != 0) show_trace(r);
    if (outcome != rl::test_result_success) {
      r.how =
          options_.search == relacy_search::random && r.what == failure::none ? coverage::sampled : coverage::cut_short;
      if (r.what == failure::none) r.message = stopped_by_;
    } else {
      r.how = options_.search == relacy_search::random    ? coverage::sampled
              : options_.search == relacy_search::bounded ? coverage::bounded
                                                          : coverage::full;
    }
    return r;
  }

 private:
  enum class stage : unsigned char { construction, threads, finish };
  // How a moment numbers the two stages in which no thread runs.
  static constexpr int constructing = -1;
  static constexpr int finishing = max_threads;

  template <class V>
  [[nodiscard]] static V& variable(location& at) noexcept {
    return *std::launder(reinterpret_cast<V*>(static_cast<shared_variable*>(at.record)->storage.data()));
  }

  shared_variable& take_variable(location& at) {
    for (std::size_t tried = 0; tried != max_locations; ++tried, ++next_free_) {
      shared_variable& v = locations_[next_free_ % max_locations];
      if (v.in_use) continue;
      v.in_use = true;
      v.id = 0;
      at.record = &v;
      return v;
    }
    fail(failure::check_failed,
         "limit reached: a scenario may have 4096 shared variables (max_locations in models/relacy/relacy.cpp)", {});
  }
  static void give_back(location& at) noexcept { static_cast<shared_variable*>(at.record)->in_use = false; }

  static std::uint64_t perform(rl_atomic& a, rmw_op op, std::uint64_t operand, rl::memory_order order,
                               const rl::debug_info& where) {
    switch (op) {
      case rmw_op::exchange: return a.exchange(operand, order, where);
      case rmw_op::add: return a.fetch_add(operand, order, where);
      case rmw_op::sub: return a.fetch_sub(operand, order, where);
      case rmw_op::bit_and: return a.fetch_and(operand, order, where);
      case rmw_op::bit_or: return a.fetch_or(operand, order, where);
      case rmw_op::bit_xor: return a.fetch_xor(operand, order, where);
      case rmw_op::bit_nand: break;  // only compiled programs have it
    }
    return 0;
  }

  step& record(event_kind kind, site where) {
    ++operations_[static_cast<std::size_t>(thread_index() + 1)];
    if (trace_size_ == max_trace_steps) --trace_size_;  // keep the end: that is where a failure shows
    step& s = trace_[trace_size_++];
    s = step{};
    s.what.kind = kind;
    s.what.thread = thread_index();
    s.what.where = where;
    s.at = now();
    --s.at.steps;
    return s;
  }
  step& record(event_kind kind, location& at, std::memory_order order, site where) {
    step& s = record(kind, where);
    shared_variable& v = *static_cast<shared_variable*>(at.record);
    if (!v.in_use) rl::ctx().fail_test("", rl::test_result_access_to_freed_memory, info(where));
    if (v.id == 0) v.id = ++next_id_;
    s.what.location = v.id;
    s.what.order = order;
    return s;
  }
  void done(step& s) noexcept { s.stamp = ++next_stamp_; }
  std::uint64_t read(step& s, std::uint64_t value, std::uint64_t newest) noexcept {
    s.what.value = value;
    s.what.newest = newest;
    s.what.stale = value != newest;
    done(s);
    return value;
  }
  // In the order in which the steps took effect; the failing one last; calls that never took effect are left out.
  void show_trace(search_result& r) const {
    std::vector<step> steps(trace_, trace_ + trace_size_);
    if (r.what != failure::none && !steps.empty()) steps.back().stamp = next_stamp_ + 1;
    std::erase_if(steps, [](const step& s) { return s.stamp == 0; });
    std::stable_sort(steps.begin(), steps.end(), [](const step& a, const step& b) { return a.stamp < b.stamp; });
    std::vector<moment> moments;
    for (const step& s : steps) {
      r.trace.push_back(s.what);
      moments.push_back(s.at);
    }
    show_history(r, moments, {constructing, finishing, 0});
  }

  void look_at_clock() {
    const double elapsed = std::chrono::duration<double>(clock::now() - started_).count();
    if (options_.progress) options_.progress(executions_);
    if (options_.seconds > 0 && elapsed > options_.seconds) stop("time limit");
  }
  void stop(const char* why) {
    stopped_by_ = why;
    rl::ctx().rl_until(why, info({}));
  }

  const case_spec& spec_;
  const relacy_options& options_;
  std::byte* const scenario_memory_;
  shared_variable* const locations_;
  step* const trace_;
  const clock::time_point started_;
  scenario* scenario_ = nullptr;
  stage stage_ = stage::construction;
  std::size_t next_free_ = 0;
  std::size_t trace_size_ = 0;
  std::uint64_t next_stamp_ = 0;
  std::uint32_t next_id_ = 0;
  std::uint64_t executions_ = 0;
  std::array<std::uint64_t, max_threads + 1> operations_{};
  failure failed_check_ = failure::none;
  const char* check_text_ = "";
  const char* stopped_by_ = "";
};

relacy_engine* running_engine = nullptr;

template <unsigned Threads>
struct suite : rl::test_suite<suite<Threads>, Threads> {
  void before() { running_engine->begin(); }
  void thread(unsigned index) { running_engine->run(index); }
  void after() { running_engine->end(); }
};

/// Discards what Relacy prints: the runner prints a report of its own.
class null_buffer final : public std::streambuf {
  int overflow(int c) override { return c; }
};

template <unsigned Threads>
rl::test_result_e search(const relacy_options& options) {
  null_buffer nowhere;
  std::ostream silence(&nowhere);
  rl::test_params params;
  params.output_stream = &silence;
  params.progress_stream = &silence;
  params.context_bound = options.context_bound;
  params.execution_depth_limit = options.step_limit;
  // Relacy counts iterations from 1 and stops after iteration_count.
  params.iteration_count = options.first - 1 + options.executions;
  if (options.search == relacy_search::random && options.first > 1) {
    params.initial_state = std::to_string(options.first).c_str();
  }
  rl::ostringstream state;
  switch (options.search) {
    case relacy_search::random:
      params.search_type = rl::sched_random;
      return rl::run_test<suite<Threads>, rl::random_scheduler<Threads>>(params, state, false);
    case relacy_search::bounded:
      params.search_type = rl::sched_bound;
      return rl::run_test<suite<Threads>, rl::context_bound_scheduler<Threads>>(params, state, false);
    case relacy_search::full:
      params.search_type = rl::sched_full;
      return rl::run_test<suite<Threads>, rl::full_search_scheduler<Threads>>(params, state, false);
  }
  return rl::test_result_success;
}

}  // namespace

search_result run_relacy(const case_spec& spec, const relacy_options& options) {
  relacy_engine e(spec, options);
  clear_outcomes();
  running_engine = &e;
  engine* const before = set_current_engine(&e);
  static_assert(max_threads == 5);
  const rl::test_result_e outcome = spec.threads == 2   ? search<2>(options)
                                    : spec.threads == 3 ? search<3>(options)
                                    : spec.threads == 4 ? search<4>(options)
                                                        : search<5>(options);
  set_current_engine(before);
  running_engine = nullptr;
  return e.result(outcome);
}

}  // namespace runq::model
