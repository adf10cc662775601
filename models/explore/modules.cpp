// SPDX-License-Identifier: MIT
#include "modules.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <link.h>

namespace runq::model::explore {

namespace {

constexpr std::array<std::string_view, 9> known{"ld-linux-",    "libc.so",       "libm.so",
                                                "libgcc_s.so",  "libstdc++.so",  "libc++.so",
                                                "libc++abi.so", "libpthread.so", "librunq_explore.so"};

[[nodiscard]] std::string_view file_of(const dl_phdr_info& module) {
  const std::string_view path = module.dlpi_name;
  return path.substr(path.rfind('/') + 1);
}

/// Whether it calls what instrumented code calls. Those symbols that a module only uses come first in its table.
[[nodiscard]] bool is_instrumented(const dl_phdr_info& module) {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hash = nullptr;
  for (unsigned i = 0; i != module.dlpi_phnum; ++i) {
    if (module.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (auto* d = reinterpret_cast<const ElfW(Dyn)*>(module.dlpi_addr + module.dlpi_phdr[i].p_vaddr);
         d->d_tag != DT_NULL; ++d) {
      if (d->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(d->d_un.d_ptr);
      if (d->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(d->d_un.d_ptr);
      if (d->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const std::uint32_t*>(d->d_un.d_ptr);
    }
  }
  if (symbols == nullptr || names == nullptr || hash == nullptr) return false;
  const std::uint32_t used_only = hash[1];
  return std::any_of(symbols, symbols + used_only, [names](const ElfW(Sym) & s) {
    return std::string_view(names + s.st_name).substr(0, 7) == "__tsan_";
  });
}

int add_module(dl_phdr_info* module, std::size_t, void* to) {
  const std::string_view file = file_of(*module);
  const bool is_known = std::any_of(known.begin(), known.end(),
                                    [file](std::string_view name) { return file.substr(0, name.size()) == name; });
  // The program itself has no name, and the kernel's has no file.
  if (file.empty() || module->dlpi_name[0] != '/' || is_known || is_instrumented(*module)) return 0;
  auto& names = *static_cast<std::string*>(to);
  names += (names.empty() ? "" : ", ") + std::string(file);
  return 0;
}

}  // namespace

std::string not_instrumented() {
  std::string names;
  dl_iterate_phdr(add_module, &names);
  return names;
}

}  // namespace runq::model::explore
