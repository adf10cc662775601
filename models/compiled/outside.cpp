// SPDX-License-Identifier: MIT
// A module calls functions of others through a table of addresses, which the loader has filled in. In the tables of
// instrumented modules each address is replaced by that of a small piece of code, which notes the call of a program
// under check, and goes on to the function.
#include "outside.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include <cxxabi.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include "known_calls.hpp"
#include "session.hpp"
#include "system.hpp"
#include "watched_call.hpp"

namespace runq::model::compiled {

/// The code below finds the first three where they are.
struct watched_call {
  void (*note)(const known_call& call) = nullptr;
  const void* function = nullptr;
  std::uint64_t calls = 0;
  std::string symbol;
  std::string library;
};
static_assert(offsetof(watched_call, note) == 0 && offsetof(watched_call, function) == 8 &&
              offsetof(watched_call, calls) == 16);

namespace {

/// Never destroyed: the program's last exit handlers still make calls.
[[nodiscard]] std::deque<watched_call>& watched_calls() {
  static auto* const all = new std::deque<watched_call>;
  return *all;
}

// --- modules --------------------------------------------------------------------------------------------------------

struct module {
  std::string_view name;
  std::uintptr_t base = 0;
  const ElfW(Phdr) * headers = nullptr;
  unsigned count = 0;

  [[nodiscard]] bool has(const void* address, ElfW(Word) flag) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return std::any_of(headers, headers + count, [&](const ElfW(Phdr) & h) {
      return h.p_type == PT_LOAD && (h.p_flags & flag) != 0 && at - base - h.p_vaddr < h.p_memsz;
    });
  }
  [[nodiscard]] std::uintptr_t begin_of(ElfW(Word) type) const noexcept {
    const auto* const found =
        std::find_if(headers, headers + count, [type](const ElfW(Phdr) & h) { return h.p_type == type; });
    return found == headers + count ? 0 : base + found->p_vaddr;
  }
};

[[nodiscard]] std::vector<module> all_modules() {
  std::vector<module> all;
  const auto add = [](dl_phdr_info* m, std::size_t, void* to) {
    const std::string_view path = m->dlpi_name;
    static_cast<std::vector<module>*>(to)->push_back(
        {path.substr(path.rfind('/') + 1), m->dlpi_addr, m->dlpi_phdr, m->dlpi_phnum});
    return 0;
  };
  dl_iterate_phdr(+add, &all);
  return all;
}

/// The addresses that a module takes from others.
class imports {
 public:
  explicit imports(const module& of) : base_(of.base) {
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(of.begin_of(PT_DYNAMIC));
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_SYMTAB: symbols_ = at<ElfW(Sym)>(entry->d_un.d_ptr); break;
        case DT_STRTAB: names_ = at<char>(entry->d_un.d_ptr); break;
        case DT_RELA: tables_[0].first = at<ElfW(Rela)>(entry->d_un.d_ptr); break;
        case DT_RELASZ: tables_[0].second = entry->d_un.d_val; break;
        case DT_JMPREL: tables_[1].first = at<ElfW(Rela)>(entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: tables_[1].second = entry->d_un.d_val; break;
        default: break;
      }
    }
  }

  /// Calls `use` with the name of each symbol, and the place where its address is kept.
  template <class Use>
  void each(Use&& use) const {
    if (symbols_ == nullptr || names_ == nullptr) return;
    for (const auto& [first, bytes] : tables_) {
      for (std::size_t i = 0; first != nullptr && i != bytes / sizeof *first; ++i) {
        const auto type = ELF64_R_TYPE(first[i].r_info);
        const auto symbol = ELF64_R_SYM(first[i].r_info);
        if (!is_address_of_symbol(type) || symbol == 0 || first[i].r_addend != 0) continue;
        if (symbols_[symbol].st_shndx != SHN_UNDEF) continue;
        use(std::string_view(names_ + symbols_[symbol].st_name),
            reinterpret_cast<const void**>(base_ + first[i].r_offset));
      }
    }
  }

 private:
  template <class T>
  [[nodiscard]] const T* at(std::uintptr_t address) const noexcept {
    // The loader adds the base, except in modules whose table is read-only.
    return reinterpret_cast<const T*>(address < base_ ? address + base_ : address);
  }

