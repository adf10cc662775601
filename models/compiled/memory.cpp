// SPDX-License-Identifier: MIT
#include "memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system.hpp"

namespace runq::model::compiled {

namespace {

std::byte* round_down(void* p) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(p) / page_bytes * page_bytes);
}
std::byte* round_up(void* p) { return round_down(static_cast<std::byte*>(p) + page_bytes - 1); }

/// Libraries whose variables must not go back: the operating system's side of the process, and the checker itself.
[[nodiscard]] bool keeps_its_state(const dl_phdr_info& module) {
  const std::string_view path = module.dlpi_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view kept : {"libc.so", "ld-linux", "linux-vdso", "libpthread", "libdl.so", "librunq_check"}) {
    if (name.starts_with(kept)) return true;
  }
  return false;
}

}  // namespace

// --- restored_memory -----------------------------------------------------------------------------------------------

void restored_memory::add(void* begin, std::size_t size) {
  std::byte* from = round_down(begin);
  std::byte* const to = round_up(static_cast<std::byte*>(begin) + size);
  for (const range& r : left_out_) {
    if (r.begin < from || r.end > to) continue;
    if (from < r.begin) ranges_.push_back({from, r.begin, nullptr});
    from = r.end;
  }
  if (from < to) ranges_.push_back({from, to, nullptr});
}

void restored_memory::leave_out(void* begin, std::size_t size) {
  left_out_.push_back({round_down(begin), round_up(static_cast<std::byte*>(begin) + size), nullptr});
  std::sort(left_out_.begin(), left_out_.end(), [](const range& a, const range& b) { return a.begin < b.begin; });
}

void restored_memory::add_global_variables() {
  const auto add_module = [](dl_phdr_info* module, std::size_t, void* self) {
    if (keeps_its_state(*module)) return 0;
    const auto address = [module](ElfW(Addr) a) { return reinterpret_cast<void*>(module->dlpi_addr + a); };
    std::byte* read_only_end = nullptr;
    for (int i = 0; i != module->dlpi_phnum; ++i) {
      const ElfW(Phdr)& h = module->dlpi_phdr[i];
      if (h.p_type == PT_GNU_RELRO) read_only_end = round_down(address(h.p_vaddr + h.p_memsz));
    }
    for (int i = 0; i != module->dlpi_phnum; ++i) {
      const ElfW(Phdr)& h = module->dlpi_phdr[i];
      if (h.p_type != PT_LOAD || (h.p_flags & PF_W) == 0) continue;
      auto* const begin = std::max(static_cast<std::byte*>(address(h.p_vaddr)), read_only_end);
      auto* const end = static_cast<std::byte*>(address(h.p_vaddr + h.p_memsz));
      if (begin < end) static_cast<restored_memory*>(self)->add(begin, static_cast<std::size_t>(end - begin));
    }
    return 0;
  };
  dl_iterate_phdr(+add_module, this);
}

bool restored_memory::protect() {
  std::size_t pages = 0;
  for (range& r : ranges_) {
    const auto bytes = static_cast<std::size_t>(r.end - r.begin);
    pages += bytes / page_bytes;
    void* const copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED) return false;
    r.copy = static_cast<std::byte*>(copy);
  }
  written_.reserve(pages);  // the handler must not allocate
  for (const range& r : ranges_) {
    if (mprotect(r.begin, static_cast<std::size_t>(r.end - r.begin), PROT_READ) != 0) return false;
  }
  return true;
}

void restored_memory::restore() noexcept {
  for (const page& p : written_) std::memcpy(p.at, p.copy, page_bytes);
}

bool restored_memory::handle_fault(void* address) noexcept {
  std::byte* const at = round_down(address);
  for (const range& r : ranges_) {
    if (at < r.begin || at >= r.end || r.copy == nullptr) continue;
    for (const page& p : written_) {
      if (p.at == at) return false;
    }
    std::byte* const copy = r.copy + (at - r.begin);
    std::memcpy(copy, at, page_bytes);
    written_.push_back({at, copy});
    return mprotect(at, page_bytes, PROT_READ | PROT_WRITE) == 0;
  }
  return false;
}

bool restored_memory::contains(const void* address) const noexcept {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [address](const range& r) { return address >= r.begin && address < r.end; });
}

