// SPDX-License-Identifier: MIT
// What std::promise::set_value_at_thread_exit() and its like do when the thread ends. libstdc++ has this in code that
// is not instrumented; here it is compiled as the program is, so that a check sees it.
#include <future>
#include <memory>

void std::__future_base::_State_baseV2::_Make_ready::_S_run(void* waiting) {
  const std::unique_ptr<_Make_ready> ready(static_cast<_Make_ready*>(waiting));
  if (const auto state = ready->_M_shared_state.lock()) {
    state->_M_status._M_store_notify_all(_Status::__ready, std::memory_order_release);
  }
}
