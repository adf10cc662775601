// SPDX-License-Identifier: MIT
#include "exact_driver.hpp"

#include "exact_executor.hpp"

namespace runq::model::exact {

// --- a scenario --------------------------------------------------------------------------------------------------

void scenario_driver::begin_execution(execution& run, fiber::entry begin, executor* by) {
  run_ = &run;
  run.threads[constructing].stack.prepare_unseen(&construct_and_finish, this);
  for (unsigned t = 1; t <= spec_->threads; ++t) run.threads[t].stack.prepare_unseen(begin, by);
  run.current = constructing;
  run.threads[constructing].stack.resume();
  run.current = constructing;
}

void scenario_driver::construct_and_finish(void* self) {
  auto& s = *static_cast<scenario_driver*>(self);
  thread_state& own = s.run_->threads[constructing];
  s.scenario_ = s.spec_->construct(s.memory_.get());
  own.now = status::finished;
  own.stack.suspend();
  s.scenario_->finish();
  s.scenario_->~scenario();
  s.run_->complete = true;
  s.run_->abandon();
}

void scenario_driver::run(executor&, unsigned thread) { scenario_->thread(thread - 1); }

void scenario_driver::end_execution(execution& run, bool all_finished) {
  if (!all_finished) return;
  run.current = finishing;
  run.threads[constructing].stack.resume();
}

const char* scenario_driver::advice_on_endless_loops() const noexcept {
  return "; a loop that waits must be an await, one that may retry for ever a retry_loop (waiting.hpp); otherwise "
         "raise it";
}

// --- a program ---------------------------------------------------------------------------------------------------

void program_driver::begin_execution(execution& run, fiber::entry begin, executor* by) {
  for (unsigned t = 2; t <= max_threads; ++t) run.threads[t].now = status::unborn;
  run.threads[1].stack.prepare(begin, by);
  run.threads[constructing].position = all_events;
  program_->begin_execution();
}

void program_driver::run(executor& by, unsigned thread) {
  program_->run(thread);
  by.finish_thread();
}

const char* program_driver::advice_on_endless_loops() const noexcept {
  return "; a loop that may go on for ever cannot be explored to its end; otherwise raise --max-events";
}

}  // namespace runq::model::exact
