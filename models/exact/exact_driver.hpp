// SPDX-License-Identifier: MIT
// What a search executes again and again: a scenario, or a program with its own memory. The executor and the judge ask
// a driver wherever the two differ.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string>

#include "exact_execution.hpp"
#include "exact_program.hpp"
#include "scenario.hpp"

namespace runq::model::exact {

class executor;

class driver {
 public:
  virtual ~driver() = default;
  /// Whether variables are found when they are first used; then they have numbers and names.
  [[nodiscard]] virtual bool finds_variables() const noexcept = 0;
  /// No thread with a higher number has been started.
  [[nodiscard]] virtual unsigned last_thread(const graph& g) const noexcept = 0;
  virtual void begin_search_again() {}
  /// See class program.
  virtual void take_larger_variable() {}
  virtual void forget_larger_variables() {}
  [[nodiscard]] virtual bool may_miss_race() const { return false; }
  /// Brings `run` to where its threads begin. The first thing that the stack of a thread calls is begin(by).
  virtual void begin_execution(execution& run, fiber::entry begin, executor* by) = 0;
  /// Runs the body of a thread, on its stack.
  virtual void run(executor& by, unsigned thread) = 0;
  /// Before a thread runs; when no thread will run for now.
  virtual void enter(unsigned thread) noexcept = 0;
  virtual void leave() noexcept = 0;
  /// No thread can go on. `all_finished`: because all have come to their ends.
  virtual void end_execution(execution& run, bool all_finished) = 0;
  /// Whether a loop in which a thread waits may write what is there already.
  [[nodiscard]] virtual bool waiting_loops_write() const noexcept = 0;
  /// See class program.
  [[nodiscard]] virtual bool may_stop(unsigned thread) const = 0;
  [[nodiscard]] virtual bool claims_to_finish(unsigned thread) const = 0;
  [[nodiscard]] virtual std::string name_of_variable(unsigned index) = 0;
  [[nodiscard]] virtual bool note_failure(failure what, const std::string& message, const std::vector<site>& where,
                                          std::size_t steps) = 0;
  /// What to do about a thread with too many events.
  [[nodiscard]] virtual const char* advice_on_endless_loops() const noexcept = 0;
};

class scenario_driver final : public driver {
 public:
  explicit scenario_driver(const case_spec& spec)
      : spec_(&spec), memory_(new (std::align_val_t{alignment}) std::byte[max_scenario_size]) {}
  [[nodiscard]] bool finds_variables() const noexcept override { return false; }
  [[nodiscard]] unsigned last_thread(const graph&) const noexcept override { return spec_->threads; }
  void begin_execution(execution& run, fiber::entry begin, executor* by) override;
  void run(executor& by, unsigned thread) override;
  void enter(unsigned) noexcept override {}
  void leave() noexcept override {}
  void end_execution(execution& run, bool all_finished) override;
  [[nodiscard]] bool waiting_loops_write() const noexcept override { return false; }
  [[nodiscard]] bool may_stop(unsigned) const override { return false; }
  [[nodiscard]] bool claims_to_finish(unsigned) const override { return false; }
  [[nodiscard]] std::string name_of_variable(unsigned) override { return {}; }
  [[nodiscard]] bool note_failure(failure, const std::string&, const std::vector<site>&, std::size_t) override {
    return true;
  }
  [[nodiscard]] const char* advice_on_endless_loops() const noexcept override;

 private:
  static constexpr std::size_t alignment = 64;
  static void construct_and_finish(void* self);

  const case_spec* spec_;
  execution* run_ = nullptr;
  scenario* scenario_ = nullptr;
  struct aligned_delete {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{alignment}); }
  };
  std::unique_ptr<std::byte[], aligned_delete> memory_;  ///< the scenario: always at the same address
};

class program_driver final : public driver {
 public:
  explicit program_driver(program& executed) : program_(&executed) {}
  void begin_search_again() override { program_->begin_search_again(); }
  void take_larger_variable() override { program_->take_larger_variable(); }
  void forget_larger_variables() override { program_->forget_larger_variables(); }
  [[nodiscard]] bool may_miss_race() const override { return program_->may_miss_race(); }
  [[nodiscard]] bool finds_variables() const noexcept override { return true; }
  [[nodiscard]] unsigned last_thread(const graph& g) const noexcept override { return g.end_of_threads() - 1; }
  void begin_execution(execution& run, fiber::entry begin, executor* by) override;
  void run(executor& by, unsigned thread) override;
  void enter(unsigned thread) noexcept override { program_->enter(thread); }
  void leave() noexcept override { program_->leave(); }
  void end_execution(execution&, bool) override { program_->end_execution(); }
  [[nodiscard]] bool waiting_loops_write() const noexcept override { return true; }
  [[nodiscard]] bool may_stop(unsigned thread) const override { return program_->may_stop(thread); }
  [[nodiscard]] bool claims_to_finish(unsigned thread) const override { return program_->claims_to_finish(thread); }
  [[nodiscard]] std::string name_of_variable(unsigned index) override { return program_->name_of_variable(index); }
  [[nodiscard]] bool note_failure(failure what, const std::string& message, const std::vector<site>& where,
                                  std::size_t steps) override {
    return program_->note_failure(what, message, where, steps);
  }
  [[nodiscard]] const char* advice_on_endless_loops() const noexcept override;

 private:
  program* program_;
};

}  // namespace runq::model::exact
