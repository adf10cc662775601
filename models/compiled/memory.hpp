// SPDX-License-Identifier: MIT
// The memory of a compiled program between executions: what it had written before main() comes back. And its open
// files: what it had opened since is closed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <pthread.h>

#include "exact_graph.hpp"

namespace runq::model::compiled {

/// Writable memory that every execution finds as it was when it was added. Pages are write-protected until they are
/// written for the first time; only written pages are restored.
class restored_memory {
 public:
  /// `begin` and `size` are rounded outwards to pages.
  void add(void* begin, std::size_t size);
  /// Before what has these pages is added: they keep what executions write there.
  void leave_out(void* begin, std::size_t size);
  /// The global variables of the program and of the libraries that keep state for it.
  void add_global_variables();
  /// Protects the pages from now on. Returns false if the system does not let us.
  [[nodiscard]] bool protect();
  void restore() noexcept;
  /// For the handler of SIGSEGV: whether the fault was the first write of a page, which may go on now.
  [[nodiscard]] bool handle_fault(void* address) noexcept;

  [[nodiscard]] bool contains(const void* address) const noexcept;
  struct range {
    std::byte* begin;
    std::byte* end;
    std::byte* copy;  ///< room for what the pages held
  };
  [[nodiscard]] const std::vector<range>& ranges() const noexcept { return ranges_; }

 private:
  struct page {
    std::byte* at;
    std::byte* copy;
  };
  std::vector<range> ranges_;
  std::vector<range> left_out_;
  std::vector<page> written_;
};

/// Where thread-local variables of the program lie, relative to the thread pointer, and what they begin with.
class thread_storage {
 public:
  /// Must be called on the thread that runs main().
  void find();
  /// Notes what the main thread's variables hold now.
  void remember_main();
  void restore_main() noexcept;
  /// Sets the variables to what a new thread begins with.
  void reset(std::byte* thread_pointer) const noexcept;
  [[nodiscard]] bool contains(const void* address, const std::byte* thread_pointer) const noexcept;

 private:
  struct block {
    std::ptrdiff_t offset;
    std::size_t size;
    const std::byte* image;
    std::size_t image_size;
    std::vector<std::byte> of_main;
  };
  std::vector<block> blocks_;
  std::byte* main_ = nullptr;
};

/// The files that are open before the first execution: all others are closed before the next one.
class open_files {
 public:
  void remember();
  /// A file may have been opened.
  void note_open() noexcept { more_ = true; }
  void close_others() noexcept;

 private:
  struct range {
    unsigned first;
    unsigned last;
  };
  std::vector<range> free_;  // numbers that no open file has
  bool more_ = false;
};

/// Where the code of some modules lies.
class code_ranges {
 public:
  /// Adds the modules whose file names begin with that; an empty name: the program itself.
  void add_module(std::string_view name_begin);
  /// Most programs have one range of code.
  [[nodiscard]] bool first_contains(const void* code) const noexcept {
    return code >= ranges_[0].begin && code < ranges_[0].end;
  }
  [[nodiscard]] bool contains(const void* code) const noexcept {
    for (unsigned i = 0; i != count_; ++i) {
      if (code >= ranges_[i].begin && code < ranges_[i].end) return true;
    }
    return false;
  }

 private:
  struct range {
    const std::byte* begin;
    const std::byte* end;
  };
  std::array<range, 8> ranges_{};
  unsigned count_ = 0;
};

struct address_range {
  const std::byte* begin = nullptr;
  std::size_t size = 0;
  [[nodiscard]] bool contains(const void* address) const noexcept { return address >= begin && address < begin + size; }
};

/// Where the program's variable with that name, as the linker knows it, lies; empty when there is none.
[[nodiscard]] address_range find_symbol(std::string_view name);

/// A function that runs when the program ends, as the linker has collected them.
using destructor = void (*)();
/// The program's own, without those of its libraries, in the order in which their beginnings run.
[[nodiscard]] std::vector<destructor> find_destructors();
/// Where std::cout and its like lie, and the variables of the C++ library. Threads may use these without an order: the
/// library takes care of that.
[[nodiscard]] std::vector<address_range> memory_of_standard_library();

[[nodiscard]] std::byte* thread_pointer() noexcept;

/// Operating-system threads that do nothing but own what libraries keep per thread: a fiber that runs with the thread
/// pointer of one of them has its own thread-local variables, errno, and pthread_self().
class parked_threads {
 public:
  /// False when the system gives no more threads.
  [[nodiscard]] bool start(unsigned count);
  [[nodiscard]] pthread_t handle(unsigned i) const noexcept { return threads_[i].handle; }
  [[nodiscard]] std::byte* pointer(unsigned i) const noexcept { return threads_[i].pointer; }

  struct parked {
    pthread_t handle{};
    std::byte* pointer = nullptr;
  };
  [[nodiscard]] auto begin() const noexcept { return threads_.begin(); }
  [[nodiscard]] auto end() const noexcept { return threads_.end(); }

 private:
  static void* park(void* self);
  std::vector<parked> threads_;
};

}  // namespace runq::model::compiled
