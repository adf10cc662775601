// SPDX-License-Identifier: MIT
#include "debug_info.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <link.h>

namespace runq::model::compiled {

namespace {

/// Attributes and forms, by DWARF's numbers.
namespace attribute {
enum : std::uint16_t {
  location = 0x02,
  name = 0x03,
  byte_size = 0x0b,
  bit_offset = 0x0c,
  bit_size = 0x0d,
  low_pc = 0x11,
  high_pc = 0x12,
  upper_bound = 0x2f,
  abstract_origin = 0x31,
  count = 0x37,
  data_member_location = 0x38,
  declaration = 0x3c,
  encoding = 0x3e,
  frame_base = 0x40,
  specification = 0x47,
  type = 0x49,
  ranges = 0x55,
  data_bit_offset = 0x6b,
  str_offsets_base = 0x72,
  addr_base = 0x73,
  rnglists_base = 0x74,
};
}
namespace form {
enum : std::uint16_t {
  addr = 0x01,
  block2 = 0x03,
  block4 = 0x04,
  data2 = 0x05,
  data4 = 0x06,
  data8 = 0x07,
  string = 0x08,
  block = 0x09,
  block1 = 0x0a,
  data1 = 0x0b,
  flag = 0x0c,
  sdata = 0x0d,
  strp = 0x0e,
  udata = 0x0f,
  ref_addr = 0x10,
  ref1 = 0x11,
  ref2 = 0x12,
  ref4 = 0x13,
  ref8 = 0x14,
  ref_udata = 0x15,
  indirect = 0x16,
  sec_offset = 0x17,
  exprloc = 0x18,
  flag_present = 0x19,
  strx = 0x1a,
  addrx = 0x1b,
  strp_sup = 0x1d,
  data16 = 0x1e,
  line_strp = 0x1f,
  ref_sig8 = 0x20,
  implicit_const = 0x21,
  loclistx = 0x22,
  rnglistx = 0x23,
  strx1 = 0x25,
  strx2 = 0x26,
  strx3 = 0x27,
  strx4 = 0x28,
  addrx1 = 0x29,
  addrx2 = 0x2a,
  addrx3 = 0x2b,
  addrx4 = 0x2c,
};
}
namespace encoding {
constexpr std::uint64_t signed_number = 0x05;
constexpr std::uint64_t signed_char = 0x06;
}  // namespace encoding
namespace operation {
constexpr std::uint8_t addr = 0x03;
constexpr std::uint8_t plus_uconst = 0x23;
constexpr std::uint8_t addrx = 0xa1;
}  // namespace operation

}  // namespace

/// Reads numbers of a part of the file. Behind its end it reads zeros, and says so.
class debug_info::cursor {
 public:
  cursor(const std::uint8_t* begin, std::size_t size) : begin_(begin), at_(begin), end_(begin + size) {}
  cursor(const section& s, std::uint64_t from) : cursor(s.begin, s.size) { skip(from); }

