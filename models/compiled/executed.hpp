// SPDX-License-Identifier: MIT
// Which instrumented operations of a compiled program some execution has executed, and with which orders. coverage.py
// compares them with all that the program has.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include "runtime.hpp"

namespace runq::model::compiled {

class executed_code {
 public:
  void record() noexcept { is_recording_ = true; }
  [[nodiscard]] bool is_recording() const noexcept { return is_recording_; }

  /// The operation that returns to `code` was executed.
  void note(const void* code) { orders_.try_emplace(code, 0U); }
  void note(const void* code, std::memory_order order) { orders_[code] |= 1U << static_cast<unsigned>(order); }

  /// Adds a line for each operation to the file: the address to which it returns, relative to the program, and its
  /// orders. Several processes may do so at the same time. Returns whether the file could be written.
  [[nodiscard]] bool append_to(const std::string& file) const {
    const std::uintptr_t program = load_address();
    std::string lines;
    for (const auto& [code, orders] : orders_) {
      lines += fmt::format("{:x}", reinterpret_cast<std::uintptr_t>(code) - program);
      for (unsigned order = 0; (orders >> order) != 0; ++order) {
        if ((orders >> order & 1U) != 0) lines += fmt::format(" {}", to_string(static_cast<std::memory_order>(order)));
      }
      lines += '\n';
    }
    const int to = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const bool done = to >= 0 && write(to, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
    if (to >= 0) close(to);
    return done;
  }

 private:
  /// Of the program, which is the first object that the system names.
  [[nodiscard]] static std::uintptr_t load_address() {
    std::uintptr_t address = 0;
    const auto first = [](dl_phdr_info* info, std::size_t, void* to) {
      *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
      return 1;
    };
    dl_iterate_phdr(+first, &address);
    return address;
  }

  bool is_recording_ = false;
  std::unordered_map<const void*, unsigned> orders_;  ///< a bit for each order
};

}  // namespace runq::model::compiled