// --- code_ranges ---------------------------------------------------------------------------------------------------

void code_ranges::add_module(std::string_view name_begin) {
  struct search {
    code_ranges* self;
    std::string_view name_begin;
  } wanted{this, name_begin};
  const auto add = [](dl_phdr_info* module, std::size_t, void* argument) {
    const auto& [self, begin_of_name] = *static_cast<search*>(argument);
    const std::string_view path = module->dlpi_name;
    const bool is_program = path.empty();  // it comes first; the kernel's module has a name
    if (begin_of_name.empty() ? !is_program : !path.substr(path.rfind('/') + 1).starts_with(begin_of_name)) return 0;
    for (int i = 0; i != module->dlpi_phnum && self->count_ != self->ranges_.size(); ++i) {
      const ElfW(Phdr)& h = module->dlpi_phdr[i];
      if (h.p_type != PT_LOAD || (h.p_flags & PF_X) == 0) continue;
      const auto* const begin = reinterpret_cast<const std::byte*>(module->dlpi_addr + h.p_vaddr);
      self->ranges_[self->count_++] = {begin, begin + h.p_memsz};
    }
    return 0;
  };
  dl_iterate_phdr(+add, &wanted);
}

// --- symbols --------------------------------------------------------------------------------------------------------

namespace {

/// What has to be added to addresses in the program's file.
[[nodiscard]] std::uintptr_t base_of_program() {
  std::uintptr_t base = 0;
  const auto first = [](dl_phdr_info* module, std::size_t, void* to) {
    *static_cast<std::uintptr_t*>(to) = module->dlpi_addr;
    return 1;  // the program comes first
  };
  dl_iterate_phdr(+first, &base);
  return base;
}

}  // namespace

address_range find_symbol(std::string_view name) {
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return {};
  const auto* const image = static_cast<const std::byte*>(mapped);
  const auto* const head = reinterpret_cast<const ElfW(Ehdr)*>(image);
  const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(image + head->e_shoff);
  address_range found;
  for (unsigned i = 0; i != head->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(image + sections[i].sh_offset);
    const auto* const names = reinterpret_cast<const char*>(image + sections[sections[i].sh_link].sh_offset);
    for (std::size_t k = 0; k != sections[i].sh_size / sizeof *symbols; ++k) {
      if (name != names + symbols[k].st_name) continue;
      found = {reinterpret_cast<const std::byte*>(base_of_program() + symbols[k].st_value), symbols[k].st_size};
    }
  }
  munmap(mapped, size);
  return found;
}

std::vector<destructor> find_destructors() {
  std::vector<destructor> found;
  const auto first = [](dl_phdr_info* program, std::size_t, void* to) {
    ElfW(Addr) begin = 0;
    std::size_t bytes = 0;
    for (int i = 0; i != program->dlpi_phnum; ++i) {
      if (program->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
      const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(program->dlpi_addr + program->dlpi_phdr[i].p_vaddr);
      for (; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_FINI_ARRAY) begin = entry->d_un.d_ptr;
        if (entry->d_tag == DT_FINI_ARRAYSZ) bytes = entry->d_un.d_val;
      }
    }
    const auto* const functions = reinterpret_cast<const destructor*>(program->dlpi_addr + begin);
    static_cast<std::vector<destructor>*>(to)->assign(functions, functions + bytes / sizeof *functions);
    return 1;  // the program comes first
  };
  dl_iterate_phdr(+first, &found);
  return found;
}