  [[nodiscard]] bool is_at_end() const noexcept { return at_ == end_; }
  [[nodiscard]] std::uint64_t place() const noexcept { return static_cast<std::uint64_t>(at_ - begin_); }
  [[nodiscard]] const std::uint8_t* here() const noexcept { return at_; }
  void skip(std::uint64_t bytes) noexcept {
    at_ += std::min<std::uint64_t>(bytes, static_cast<std::uint64_t>(end_ - at_));
  }
  void end_at(std::uint64_t place) noexcept {
    end_ = begin_ + std::min<std::uint64_t>(place, static_cast<std::uint64_t>(end_ - begin_));
  }
  [[nodiscard]] std::uint64_t number(unsigned bytes) noexcept {
    std::uint64_t v = 0;
    if (static_cast<std::size_t>(end_ - at_) < bytes) {
      at_ = end_;
      return 0;
    }
    for (unsigned i = 0; i != bytes; ++i) {
      const unsigned from = std::endian::native == std::endian::little ? i : bytes - 1 - i;
      if (i < sizeof v) v |= std::uint64_t{at_[from]} << (8 * i);
    }
    at_ += bytes;
    return v;
  }
  [[nodiscard]] std::uint64_t leb() noexcept {
    std::uint64_t v = 0;
    for (unsigned shift = 0; at_ != end_; shift += 7) {
      const std::uint8_t byte = *at_++;
      if (shift < 64) v |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return v;
  }
  [[nodiscard]] std::int64_t signed_leb() noexcept {
    std::uint64_t v = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      if (at_ == end_) break;
      byte = *at_++;
      if (shift < 64) v |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
    } while ((byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0) v |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(v);
  }
  [[nodiscard]] std::string_view text() noexcept {
    const auto* const zero = std::find(at_, end_, std::uint8_t{0});
    const std::string_view found(reinterpret_cast<const char*>(at_), static_cast<std::size_t>(zero - at_));
    at_ = zero == end_ ? end_ : zero + 1;
    return found;
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes(std::uint64_t count) noexcept {
    const auto* const from = at_;
    skip(count);
    return {from, at_};
  }

 private:
  const std::uint8_t* begin_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

struct debug_info::value {
  enum class kind : unsigned char { other, number, address, text, entry, bytes, list, list_number } what = kind::other;
  std::uint64_t number = 0;
  std::string_view text;
  std::span<const std::uint8_t> bytes;
};

debug_info::debug_info() {
  find_sections();
  if (info_.begin == nullptr) return;
  for (cursor all(info_, 0); !all.is_at_end();) read_unit(all);
  for (debug_entry& e : entries_) complete(e);
}

void debug_info::find_sections() {
  const char* const path = "/proc/self/exe";
  std::error_code failed;
  file_.resize(std::filesystem::file_size(path, failed));
  if (failed) return;
  std::ifstream(path, std::ios::binary).read(file_.data(), static_cast<std::streamsize>(file_.size()));
  ElfW(Ehdr) file{};
  if (file_.size() < sizeof file) return;
  std::memcpy(&file, file_.data(), sizeof file);
  const auto header = [&](unsigned i) {
    ElfW(Shdr) found{};
    const std::size_t at = file.e_shoff + std::size_t{i} * sizeof found;
    if (at + sizeof found <= file_.size()) std::memcpy(&found, file_.data() + at, sizeof found);
    return found;
  };
  const auto bytes_of = [&](const ElfW(Shdr) & s) -> section {
    const bool is_there = s.sh_type != SHT_NOBITS && s.sh_offset <= file_.size() &&
                          s.sh_size <= file_.size() - s.sh_offset && (s.sh_flags & SHF_COMPRESSED) == 0;
    if (!is_there) return {};
    return {reinterpret_cast<const std::uint8_t*>(file_.data()) + s.sh_offset, s.sh_size};
  };
  const section names = bytes_of(header(file.e_shstrndx));
  const std::pair<std::string_view, section*> wanted[]{
      {".debug_info", &info_},         {".debug_abbrev", &names_of_forms_},
      {".debug_str", &strings_},       {".debug_line_str", &line_strings_},
      {".debug_addr", &addresses_},    {".debug_str_offsets", &string_offsets_},
      {".debug_ranges", &old_ranges_}, {".debug_rnglists", &range_lists_},
  };
  for (unsigned i = 0; i != file.e_shnum; ++i) {
    const auto s = header(i);
    for (const auto& [name, to] : wanted) {
      if (string_in(names, s.sh_name) == name) *to = bytes_of(s);
    }
  }
}

std::string_view debug_info::string_in(const section& s, std::uint64_t place) const { return cursor(s, place).text(); }

const debug_info::abbreviations& debug_info::abbreviations_at(std::uint64_t place) {
  const auto [known, added] = abbreviations_.try_emplace(place);
  if (!added) return known->second;
  cursor from(names_of_forms_, place);
  for (std::uint64_t code = from.leb(); code != 0; code = from.leb()) {
    abbreviation& a = known->second[code];
    a.tag = static_cast<entry_tag>(from.leb());
    a.has_children = from.number(1) != 0;
    while (!from.is_at_end()) {
      attribute_form f{static_cast<std::uint16_t>(from.leb()), static_cast<std::uint16_t>(from.leb()), 0};
      if (f.form == form::implicit_const) f.value = from.signed_leb();
      if (f.name == 0 && f.form == 0) break;
      a.attributes.push_back(f);
    }
  }
  return known->second;
}

void debug_info::read_unit(cursor& all) {
  unit u;
  u.begin = all.place();
  std::uint64_t size = all.number(4);
  if (size == 0xffffffff) {
    u.offset_bytes = 8;
    size = all.number(8);
  }
  cursor from = all;
  from.end_at(all.place() + size);
  all.skip(size);
  u.version = static_cast<std::uint16_t>(from.number(2));
  if (u.version < 2 || u.version > 5) return;
  std::uint64_t forms_at = 0;
  if (u.version == 5) {
    constexpr std::uint64_t whole_unit = 1;
    if (from.number(1) != whole_unit) return;  // the others belong to other files, or are known by signatures
    u.address_bytes = static_cast<std::uint8_t>(from.number(1));
    forms_at = from.number(u.offset_bytes);
    u.strings = u.addresses = u.offset_bytes * 2;
    u.ranges = u.offset_bytes * 2 + 4;
  } else {
    forms_at = from.number(u.offset_bytes);
    u.address_bytes = static_cast<std::uint8_t>(from.number(1));
  }
  const abbreviations& known = abbreviations_at(forms_at);
  // Where the tables of the unit begin is said by its first entry, perhaps behind what needs them.
  cursor first = from;
  const auto form_of_first = known.find(first.leb());
  if (form_of_first == known.end()) return;
  for (const attribute_form& f : form_of_first->second.attributes) {
    const value v = read_value(first, f.form, f.value, u);
    if (f.name == attribute::str_offsets_base) u.strings = v.number;
    if (f.name == attribute::addr_base) u.addresses = v.number;
    if (f.name == attribute::rnglists_base) u.ranges = v.number;
  }
  units_.push_back(u);
  read_entries(from, u, known);
}

void debug_info::read_entries(cursor& from, const unit& u, const abbreviations& known) {
  std::vector<std::uint32_t> open;
  while (!from.is_at_end()) {
    const std::uint64_t place = from.place();
    const std::uint64_t code = from.leb();
    if (code == 0) {
      if (open.empty()) break;
      entries_[open.back()].end = static_cast<std::uint32_t>(entries_.size());
      open.pop_back();
      continue;
    }
    const auto found = known.find(code);
    if (found == known.end()) break;
    const auto index = static_cast<std::uint32_t>(entries_.size());
    debug_entry e;
    e.tag = found->second.tag;
    e.place = place;
    e.unit = static_cast<std::uint32_t>(units_.size() - 1);
    e.parent = open.empty() ? index : open.back();
    e.end = index + 1;
    for (const attribute_form& f : found->second.attributes) note(e, f.name, read_value(from, f.form, f.value, u));
    entries_.push_back(e);
    if (e.tag == entry_tag::compile_unit && e.low != debug_entry::unknown) units_.back().low = e.low;
    if (found->second.has_children) open.push_back(index);
  }
  for (const std::uint32_t index : open) entries_[index].end = static_cast<std::uint32_t>(entries_.size());
}

debug_info::value debug_info::read_value(cursor& from, std::uint16_t f, std::int64_t constant, const unit& u) const {
  using kind = value::kind;
  const auto number = [](std::uint64_t n) { return value{kind::number, n, {}, {}}; };
  const auto entry = [&](std::uint64_t n) { return value{kind::entry, u.begin + n, {}, {}}; };
  const auto text = [](std::string_view t) { return value{kind::text, 0, t, {}}; };
  const auto numbered_text = [&](std::uint64_t n) {
    cursor offsets(string_offsets_, u.strings + n * u.offset_bytes);
    return text(string_in(strings_, offsets.number(u.offset_bytes)));
  };
  const auto numbered_address = [&](std::uint64_t n) {
    return value{kind::address, address_with_number(u, n), {}, {}};
  };
  const auto block = [&](std::uint64_t n) { return value{kind::bytes, 0, {}, from.bytes(n)}; };
  switch (f) {
    case form::addr: return {kind::address, from.number(u.address_bytes), {}, {}};
    case form::data1:
    case form::flag: return number(from.number(1));
    case form::data2: return number(from.number(2));
    case form::data4: return number(from.number(4));
    case form::data8: return number(from.number(8));
    case form::sdata: return number(static_cast<std::uint64_t>(from.signed_leb()));
    case form::udata: return number(from.leb());
    case form::implicit_const: return number(static_cast<std::uint64_t>(constant));
    case form::flag_present: return number(1);
    case form::sec_offset: return {kind::list, from.number(u.offset_bytes), {}, {}};
    case form::loclistx:
    case form::rnglistx: return {kind::list_number, from.leb(), {}, {}};
    case form::string: return text(from.text());
    case form::strp: return text(string_in(strings_, from.number(u.offset_bytes)));
    case form::line_strp: return text(string_in(line_strings_, from.number(u.offset_bytes)));
    case form::strx: return numbered_text(from.leb());
    case form::strx1: return numbered_text(from.number(1));
    case form::strx2: return numbered_text(from.number(2));
    case form::strx3: return numbered_text(from.number(3));
    case form::strx4: return numbered_text(from.number(4));
    case form::addrx: return numbered_address(from.leb());
    case form::addrx1: return numbered_address(from.number(1));
    case form::addrx2: return numbered_address(from.number(2));
    case form::addrx3: return numbered_address(from.number(3));
    case form::addrx4: return numbered_address(from.number(4));
    case form::ref1: return entry(from.number(1));
    case form::ref2: return entry(from.number(2));
    case form::ref4: return entry(from.number(4));
    case form::ref8: return entry(from.number(8));
    case form::ref_udata: return entry(from.leb());
    case form::ref_addr: return {kind::entry, from.number(u.version < 3 ? u.address_bytes : u.offset_bytes), {}, {}};
    case form::block1: return block(from.number(1));
    case form::block2: return block(from.number(2));
    case form::block4: return block(from.number(4));
    case form::block:
    case form::exprloc: return block(from.leb());
    case form::data16: from.skip(16); return {};
    case form::ref_sig8: from.skip(8); return {};
    case form::strp_sup: from.skip(u.offset_bytes); return {};
    case form::indirect: return read_value(from, static_cast<std::uint16_t>(from.leb()), 0, u);
    default: from.skip(~std::uint64_t{0}); return {};  // how long it is nobody knows: the unit ends here
  }
}

void debug_info::note(debug_entry& e, std::uint16_t name, const value& v) {
  using kind = value::kind;
  const bool is_number = v.what == kind::number;
  switch (name) {
    case attribute::name: e.name = v.text; break;
    case attribute::declaration: e.is_declaration = v.number != 0; break;
    case attribute::type:
      if (v.what == kind::entry) e.type = v.number;
      break;
    case attribute::specification:
    case attribute::abstract_origin:
      if (v.what == kind::entry) e.origin = v.number;
      break;
    case attribute::byte_size:
      if (is_number) e.size = v.number;
      break;
    case attribute::encoding:
      e.is_signed = v.number == encoding::signed_number || v.number == encoding::signed_char;
      break;
    case attribute::location: e.location = v.bytes; break;
    case attribute::frame_base: e.frame = v.bytes; break;
    case attribute::bit_size:
      if (is_number) e.bits = v.number;
      break;
    // A bit-field: from the beginning of the class, or (DWARF 2 and 3) in a unit, where it counts from the highest bit.
    case attribute::data_bit_offset:
      if (is_number) e.offset = v.number;
      break;
    case attribute::bit_offset:
      if (is_number) e.count = v.number;
      break;
    case attribute::data_member_location:
      if (is_number) e.offset = v.number;
      break;
    case attribute::count:
      if (is_number) e.count = v.number;
      break;
    case attribute::upper_bound:
      if (is_number) e.count = v.number + 1;
      break;
    case attribute::low_pc:
      if (v.what == kind::address) e.low = v.number;
      break;
    case attribute::high_pc:
      e.high = v.number;
      e.high_is_size = is_number;
      break;
    case attribute::ranges:
      e.ranges = v.number;
      e.ranges_by_number = v.what == kind::list_number;
      break;
    default: break;
  }
}

void debug_info::complete(debug_entry& e) const {
  if (e.high_is_size) e.high += e.low;
  const bool has_old_offset = e.bits != debug_entry::unknown && e.count != debug_entry::unknown;
  if (!has_old_offset) return;
  const debug_entry* const type = at(e.type);
  const std::uint64_t unit_bytes = e.size != debug_entry::unknown || type == nullptr ? e.size : type->size;
  const std::uint64_t begin = e.offset == debug_entry::unknown ? 0 : e.offset;  // none in a union
  e.offset = unit_bytes > 16 ? debug_entry::unknown : (begin + unit_bytes) * 8 - e.count - e.bits;
}

const debug_entry* debug_info::at(std::uint64_t place) const noexcept {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), place,
                                      [](const debug_entry& e, std::uint64_t p) { return e.place < p; });
  return found == entries_.end() || found->place != place ? nullptr : &*found;
}

std::uint64_t debug_info::address_with_number(const unit& u, std::uint64_t number) const {
  return cursor(addresses_, u.addresses + number * u.address_bytes).number(u.address_bytes);
}

std::optional<std::uint64_t> debug_info::address_of(const debug_entry& variable) const {
  const unit& u = units_[variable.unit];
  cursor from(variable.location.data(), variable.location.size());
  const std::uint64_t first = from.number(1);
  std::uint64_t address = 0;
  if (first == operation::addr)
    address = from.number(u.address_bytes);
  else if (first == operation::addrx)
    address = address_with_number(u, from.leb());
  else
    return std::nullopt;
  if (from.is_at_end()) return address;
  if (from.number(1) != operation::plus_uconst) return std::nullopt;
  address += from.leb();
  return from.is_at_end() ? std::optional(address) : std::nullopt;
}

bool debug_info::contains(const debug_entry& e, std::uint64_t code) const {
  if (e.ranges != debug_entry::unknown) return units_[e.unit].version < 5 ? in_old_ranges(e, code) : in_ranges(e, code);
  return e.low != debug_entry::unknown && e.low <= code && code < e.high;
}

bool debug_info::in_old_ranges(const debug_entry& e, std::uint64_t code) const {
  const unit& u = units_[e.unit];
  const std::uint64_t new_base = u.address_bytes == 8 ? ~std::uint64_t{0} : 0xffffffff;
  std::uint64_t base = u.low;
  for (cursor from(old_ranges_, e.ranges); !from.is_at_end();) {
    const std::uint64_t low = from.number(u.address_bytes);
    const std::uint64_t high = from.number(u.address_bytes);
    if (low == 0 && high == 0) return false;
    if (low == new_base)
      base = high;
    else if (base + low <= code && code < base + high)
      return true;
  }
  return false;
}

bool debug_info::in_ranges(const debug_entry& e, std::uint64_t code) const {
  const unit& u = units_[e.unit];
  std::uint64_t place = e.ranges;
  if (e.ranges_by_number) {
    place = u.ranges + cursor(range_lists_, u.ranges + e.ranges * u.offset_bytes).number(u.offset_bytes);
  }
  std::uint64_t base = u.low;
  for (cursor from(range_lists_, place); !from.is_at_end();) {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    switch (from.number(1)) {
      case 0: return false;  // the end
      case 1: base = address_with_number(u, from.leb()); continue;
      case 2:
        low = address_with_number(u, from.leb());
        high = address_with_number(u, from.leb());
        break;
      case 3:
        low = address_with_number(u, from.leb());
        high = low + from.leb();
        break;
      case 4:
        low = base + from.leb();
        high = base + from.leb();
        break;
      case 5: base = from.number(u.address_bytes); continue;
      case 6:
        low = from.number(u.address_bytes);
        high = from.number(u.address_bytes);
        break;
      case 7:
        low = from.number(u.address_bytes);
        high = low + from.leb();
        break;
      default: return false;
    }
    if (low <= code && code < high) return true;
  }
  return false;
}

std::vector<const debug_entry*> debug_info::functions_at(std::uint64_t code) const {
  std::vector<const debug_entry*> found;
  for (const debug_entry& e : entries_) {
    if (e.tag != entry_tag::function || !contains(e, code)) continue;
    found.push_back(&e);
    for (std::uint32_t i = index_of(e) + 1; i < e.end; ++i) {
      if (entries_[i].tag == entry_tag::inlined_function && contains(entries_[i], code)) found.push_back(&entries_[i]);
    }
    break;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace runq::model::compiled
