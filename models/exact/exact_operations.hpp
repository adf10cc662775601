// SPDX-License-Identifier: MIT
// The operations of a thread: each becomes a typed operation, which the executor performs.
#pragma once

#include "engine.hpp"
#include "exact_executor.hpp"
#include "waiting.hpp"

namespace runq::model::exact {

/// What a scenario asks for.
class scenario_operations : public engine, public waiting_engine {
 public:
  scenario_operations(execution& run, executor& executor, judge& judge, findings& found,
                      const exact_options& options) noexcept
      : run_(run), executor_(executor), judge_(judge), found_(found), options_(options) {}

  // engine
  void atomic_init(location& at, bool initialised, std::uint64_t value, site where) override;
  void atomic_destroy(location&) noexcept override {}
  std::uint64_t load(location& at, std::memory_order order, site where) override;
  void store(location& at, std::uint64_t value, std::memory_order order, site where) override;
  std::uint64_t rmw(location& at, rmw_op op, std::uint64_t operand, std::memory_order order, site where) override;
  bool compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                        std::memory_order success, std::memory_order failure, site where) override;
  void fence(std::memory_order order, site where) override;
  void cell_init(location& at, bool initialised, site where) override;
  void cell_destroy(location&) noexcept override {}
  void cell_read(location& at, std::uint64_t value, site where) override;
  void cell_write(location& at, std::uint64_t value, site where) override;
  void mutex_init(location& at, site where) override;
  void mutex_destroy(location&) noexcept override {}
  void mutex_lock(location& at, site where) override;
  bool mutex_try_lock(location& at, site where) override;
  void mutex_unlock(location& at, site where) override;
  void* allocate(std::size_t size, site where) override;
  void deallocate(void* p, site where) override;
  void pause(site) override {}
  [[noreturn]] void fail(failure what, const char* text, site where) override;
  [[nodiscard]] int thread_index() const noexcept override { return run_.thread_index(); }
  [[nodiscard]] std::uint64_t operations() const noexcept override { return run_.running().operations; }

  // waiting_engine
  [[nodiscard]] moment now() const noexcept override {
    return {static_cast<int>(run_.current), static_cast<std::uint32_t>(run_.running().position)};
  }
  [[nodiscard]] bool happened_before(moment end, moment begin) const noexcept override;
  void await_begin() override;
  void await_failed(site where) override;
  void discard(site where) override;
  [[nodiscard]] bool retries_block() const noexcept override { return options_.retries_block; }

 protected:
  [[nodiscard]] event_id variable_of(const location& at, site where);
  /// Performs the exchange, or the lock; `expected` becomes what it has read. Returns whether it has written.
  [[nodiscard]] bool exchange(std::uint64_t& expected, const operation& wanted, site where);

  execution& run_;
  executor& executor_;
  judge& judge_;
  findings& found_;
  const exact_options& options_;

 private:
  void find_memory_of(const location& at, event_id variable);
};

}  // namespace runq::model::exact