  std::uintptr_t base_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  std::array<std::pair<const ElfW(Rela)*, std::size_t>, 2> tables_{};
};

[[nodiscard]] bool is_instrumented(const module& m) {
  bool found = false;
  imports(m).each([&](std::string_view name, const void**) { found = found || name.starts_with("__tsan_"); });
  return found;
}

}  // namespace

}  // namespace runq::model::compiled

extern "C" __attribute__((visibility("hidden"))) void runq_watched_call();
extern "C" __attribute__((visibility("hidden"), used)) void runq_note_known_call(
    const runq::model::compiled::watched_call* call, runq::model::compiled::argument_registers* registers);
extern "C" void runq_note_known_call(const runq::model::compiled::watched_call* call,
                                     runq::model::compiled::argument_registers* registers) {
  const runq::model::compiled::checker_scope scope;
  call->note(runq::model::compiled::known_call(*registers));
}

namespace runq::model::compiled {

namespace {

/// One for each watched call: the code that the program calls.
class call_pieces {
 public:
  explicit call_pieces(std::size_t count) : bytes_(count * bytes_of_piece) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) begin_ = next_ = static_cast<std::uint8_t*>(memory);
  }
  [[nodiscard]] bool are_there() const noexcept { return begin_ != nullptr; }

  [[nodiscard]] const void* add(const watched_call& call) {
    std::uint8_t* const piece = std::exchange(next_, next_ + bytes_of_piece);
    write_piece(piece, &call, reinterpret_cast<const void*>(&runq_watched_call));
    return piece;
  }
  [[nodiscard]] bool finish() const noexcept {
    __builtin___clear_cache(reinterpret_cast<char*>(begin_), reinterpret_cast<char*>(next_));
    return mprotect(begin_, bytes_, PROT_READ | PROT_EXEC) == 0;
  }

 private:
  std::size_t bytes_;
  std::uint8_t* begin_ = nullptr;
  std::uint8_t* next_ = nullptr;
};

/// While it lives, the addresses of a module that are read-only can be written.
class writable_addresses {
 public:
  explicit writable_addresses(const module& of) {
    for (unsigned i = 0; i != of.count; ++i) {
      const ElfW(Phdr)& h = of.headers[i];
      if (h.p_type != PT_GNU_RELRO) continue;
      const std::uintptr_t begin = (of.base + h.p_vaddr) / page_bytes * page_bytes;
      begin_ = reinterpret_cast<void*>(begin);
      bytes_ = (of.base + h.p_vaddr + h.p_memsz) / page_bytes * page_bytes - begin;
    }
    writable_ = bytes_ == 0 || mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) == 0;
  }
  writable_addresses(const writable_addresses&) = delete;
  writable_addresses& operator=(const writable_addresses&) = delete;
  ~writable_addresses() {
    if (bytes_ != 0) mprotect(begin_, bytes_, PROT_READ);
  }
  explicit operator bool() const noexcept { return writable_; }

 private:
  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
  bool writable_ = false;
};

struct import {
  std::string_view symbol;
  const void** place;
  const module* from;
};

/// What a module calls that is neither instrumented nor the checker's.
[[nodiscard]] std::vector<import> imports_to_watch(const module& of, const std::vector<module>& all,
                                                   const std::vector<const module*>& seen) {
  std::vector<import> found;
  imports(of).each([&](std::string_view symbol, const void** place) {
    const auto from = std::find_if(all.begin(), all.end(), [&](const module& m) { return m.has(*place, PF_X); });
    if (from == all.end() || std::find(seen.begin(), seen.end(), &*from) != seen.end()) return;
    if (find_known_function(symbol) == nullptr && is_harmless(symbol, from->name)) return;
    found.push_back({symbol, place, &*from});
  });
  return found;
}

/// Without what it returns, and without the arguments of templates.
[[nodiscard]] std::string short_name(const std::string& symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (status != 0) return symbol + "()";
  std::string name;
  unsigned depth = 0;
  for (const char* at = text; *at != '\0'; ++at) {
    const bool is_operator = std::string_view(name).ends_with("operator") ||
                             std::string_view(name).ends_with("operator<") ||
                             std::string_view(name).ends_with("operator>") || (*at == '>' && name.ends_with('-'));
    if (*at == '<' && (depth != 0 || !is_operator)) ++depth;
    if (depth == 0) name += *at;
    if (*at == '>' && depth != 0) --depth;
  }
  std::free(text);
  const std::size_t end = name.find('(');
  const std::size_t space = name.rfind(' ', name.find("operator") < end ? name.find("operator") : end);
  return space == name.npos || end == name.npos || space > end ? name : name.substr(space + 1);
}

