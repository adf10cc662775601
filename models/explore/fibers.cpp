// SPDX-License-Identifier: MIT
#include "fibers.hpp"

#include <algorithm>
#include <cstring>

#include <dlfcn.h>
#include <resolv.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "areas.hpp"
#include "arena.hpp"
#include "limits.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "shadow.hpp"

// Saves what a function has to leave as it was, and goes on in the other fiber: rdi: where the stack pointer is kept,
// rsi: the other's, rdx: its thread pointer, ecx: whether the processor's instruction sets that.
asm(R"(
.type runq_explore_switch, @function
runq_explore_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  testl %ecx, %ecx
  je 1f
  wrfsbase %rdx
  jmp 2f
1:
  movl $158, %eax   # arch_prctl
  movl $0x1002, %edi  # ARCH_SET_FS
  movq %rdx, %rsi
  syscall
2:
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size runq_explore_switch, . - runq_explore_switch
)");
extern "C" __attribute__((visibility("hidden"))) void runq_explore_switch(void** from, void* to, std::uintptr_t pointer,
                                                                          int by_instruction);

namespace runq::model::explore {

namespace {

constexpr std::size_t place_bytes = std::size_t{16} << 20;
constexpr std::size_t guard_bytes = std::size_t{1} << 20;
constexpr std::size_t control_block_bytes = 4096;  ///< no less than glibc's struct pthread
// Offsets of glibc's thread control block.
constexpr std::size_t self_offset = 16;
constexpr std::size_t several_threads_offset = 24;
constexpr std::size_t guards_offset = 40;
constexpr std::size_t guards_bytes = 16;
constexpr std::size_t header_bytes = 704;
/// The resolver's state of a thread, which glibc has in struct pthread: behind it in the same block.
constexpr std::size_t resolver_offset = control_block_bytes - sizeof(struct __res_state);

bool by_instruction = false;
std::uintptr_t main_pointer = 0;
std::size_t tls_bytes = 0;
std::size_t tid_offset = 0;
/// From a thread's control block back to its pointer to the resolver's state.
std::uintptr_t resolver_pointer_back = 0;
bool is_mapped[max_threads]{};
bool has_tls[max_threads]{};

void* (*allocate_tls)(void*) = nullptr;
void (*deallocate_tls)(void*, bool) = nullptr;
void (*init_ctype)() = nullptr;
void (*call_tls_destructors)() = nullptr;

template <class Symbol>
void find(Symbol*& to, const char* name) {
  to = reinterpret_cast<Symbol*>(dlsym(RTLD_DEFAULT, name));
  if (to == nullptr) give_up(std::string("this C library has no ") + name + ": glibc 2.34 or later is needed");
}

[[nodiscard]] std::uintptr_t control_block(std::uint32_t number) noexcept {
  return places_area + (number + 1) * place_bytes - control_block_bytes;
}

/// What runq_explore_switch() finds when it goes on there for the first time.
struct first_frame {
  std::uint32_t control[2]{};
  std::uint64_t registers[6]{};
  std::uint64_t entry = 0;
  std::uint64_t returns_to[3]{};  ///< nowhere: here the unwinder stops
};

void build_stack(fiber& f, std::uintptr_t top, void (*entry)()) {
  first_frame frame;
  asm("stmxcsr %0\nfnstcw %1" : "=m"(frame.control[0]), "=m"(frame.control[1]));
  frame.entry = reinterpret_cast<std::uint64_t>(entry);
  f.stack_pointer = reinterpret_cast<void*>(top / 16 * 16 - sizeof frame);
  std::memcpy(f.stack_pointer, &frame, sizeof frame);
}

}  // namespace

void prepare_place(std::uint32_t number) {
  if (is_mapped[number]) return;
  map_memory(places_area + number * place_bytes + guard_bytes, place_bytes - guard_bytes);
  is_mapped[number] = true;
  if (exploring) report->used.threads = std::max(report->used.threads, number + 1);
}

void prepare_fibers() {
  constexpr unsigned long has_fsgsbase = 2;
  by_instruction = (getauxval(AT_HWCAP2) & has_fsgsbase) != 0;
  find(allocate_tls, "_dl_allocate_tls");
  find(deallocate_tls, "_dl_deallocate_tls");
  find(init_ctype, "__ctype_init");
  find(call_tls_destructors, "__call_tls_dtors");
  void (*static_info)(std::size_t*, std::size_t*) = nullptr;
  find(static_info, "_dl_get_tls_static_info");
  std::size_t alignment = 0;
  static_info(&tls_bytes, &alignment);
  asm("movq %%fs:0, %0" : "=r"(main_pointer));
  struct __res_state** resolver_pointer = nullptr;
  find(resolver_pointer, "__resp");
  resolver_pointer_back = main_pointer - reinterpret_cast<std::uintptr_t>(resolver_pointer);
  const auto tid = static_cast<std::uint32_t>(gettid());
  for (tid_offset = header_bytes; tid_offset != control_block_bytes; tid_offset += sizeof tid) {
    if (std::memcmp(reinterpret_cast<void*>(main_pointer + tid_offset), &tid, sizeof tid) == 0) return;
  }
  give_up("this C library keeps the number of a thread where nobody looked for it");
}

void make_fiber(fiber& f, std::uint32_t number, void (*entry)()) {
  prepare_place(number);
  end_fiber(number);
  const std::uintptr_t block = control_block(number);
  f.thread_pointer = block;
  std::memset(reinterpret_cast<void*>(block), 0, control_block_bytes);
  {
    const runtime_scope scope;
    if (allocate_tls(reinterpret_cast<void*>(block)) == nullptr) give_up("no memory for thread-local storage");
  }
  has_tls[number] = true;
  shadow_forget(block - tls_bytes, tls_bytes);
  const auto put = [block](std::size_t offset, auto value) {
    std::memcpy(reinterpret_cast<void*>(block + offset), &value, sizeof value);
  };
  put(0, block);
  put(self_offset, block);
  put(several_threads_offset, std::uint32_t{1});
  std::memcpy(reinterpret_cast<void*>(block + guards_offset), reinterpret_cast<void*>(main_pointer + guards_offset),
              guards_bytes);
  put(tid_offset, std::uint32_t{1'000'000} + number);
  const std::uintptr_t resolver = block + resolver_offset;
  std::memcpy(reinterpret_cast<void*>(block - resolver_pointer_back), &resolver, sizeof resolver);
  build_stack(f, block - tls_bytes - 256, entry);
}

void make_main_fiber(fiber& f, void (*entry)()) {
  prepare_place(0);
  f.thread_pointer = main_pointer;
  build_stack(f, control_block(0), entry);
}

void end_fiber(std::uint32_t number) {
  if (!has_tls[number]) return;
  has_tls[number] = false;
  const runtime_scope scope;
  deallocate_tls(reinterpret_cast<void*>(control_block(number)), false);
}

void switch_fiber(fiber& from, const fiber& to) noexcept {
  runq_explore_switch(&from.stack_pointer, to.stack_pointer, to.thread_pointer, by_instruction ? 1 : 0);
}

std::uint32_t place_of(std::uintptr_t address) noexcept {
  if (address == main_pointer) return 0;
  const std::uintptr_t number = (address - places_area) / place_bytes;
  return address >= places_area && number < max_threads ? static_cast<std::uint32_t>(number) : max_threads;
}

std::uintptr_t main_thread_pointer() noexcept { return main_pointer; }
bool switches_without_kernel() noexcept { return by_instruction; }

void begin_thread_locals() { init_ctype(); }
void destroy_thread_locals() { call_tls_destructors(); }

}  // namespace runq::model::explore
