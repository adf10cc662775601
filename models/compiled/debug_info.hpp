// SPDX-License-Identifier: MIT
// The program's debug information (DWARF 2 to 5): the entries that say what lies where, and which function code belongs
// to. Read when a name is asked for, which is when something has failed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runq::model::compiled {

/// What entries are, by DWARF's numbers: those that matter here.
enum class entry_tag : std::uint16_t {
  none = 0,
  array_type = 0x01,
  class_type = 0x02,
  enumeration_type = 0x04,
  formal_parameter = 0x05,
  lexical_block = 0x0b,
  member = 0x0d,
  pointer_type = 0x0f,
  reference_type = 0x10,
  compile_unit = 0x11,
  structure_type = 0x13,
  type_definition = 0x16,
  union_type = 0x17,
  inheritance = 0x1c,
  inlined_function = 0x1d,
  subrange_type = 0x21,
  base_type = 0x24,
  const_type = 0x26,
  function = 0x2e,
  template_type = 0x2f,
  variable = 0x34,
  volatile_type = 0x35,
  restrict_type = 0x37,
  name_space = 0x39,
  rvalue_reference_type = 0x42,
  atomic_type = 0x47,
};

/// One of them. Entries lie in a row: those within one follow it, up to its `end`.
struct debug_entry {
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  entry_tag tag{};
  bool is_declaration = false;
  bool is_signed = false;  ///< a number that may be negative
  std::uint32_t parent = 0;
  std::uint32_t end = 0;
  std::uint32_t unit = 0;
  std::uint64_t place = 0;                 ///< in the section
  std::string_view name;                   ///< empty: none
  std::uint64_t type = unknown;            ///< the place of its type
  std::uint64_t origin = unknown;          ///< the place of the entry that says more of the same thing
  std::uint64_t size = unknown;            ///< in bytes
  std::uint64_t offset = unknown;          ///< of a member, from the beginning of its class; in bits for a bit-field
  std::uint64_t bits = unknown;            ///< of a bit-field
  std::uint64_t count = unknown;           ///< of the elements of an array in one dimension
  std::span<const std::uint8_t> location;  ///< of a variable
  std::span<const std::uint8_t> frame;     ///< what the locations in a function are relative to
  std::uint64_t low = unknown;             ///< addresses of code
  std::uint64_t high = 0;
  bool high_is_size = false;
  std::uint64_t ranges = unknown;  ///< more of them: their place, or their number in the unit's list
  bool ranges_by_number = false;
};

class debug_info {
 public:
  /// Of the program that runs. Without entries if there is none, or none that can be read.
  debug_info();

  [[nodiscard]] const std::vector<debug_entry>& entries() const noexcept { return entries_; }
  /// The entry at that place of the section; nullptr: there is none.
  [[nodiscard]] const debug_entry* at(std::uint64_t place) const noexcept;
  [[nodiscard]] const debug_entry& parent_of(const debug_entry& e) const noexcept { return entries_[e.parent]; }
  [[nodiscard]] std::uint32_t index_of(const debug_entry& e) const noexcept {
    return static_cast<std::uint32_t>(&e - entries_.data());
  }
  /// Calls the function with each entry directly within that one.
  template <class Function>
  void for_each_in(const debug_entry& e, Function&& function) const {
    for (std::uint32_t i = index_of(e) + 1; i < e.end; i = entries_[i].end) function(entries_[i]);
  }
  /// The functions that code at that address belongs to: innermost first, the last one is not inlined.
  [[nodiscard]] std::vector<const debug_entry*> functions_at(std::uint64_t code) const;
  /// The address of a variable that lies at a fixed one.
  [[nodiscard]] std::optional<std::uint64_t> address_of(const debug_entry& variable) const;

 private:
  struct section {
    const std::uint8_t* begin = nullptr;
    std::size_t size = 0;
  };
  struct unit {
    std::uint64_t begin = 0;
    std::uint16_t version = 0;
    std::uint8_t address_bytes = 8;
    std::uint8_t offset_bytes = 4;
    std::uint64_t strings = 0, addresses = 0, ranges = 0;  ///< where its part of the tables begins
    std::uint64_t low = 0;
  };
  struct attribute_form {
    std::uint16_t name = 0, form = 0;
    std::int64_t value = 0;
  };
  struct abbreviation {
    entry_tag tag{};
    bool has_children = false;
    std::vector<attribute_form> attributes;
  };
  using abbreviations = std::map<std::uint64_t, abbreviation>;
  class cursor;
  struct value;

  void find_sections();
  void read_unit(cursor& all);
  void read_entries(cursor& from, const unit& u, const abbreviations& known);
  [[nodiscard]] const abbreviations& abbreviations_at(std::uint64_t place);
  [[nodiscard]] value read_value(cursor& from, std::uint16_t form, std::int64_t constant, const unit& u) const;
  static void note(debug_entry& e, std::uint16_t name, const value& v);
  void complete(debug_entry& e) const;
  [[nodiscard]] bool contains(const debug_entry& e, std::uint64_t code) const;
  [[nodiscard]] bool in_ranges(const debug_entry& e, std::uint64_t code) const;
  [[nodiscard]] bool in_old_ranges(const debug_entry& e, std::uint64_t code) const;
  [[nodiscard]] std::uint64_t address_with_number(const unit& u, std::uint64_t number) const;
  [[nodiscard]] std::string_view string_in(const section& s, std::uint64_t place) const;

  std::string file_;
  section info_, names_of_forms_, strings_, line_strings_, string_offsets_, addresses_, range_lists_, old_ranges_;
  std::vector<unit> units_;
  std::vector<debug_entry> entries_;
  std::map<std::uint64_t, abbreviations> abbreviations_;
};

}  // namespace runq::model::compiled
