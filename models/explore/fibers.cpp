// SPDX-License-Identifier: MIT
#include "fibers.hpp"

#include <algorithm>
#include <cstring>

#include <dlfcn.h>
#include <resolv.h>
#include <unistd.h>

#include "areas.hpp"
#include "arena.hpp"
#include "exact_fiber_switch.hpp"
#include "limits.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "shadow.hpp"
#include "thread_pointer.hpp"

namespace runq::model::explore {

namespace {

constexpr std::size_t place_bytes = std::size_t{16} << 20;
constexpr std::size_t guard_bytes = std::size_t{1} << 20;

std::uintptr_t main_pointer = 0;
std::size_t tls_bytes = 0;
std::size_t tid_offset = 0;  ///< in struct pthread
std::size_t pthread_bytes = 0;
/// From a thread's pointer to where the C library keeps its pointer to the resolver's state.
std::ptrdiff_t resolver_pointer_offset = 0;
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

/// What lies at the end of a place, above its stack: thread-local variables, struct pthread, and the resolver's state
/// of the thread.
struct thread_memory {
  std::uintptr_t pointer, begin, variables, record, resolver, end;
};

[[nodiscard]] thread_memory memory_of(std::uint32_t number) noexcept {
  constexpr std::size_t page = 4096;
  constexpr std::size_t alignment = 64;
  const auto aligned = [](std::uintptr_t to) { return (to + alignment - 1) / alignment * alignment; };
  const std::size_t above = thread_locals_lie_below ? pthread_bytes : tls_bytes;
  thread_memory m{};
  m.end = places_area + (number + 1) * place_bytes;
  m.pointer = (m.end - sizeof(struct __res_state) - aligned(above)) / page * page;
  m.resolver = m.pointer + aligned(above);
  m.record = thread_record(m.pointer, pthread_bytes);
  m.variables = thread_locals_lie_below ? m.pointer - tls_bytes : m.pointer;
  m.begin = std::min(m.record, m.variables) / alignment * alignment;
  return m;
}

void enter(void* function) { reinterpret_cast<void (*)()>(function)(); }

void build_stack(fiber& f, std::uintptr_t top, void (*entry)()) {
  f.stack_pointer = exact::new_stack(reinterpret_cast<std::byte*>(top), &enter, reinterpret_cast<void*>(entry));
}

}  // namespace

void prepare_place(std::uint32_t number) {
  if (is_mapped[number]) return;
  map_memory(places_area + number * place_bytes + guard_bytes, place_bytes - guard_bytes);
  is_mapped[number] = true;
  if (exploring) report->used.threads = std::max(report->used.threads, number + 1);
}

void prepare_fibers() {
  find(allocate_tls, "_dl_allocate_tls");
  find(deallocate_tls, "_dl_deallocate_tls");
  find(init_ctype, "__ctype_init");
  find(call_tls_destructors, "__call_tls_dtors");
  void (*static_info)(std::size_t*, std::size_t*) = nullptr;
  find(static_info, "_dl_get_tls_static_info");
  std::size_t alignment = 0;
  static_info(&tls_bytes, &alignment);
  const std::uint32_t* size_of_record = nullptr;
  find(size_of_record, "_thread_db_sizeof_pthread");
  pthread_bytes = *size_of_record;
  main_pointer = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  struct __res_state** resolver_pointer = nullptr;
  find(resolver_pointer, "__resp");
  resolver_pointer_offset =
      reinterpret_cast<std::ptrdiff_t>(resolver_pointer) - static_cast<std::ptrdiff_t>(main_pointer);
  const auto tid = static_cast<std::uint32_t>(gettid());
  const std::uintptr_t record = thread_record(main_pointer, pthread_bytes);
  for (tid_offset = thread_header_bytes; tid_offset + sizeof tid <= pthread_bytes; tid_offset += sizeof tid) {
    if (std::memcmp(reinterpret_cast<void*>(record + tid_offset), &tid, sizeof tid) == 0) return;
  }
  give_up("this C library keeps the number of a thread where nobody looked for it");
}

void make_fiber(fiber& f, std::uint32_t number, void (*entry)()) {
  prepare_place(number);
  end_fiber(number);
  const thread_memory memory = memory_of(number);
  f.thread_pointer = memory.pointer;
  std::memset(reinterpret_cast<void*>(memory.record), 0, memory.end - memory.record);
  {
    const runtime_scope scope;
    if (allocate_tls(reinterpret_cast<void*>(memory.pointer)) == nullptr) {
      give_up("no memory for thread-local storage");
    }
  }
  has_tls[number] = true;
  shadow_forget(memory.variables, tls_bytes);
  fill_thread_block(memory.pointer, main_pointer);
  const auto put = [](std::uintptr_t at, auto value) {
    std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
  };
  put(memory.record + tid_offset, std::uint32_t{1'000'000} + number);
  put(memory.pointer + static_cast<std::uintptr_t>(resolver_pointer_offset), memory.resolver);
  build_stack(f, memory.begin - 256, entry);
}

void make_main_fiber(fiber& f, void (*entry)()) {
  prepare_place(0);
  f.thread_pointer = main_pointer;
  build_stack(f, memory_of(0).begin, entry);
}

void end_fiber(std::uint32_t number) {
  if (!has_tls[number]) return;
  has_tls[number] = false;
  const runtime_scope scope;
  deallocate_tls(reinterpret_cast<void*>(memory_of(number).pointer), false);
}

void switch_fiber(fiber& from, const fiber& to) noexcept {
  set_thread_pointer(reinterpret_cast<std::byte*>(to.thread_pointer));
  runq_switch_stack(&from.stack_pointer, to.stack_pointer);
}

std::uint32_t place_of(std::uintptr_t address) noexcept {
  if (address == main_pointer) return 0;
  const std::uintptr_t number = (address - places_area) / place_bytes;
  return address >= places_area && number < max_threads ? static_cast<std::uint32_t>(number) : max_threads;
}

std::span<const std::byte> stack_from(std::uint32_t number, const std::byte* begin) noexcept {
  return {begin, reinterpret_cast<const std::byte*>(memory_of(number).begin)};
}

std::span<const std::byte> thread_locals_of(std::uint32_t number) noexcept {
  thread_memory m = memory_of(number);
  if (number == 0) {
    m.begin = thread_locals_lie_below ? main_pointer + pthread_bytes - tls_bytes : main_pointer;
    m.end = m.begin + tls_bytes;
  }
  return {reinterpret_cast<const std::byte*>(m.begin), m.end - m.begin};
}

std::uintptr_t main_thread_pointer() noexcept { return main_pointer; }

void begin_thread_locals() { init_ctype(); }
void destroy_thread_locals() { call_tls_destructors(); }

}  // namespace runq::model::explore
