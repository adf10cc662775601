// SPDX-License-Identifier: MIT
// What every execution of a program begins with.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "execution.hpp"
#include "identities.hpp"
#include "memory.hpp"
#include "shadow.hpp"

namespace runq::model::compiled {

/// The state of the program when the check begins, which every execution finds: its memory and its open files.
class program_beginning {
 public:
  program_beginning(execution& now, thread_identities& identities, shadow& known, user_heap& heap)
      : now_(now), identities_(identities), shadow_(known), heap_(heap) {}

  /// Called before a check that begins in the middle of a program: the stack frames of its functions from
  /// `callers_stack` on belong to its state, and so does all that an execution overwrites.
  void is_in_the_middle(const void* callers_stack);
  [[nodiscard]] bool is_of_whole_program() const noexcept { return callers_begin_ == nullptr; }

  /// When the check begins; protect() comes after everything that the checker itself changes there. False if the system
  /// does not let it protect memory.
  void remember();
  void add_memory();
  [[nodiscard]] bool protect() { return memory_.protect(); }
  void restore() noexcept;

  /// For the handler of SIGSEGV: whether the fault was the first write of a page, which may go on now.
  [[nodiscard]] bool handle_fault(void* address) noexcept { return memory_.handle_fault(address); }
  /// The program may be about to open a file.
  void note_open() noexcept { files_.note_open(); }
  /// Before a write to memory that the program had before a check in its middle.
  void keep(const void* at, std::size_t size) {
    if (callers_begin_ != nullptr) keep_granules(at, size);
  }
  [[nodiscard]] bool is_global(const void* at) const noexcept { return memory_.contains(at); }
  [[nodiscard]] const std::vector<restored_memory::range>& ranges() const noexcept { return memory_.ranges(); }

 private:
  void keep_granules(const void* at, std::size_t size);
  [[nodiscard]] bool is_put_back(const void* at) const noexcept;

  execution& now_;
  thread_identities& identities_;
  shadow& shadow_;
  user_heap& heap_;
  restored_memory memory_;
  open_files files_;
  // A check in the middle of a program: its stack, and what else the check has overwritten.
  std::byte* callers_begin_ = nullptr;
  std::vector<std::byte> callers_stack_;
  std::vector<std::pair<std::uint64_t*, std::uint64_t>> originals_;
};

}  // namespace runq::model::compiled
