// SPDX-License-Identifier: MIT
// What the program calls a part of its memory: "queue.slots_[3].sequence", by the types of its debug information.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "debug_info.hpp"

namespace runq::model::compiled {

/// Some bytes of a larger object.
struct part_of_object {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// How a part of an object is shown.
struct shown_part {
  std::string name;  ///< behind that of the object: ".slots_[3].sequence", and "+4" for what has no name of its own
  bool is_signed = false;  ///< it is a number that may be negative
};

/// A block of memory, as it was allocated.
struct allocation {
  std::vector<std::uint64_t> calls;  ///< where the program's code was, innermost first
  std::string source;                ///< the program's own line
  std::uint64_t size = 0;
  std::uint64_t first_word = 0;  ///< what lies at its beginning
};

class member_names {
 public:
  /// Of the part of the global variable at that address. Nothing if the type is not known.
  [[nodiscard]] std::optional<shown_part> in_variable(std::uint64_t address, part_of_object part) const;
  /// Of the part of a block: by what allocates it.
  [[nodiscard]] std::optional<shown_part> in_block(const allocation& block, part_of_object part) const;
  /// The name of the local variable and of the part of it that lies so far from where the caller's part of the stack
  /// begins, in the function with that code. `stack_pointer`: how far from there it is, if the function aligns it.
  [[nodiscard]] std::optional<shown_part> of_local(std::uint64_t code, std::int64_t from_caller, std::uint64_t size,
                                                   std::optional<std::int64_t> stack_pointer) const;

 private:
  struct walk;
  /// An object of a type, or an array of them in a block.
  struct layout {
    const debug_entry* type = nullptr;
    std::uint64_t begin = 0;  ///< of the first element in the block
    bool is_array = false;
  };

  [[nodiscard]] const debug_entry* type_of(const debug_entry& e) const;
  [[nodiscard]] const debug_entry* bare(const debug_entry* type) const;
  [[nodiscard]] const debug_entry* defined(const debug_entry* type) const;
  [[nodiscard]] std::uint64_t size_of(const debug_entry* type) const;
  [[nodiscard]] const debug_entry& origin_of(const debug_entry& e) const;
  [[nodiscard]] std::string_view name_of(const debug_entry& e) const;
  [[nodiscard]] bool is_in_std(const debug_entry& e) const;
  [[nodiscard]] bool is_internal(const debug_entry& member, const debug_entry& of) const;
  [[nodiscard]] shown_part shown_in(const debug_entry* type, part_of_object part) const;
  void find_numbers(const debug_entry* type, part_of_object part, std::vector<const debug_entry*>& found) const;
  void descend(walk& w) const;
  [[nodiscard]] bool descend_array(walk& w) const;
  [[nodiscard]] bool descend_class(walk& w) const;
  [[nodiscard]] std::optional<walk> into(const walk& w, const debug_entry& member) const;
  [[nodiscard]] bool is_empty(const debug_entry& member) const;
  [[nodiscard]] bool name_bit_fields(walk& w) const;

  [[nodiscard]] const debug_entry* type_argument(const debug_entry& of, std::string_view name) const;
  [[nodiscard]] const debug_entry* allocated_by_library(std::span<const debug_entry* const> functions) const;
  [[nodiscard]] std::optional<layout> shared_object_in(const debug_entry* block) const;
  [[nodiscard]] std::vector<const debug_entry*> types_named(std::string_view name) const;
  [[nodiscard]] std::optional<layout> layout_of(const debug_entry* type, const allocation& block, bool may_count) const;
  [[nodiscard]] bool has_destructor(const debug_entry& type) const;
  [[nodiscard]] bool ends_with_array(const debug_entry& type) const;
  [[nodiscard]] std::optional<shown_part> shown_in(const std::vector<const debug_entry*>& types,
                                                   const allocation& block, part_of_object part, bool may_count) const;

  debug_info info_;
  std::unordered_multimap<std::string_view, const debug_entry*> types_ = all_types();
  [[nodiscard]] std::unordered_multimap<std::string_view, const debug_entry*> all_types() const;
};

}  // namespace runq::model::compiled