std::vector<address_range> memory_of_standard_library() {
  std::vector<address_range> found;
  for (const char* const stream :
       {"_ZSt3cin", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog", "_ZSt4wcin", "_ZSt5wcout", "_ZSt5wcerr", "_ZSt5wclog"}) {
    const void* const at = dlsym(RTLD_DEFAULT, stream);
    Dl_info module{};
    void* symbol = nullptr;
    if (at == nullptr || dladdr1(at, &module, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr) continue;
    found.push_back({static_cast<const std::byte*>(at), static_cast<const ElfW(Sym)*>(symbol)->st_size});
  }
  const auto add_module = [](dl_phdr_info* module, std::size_t, void* to) {
    const std::string_view path = module->dlpi_name;
    if (!path.substr(path.rfind('/') + 1).starts_with("libstdc++.so")) return 0;
    for (int i = 0; i != module->dlpi_phnum; ++i) {
      const ElfW(Phdr)& h = module->dlpi_phdr[i];
      if (h.p_type != PT_LOAD || (h.p_flags & PF_W) == 0) continue;
      static_cast<std::vector<address_range>*>(to)->push_back(
          {reinterpret_cast<const std::byte*>(module->dlpi_addr + h.p_vaddr), h.p_memsz});
    }
    return 0;
  };
  dl_iterate_phdr(+add_module, &found);
  return found;
}

// --- thread_storage ------------------------------------------------------------------------------------------------

void thread_storage::find() {
  main_ = thread_pointer();
  const auto add_module = [](dl_phdr_info* module, std::size_t, void* self) {
    auto& storage = *static_cast<thread_storage*>(self);
    if (module->dlpi_tls_data == nullptr || keeps_its_state(*module)) return 0;
    for (int i = 0; i != module->dlpi_phnum; ++i) {
      const ElfW(Phdr)& h = module->dlpi_phdr[i];
      if (h.p_type != PT_TLS) continue;
      storage.blocks_.push_back({static_cast<std::byte*>(module->dlpi_tls_data) - storage.main_,
                                 h.p_memsz,
                                 reinterpret_cast<const std::byte*>(module->dlpi_addr + h.p_vaddr),
                                 h.p_filesz,
                                 {}});
    }
    return 0;
  };
  dl_iterate_phdr(+add_module, this);
}

void thread_storage::remember_main() {
  for (block& b : blocks_) b.of_main.assign(main_ + b.offset, main_ + b.offset + b.size);
}

void thread_storage::restore_main() noexcept {
  for (const block& b : blocks_) std::memcpy(main_ + b.offset, b.of_main.data(), b.size);
}

void thread_storage::reset(std::byte* thread_pointer) const noexcept {
  for (const block& b : blocks_) {
    std::memcpy(thread_pointer + b.offset, b.image, b.image_size);
    std::memset(thread_pointer + b.offset + b.image_size, 0, b.size - b.image_size);
  }
}

bool thread_storage::contains(const void* address, const std::byte* thread_pointer) const noexcept {
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const block& b) {
    return address >= thread_pointer + b.offset && address < thread_pointer + b.offset + b.size;
  });
}

// --- open_files ---------------------------------------------------------------------------------------------------

void open_files::remember() {
  std::vector<unsigned> open;
  DIR* const all = opendir("/proc/self/fd");
  if (all == nullptr) return;
  while (const dirent* const file = readdir(all)) {
    if (file->d_name[0] != '.') open.push_back(static_cast<unsigned>(std::atoi(file->d_name)));
  }
  std::erase(open, static_cast<unsigned>(dirfd(all)));
  closedir(all);
  std::sort(open.begin(), open.end());
  unsigned first = 0;
  for (const unsigned file : open) {
    if (file != first) free_.push_back({first, file - 1});
    first = file + 1;
  }
  free_.push_back({first, ~0U});
}

void open_files::close_others() noexcept {
  if (!std::exchange(more_, false)) return;
  for (const range& r : free_) close_range(r.first, r.last, 0);
}

// --- the thread pointer --------------------------------------------------------------------------------------------

std::byte* thread_pointer() noexcept { return static_cast<std::byte*>(__builtin_thread_pointer()); }

// --- parked_threads ------------------------------------------------------------------------------------------------

namespace {

sem_t parked_one;

}  // namespace

void* parked_threads::park(void* self) {
  static_cast<parked*>(self)->pointer = thread_pointer();
  sem_post(&parked_one);
  for (;;) pause();
}

bool parked_threads::start(unsigned count) {
  using create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  const auto real = reinterpret_cast<create>(dlsym(RTLD_NEXT, "pthread_create"));
  using wait = int (*)(sem_t*);
  const auto real_wait = reinterpret_cast<wait>(dlsym(RTLD_NEXT, "sem_wait"));
  if (real == nullptr || sem_init(&parked_one, 0, 0) != 0) return false;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{256} * 1024);
  threads_.resize(count);
  bool all = true;
  for (parked& p : threads_) {
    all = all && real(&p.handle, &small, &park, &p) == 0;
    if (all) real_wait(&parked_one);
  }
  pthread_attr_destroy(&small);
  return all;
}

}  // namespace runq::model::compiled