std::map<std::string, std::uint64_t>& unseen_by_others() {
  static auto* const all = new std::map<std::string, std::uint64_t>;
  return *all;
}

struct counted_table {
  counted_code* begin;
  counted_code* end;
  std::vector<std::uint64_t> times;  ///< in all executions before
};
[[nodiscard]] std::vector<counted_table>& counted_tables() {
  static auto* const all = new std::vector<counted_table>;
  return *all;
}

[[nodiscard]] std::string name_of(const counted_code& c, session& s) {
  if (c.function != nullptr) return fmt::format("{}, in {}", short_name(c.function), c.place);
  if (c.code == nullptr) return fmt::format("assembly outside of functions, {}", c.place);
  return fmt::format("inline assembly in {}, {}", s.code().function_at(c.code), c.place);
}

}  // namespace

void watch_calls() {
  const std::vector<module> all = all_modules();
  std::vector<const module*> seen;
  for (const module& m : all) {
    const bool is_checker = m.has(reinterpret_cast<const void*>(&runq_watched_call), PF_X);
    if (&m == &all.front() || is_checker || is_instrumented(m)) seen.push_back(&m);
  }
  for (const module* m : seen) {
    if (m->has(reinterpret_cast<const void*>(&runq_watched_call), PF_X)) continue;
    const std::vector<import> found = imports_to_watch(*m, all, seen);
    call_pieces pieces(found.size());
    const writable_addresses writable(*m);
    if (found.empty() || !pieces.are_there() || !writable) continue;
    std::vector<const void*> addresses;
    for (const import& i : found) {
      const known_function* const known = find_known_function(i.symbol);
      if (known != nullptr && known->instead != nullptr) {
        addresses.push_back(known->instead);
        continue;
      }
      watched_calls().push_back(
          {known == nullptr ? nullptr : known->note, *i.place, 0, std::string(i.symbol), std::string(i.from->name)});
      addresses.push_back(pieces.add(watched_calls().back()));
    }
    if (!pieces.finish()) continue;
    for (std::size_t i = 0; i != found.size(); ++i) *found[i].place = addresses[i];
  }
}

void forget_unseen_code() {
  for (watched_call& c : watched_calls()) c.calls = 0;
  for (counted_table& t : counted_tables()) {
    std::for_each(t.begin, t.end, [](counted_code& c) { c.times = 0; });
    std::fill(t.times.begin(), t.times.end(), 0);
  }
  unseen_by_others().clear();
}

void note_unseen_code() {
  for (counted_table& t : counted_tables()) {
    for (std::size_t i = 0; i != t.times.size(); ++i) t.times[i] += t.begin[i].times;
  }
}

void add_unseen_code(const std::vector<unseen_code>& more) {
  for (const unseen_code& u : more) unseen_by_others()[u.what] += u.times;
}

std::vector<unseen_code> all_unseen_code(session& s) {
  std::map<std::string, std::uint64_t> all = unseen_by_others();
  for (const watched_call& c : watched_calls()) {
    if (c.calls != 0) all[fmt::format("{}, in {}", short_name(c.symbol), c.library)] += c.calls;
  }
  for (const counted_table& t : counted_tables()) {
    for (std::size_t i = 0; i != t.times.size(); ++i) {
      const counted_code& c = t.begin[i];
      if (t.times[i] != 0 || c.is_counted == 0) all[name_of(c, s)] += t.times[i];
    }
  }
  std::vector<unseen_code> list;
  for (const auto& [what, times] : all) list.push_back({what, times});
  return list;
}

}  // namespace runq::model::compiled

extern "C" __attribute__((visibility("default"))) void runq_check_unseen(runq::model::compiled::counted_code* begin,
                                                                         runq::model::compiled::counted_code* end) {
  using runq::model::compiled::counted_tables;
  counted_tables().push_back({begin, end, std::vector<std::uint64_t>(static_cast<std::size_t>(end - begin))});
}
