// SPDX-License-Identifier: MIT
#include "member_names.hpp"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

namespace runq::model::compiled {

namespace {

constexpr std::uint64_t unknown = debug_entry::unknown;

[[nodiscard]] bool is_class(const debug_entry& e) {
  return e.tag == entry_tag::class_type || e.tag == entry_tag::structure_type || e.tag == entry_tag::union_type;
}

/// "node<int>" is called node.
[[nodiscard]] std::string_view without_arguments(std::string_view name) { return name.substr(0, name.find('<')); }

[[nodiscard]] bool covers(std::uint64_t offset, std::uint64_t size, part_of_object part) {
  return offset <= part.offset && part.offset + part.size <= offset + size;
}

/// The type that a line of source allocates, and whether it may be an array.
struct named_type {
  std::string name;
  bool may_have_count = false;  ///< `new T[n]` stores n before the elements, if these have a destructor
};

/// "new node(3)", "new (std::nothrow) slot[n]", "malloc(sizeof(struct node))", "(node*)malloc(". Nothing if the line
/// allocates more than one thing, or none that it names.
[[nodiscard]] std::optional<named_type> allocated_in(const std::string& source) {
  static const std::regex wanted(
      R"(\bnew\s*(?:\([^()]*\)\s*)?(?:struct\s+)?((?:\w+::)*)(\w+)(?:<[^;()]*>)?\s*(\[)?|\bsizeof\s*\(\s*(?:struct\s+|union\s+)?((?:\w+::)*)(\w+)\s*\))");
  std::optional<named_type> found;
  for (std::sregex_iterator at(source.begin(), source.end(), wanted), end; at != end; ++at) {
    if (found) return std::nullopt;
    const bool by_new = (*at)[2].matched;
    found = {(*at)[by_new ? 2 : 5].str(), by_new && (*at)[3].matched};
  }
  return found;
}

constexpr std::uint8_t from_frame_base = 0x91;     // DW_OP_fbreg
constexpr std::uint8_t from_stack_pointer = 0x77;  // DW_OP_breg7: %rsp

/// What the location adds to what that operation is relative to.
[[nodiscard]] std::optional<std::int64_t> offset_from(std::uint8_t operation, std::span<const std::uint8_t> location) {
  if (location.size() < 2 || location.front() != operation) return std::nullopt;
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (std::size_t i = 1; i != location.size(); ++i) {
    value |= std::uint64_t{location[i] & 0x7fU} << shift;
    shift += 7;
    if ((location[i] & 0x80) != 0 && shift < 64) continue;
    if (i + 1 != location.size()) return std::nullopt;  // there is another operation
    if (shift < 64 && (location[i] & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

/// From where the caller's part of the stack begins to what a function's locations are relative to; nothing if that is
/// in a register.
[[nodiscard]] std::optional<std::int64_t> frame_base(std::span<const std::uint8_t> frame) {
  constexpr std::uint8_t begin_of_caller = 0x9c;  // DW_OP_call_frame_cfa
  constexpr std::uint8_t frame_pointer = 0x56;    // DW_OP_reg6: %rbp, which lies below the return address
  if (frame.size() != 1) return std::nullopt;
  if (frame.front() == begin_of_caller) return 0;
  if (frame.front() == frame_pointer) return -16;
  return std::nullopt;
}

/// Of a variable, from where the caller's part of the stack begins.
[[nodiscard]] std::optional<std::int64_t> place_on_stack(std::span<const std::uint8_t> location, std::int64_t base,
                                                         std::optional<std::int64_t> stack_pointer) {
  if (const auto offset = offset_from(from_frame_base, location)) return base + *offset;
  const auto offset = offset_from(from_stack_pointer, location);
  return offset && stack_pointer ? std::optional(*stack_pointer + *offset) : std::nullopt;
}

}  // namespace

/// From an object to a part of it.
struct member_names::walk {
  const debug_entry* type = nullptr;   ///< of what contains the part, so far
  part_of_object part;                 ///< of that
  std::string text;                    ///< the names on the way
  std::uint64_t rest = 0;              ///< where that lies in what the last name names
  std::uint64_t named_size = unknown;  ///< of what the last name names
  bool is_several = false;             ///< the part is more than one member, or element

  /// Whether the name is that of the part, and of no more.
  [[nodiscard]] bool is_exact() const { return rest + part.offset == 0 && named_size == part.size && !is_several; }
  [[nodiscard]] std::string all() const {
    const std::uint64_t more = rest + part.offset;
    return more == 0 ? text : fmt::format("{}+{}", text, more);
  }
};

// --- types
// ------------------------------------------------------------------------------------------------------------

const debug_entry& member_names::origin_of(const debug_entry& e) const {
  const debug_entry* found = &e;
  for (int steps = 0; steps != 4 && found->origin != unknown; ++steps) {
    const debug_entry* const next = info_.at(found->origin);
    if (next == nullptr) break;
    found = next;
  }
  return *found;
}

std::string_view member_names::name_of(const debug_entry& e) const {
  return e.name.empty() ? origin_of(e).name : e.name;
}

const debug_entry* member_names::type_of(const debug_entry& e) const {
  const debug_entry* found = &e;
  for (int steps = 0; steps != 4 && found != nullptr && found->type == unknown; ++steps) {
    found = found->origin == unknown ? nullptr : info_.at(found->origin);
  }
  return found == nullptr || found->type == unknown ? nullptr : info_.at(found->type);
}

/// Without typedefs and qualifiers.
const debug_entry* member_names::bare(const debug_entry* type) const {
  for (int steps = 0; steps != 64 && type != nullptr; ++steps) {
    switch (type->tag) {
      case entry_tag::type_definition:
      case entry_tag::const_type:
      case entry_tag::volatile_type:
      case entry_tag::restrict_type:
      case entry_tag::atomic_type: type = type_of(*type); break;
      default: return defined(type);
    }
  }
  return nullptr;
}

/// A unit may only declare a class: another one defines it, with the same names around it.
const debug_entry* member_names::defined(const debug_entry* type) const {
  if (!type->is_declaration || !is_class(*type)) return type;
  const auto same = [&](const debug_entry* a, const debug_entry* b) {
    while (true) {
      if (a->tag == entry_tag::compile_unit || b->tag == entry_tag::compile_unit) return a->tag == b->tag;
      if (a->name != b->name) return false;
      a = &info_.parent_of(*a);
      b = &info_.parent_of(*b);
    }
  };
  const auto [first, last] = types_.equal_range(without_arguments(type->name));
  for (auto i = first; i != last; ++i) {
    if (is_class(*i->second) && same(i->second, type)) return i->second;
  }
  return nullptr;
}

std::uint64_t member_names::size_of(const debug_entry* type) const {
  type = bare(type);
  if (type == nullptr) return unknown;
  if (type->tag != entry_tag::array_type) {
    const bool is_address = type->tag == entry_tag::pointer_type || type->tag == entry_tag::reference_type ||
                            type->tag == entry_tag::rvalue_reference_type;
    return type->size == unknown && is_address ? sizeof(void*) : type->size;
  }
  std::uint64_t size = size_of(type_of(*type));
  info_.for_each_in(*type, [&](const debug_entry& e) {
    if (e.tag == entry_tag::subrange_type) size = size == unknown || e.count == unknown ? unknown : size * e.count;
  });
  return size;
}

bool member_names::is_in_std(const debug_entry& e) const {
  const debug_entry* outermost = nullptr;
  for (const debug_entry* at = &e; at->tag != entry_tag::compile_unit; at = &info_.parent_of(*at)) {
    if (at->tag == entry_tag::name_space) outermost = at;
    if (at->tag == entry_tag::function) outermost = nullptr;  // a class within a function is none of that namespace
  }
  return outermost != nullptr && (outermost->name == "std" || outermost->name == "__gnu_cxx");
}

/// What a program does not know: how the library has made its classes.
bool member_names::is_internal(const debug_entry& member, const debug_entry& of) const {
  if (member.name.starts_with("__")) return true;
  return member.name.starts_with('_') && is_in_std(of);
}

std::unordered_multimap<std::string_view, const debug_entry*> member_names::all_types() const {
  std::unordered_multimap<std::string_view, const debug_entry*> all;
  for (const debug_entry& e : info_.entries()) {
    const bool is_named = (is_class(e) && !e.is_declaration) || e.tag == entry_tag::type_definition ||
                          e.tag == entry_tag::base_type || e.tag == entry_tag::enumeration_type;
    if (is_named && !e.name.empty()) all.emplace(without_arguments(e.name), &e);
  }
  return all;
}

// --- from an object to a part of it
// -----------------------------------------------------------------------------------

shown_part member_names::shown_in(const debug_entry* type, part_of_object part) const {
  walk w{type, part, {}, 0, size_of(type)};
  descend(w);
  std::vector<const debug_entry*> numbers;
  find_numbers(type, part, numbers);
  const bool is_signed = std::all_of(numbers.begin(), numbers.end(), [](const debug_entry* n) { return n->is_signed; });
  return {w.all(), is_signed && !numbers.empty()};
}

/// The types of numbers that are exactly the part: several in a union.
void member_names::find_numbers(const debug_entry* type, part_of_object part,
                                std::vector<const debug_entry*>& found) const {
  type = bare(type);
  if (type == nullptr) return;
  if (type->tag == entry_tag::enumeration_type && type_of(*type) != nullptr)
    return find_numbers(type_of(*type), part, found);
  if (type->tag == entry_tag::array_type) {
    const std::uint64_t size = size_of(type_of(*type));
    if (size == unknown || size == 0) return;
    return find_numbers(type_of(*type), {part.offset % size, part.size}, found);
  }
  if (!is_class(*type)) {
    if (part.offset == 0 && size_of(type) == part.size) found.push_back(type);
    return;
  }
  info_.for_each_in(*type, [&](const debug_entry& e) {
    if ((e.tag != entry_tag::member && e.tag != entry_tag::inheritance) || e.bits != unknown) return;
    const bool is_in_union = type->tag == entry_tag::union_type && e.offset == unknown;
    const std::uint64_t offset = is_in_union ? 0 : e.offset;
    if (offset != unknown && covers(offset, size_of(type_of(e)), part))
      find_numbers(type_of(e), {part.offset - offset, part.size}, found);
  });
}

void member_names::descend(walk& w) const {
  for (int depth = 0; depth != 64; ++depth) {
    w.type = bare(w.type);
    if (w.type == nullptr) return;
    const bool goes_on =
        w.type->tag == entry_tag::array_type ? descend_array(w) : is_class(*w.type) && descend_class(w);
    if (!goes_on) return;
  }
}

bool member_names::descend_array(walk& w) const {
  std::vector<std::uint64_t> counts;
  info_.for_each_in(*w.type, [&](const debug_entry& e) {
    if (e.tag == entry_tag::subrange_type) counts.push_back(e.count);
  });
  const debug_entry* const element = type_of(*w.type);
  const std::uint64_t size = size_of(element);
  if (size == unknown || size == 0 || counts.empty()) return false;
  w.is_several = w.part.offset % size + w.part.size > size;
  if (w.is_several) return false;
  std::uint64_t index = w.part.offset / size;
  std::string text;
  for (std::size_t i = counts.size(); i-- != 0;) {
    // How many there are in the first dimension may be unknown.
    const bool is_known = counts[i] != unknown && counts[i] != 0;
    if (!is_known && i != 0) return false;
    if (is_known && i == 0 && index >= counts[i]) return false;
    text = fmt::format("[{}]", is_known ? index % counts[i] : index) + text;
    if (is_known) index /= counts[i];
  }
  w = {element, {w.part.offset % size, w.part.size}, w.text + text, 0, size};
  return true;
}

/// The member or base class that the part belongs to. If there are several, as in a union, the one that leads to a name
/// of exactly the part.
bool member_names::descend_class(walk& w) const {
  std::vector<walk> ways;
  info_.for_each_in(*w.type, [&](const debug_entry& e) {
    if (auto way = into(w, e)) ways.push_back(std::move(*way));
  });
  if (ways.size() > 1) {
    for (walk& way : ways) descend(way);
    std::erase_if(ways, [](const walk& way) { return !way.is_exact(); });
  }
  if (ways.empty()) w.is_several = !is_in_std(*w.type);
  if (ways.size() != 1) return ways.empty() && name_bit_fields(w);
  w = std::move(ways.front());
  return true;
}

/// A class without members takes no room as a base class, although its size is 1.
bool member_names::is_empty(const debug_entry& member) const {
  const debug_entry* const type = bare(type_of(member));
  if (type == nullptr || !is_class(*type) || type->size != 1) return false;
  bool has_some = false;
  info_.for_each_in(*type, [&](const debug_entry& e) {
    has_some = has_some || e.tag == entry_tag::member || e.tag == entry_tag::inheritance;
  });
  return !has_some;
}

std::optional<member_names::walk> member_names::into(const walk& w, const debug_entry& member) const {
  const bool is_base = member.tag == entry_tag::inheritance;
  if ((member.tag != entry_tag::member && !is_base) || member.bits != unknown || is_empty(member)) return std::nullopt;
  const bool is_union = w.type->tag == entry_tag::union_type;
  const std::uint64_t offset = is_union && member.offset == unknown ? 0 : member.offset;
  const debug_entry* const type = type_of(member);
  std::uint64_t size = size_of(type);
  const debug_entry* const known = bare(type);
  // An array at the end of its class, of which nobody says how long it is.
  const bool is_open = known != nullptr && known->tag == entry_tag::array_type && (size == unknown || size == 0);
  if (is_open) size = unknown / 2;
  if (offset == unknown || size == unknown || !covers(offset, size, w.part)) return std::nullopt;
  const part_of_object part{w.part.offset - offset, w.part.size};
  const bool is_array_of_library = known != nullptr && known->tag == entry_tag::array_type && is_in_std(*w.type) &&
                                   without_arguments(w.type->name) == "array";
  if (is_base || member.name.empty() || is_array_of_library)
    return walk{type, part, w.text, w.rest + offset, w.named_size};
  if (is_internal(member, *w.type)) return std::nullopt;
  return walk{type, part, fmt::format("{}.{}", w.text, member.name), 0, is_open ? unknown : size};
}

/// Those whose bits lie in the part: they are one place of memory.
bool member_names::name_bit_fields(walk& w) const {
  std::vector<std::string_view> names;
  info_.for_each_in(*w.type, [&](const debug_entry& e) {
    if (e.tag != entry_tag::member || e.bits == unknown || e.name.empty()) return;
    const std::uint64_t begin = e.offset == unknown ? 0 : e.offset;
    if (begin < (w.part.offset + w.part.size) * 8 && begin + e.bits > w.part.offset * 8) names.push_back(e.name);
  });
  if (names.empty()) return false;
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  w.text += names.size() == 1 ? "." + all : fmt::format(".({})", all);
  w.rest = 0;
  w.part.offset = 0;
  w.named_size = unknown;
  return false;
}

// --- where an object lies
// ---------------------------------------------------------------------------------------------

std::optional<shown_part> member_names::in_variable(std::uint64_t address, part_of_object part) const {
  for (const debug_entry& e : info_.entries()) {
    if (e.tag != entry_tag::variable || e.location.empty() || info_.address_of(e) != address) continue;
    const debug_entry* const type = type_of(e);
    if (type != nullptr && size_of(type) != unknown) return shown_in(type, part);
  }
  return std::nullopt;
}

std::optional<shown_part> member_names::of_local(std::uint64_t code, std::int64_t from_caller, std::uint64_t size,
                                                 std::optional<std::int64_t> stack_pointer) const {
  const std::vector<const debug_entry*> functions = info_.functions_at(code);
  if (functions.empty()) return std::nullopt;
  const debug_entry& function = *functions.back();
  const std::optional<std::int64_t> base = frame_base(function.frame);
  if (!base) return std::nullopt;
  std::optional<shown_part> found;
  const std::vector<debug_entry>& all = info_.entries();
  for (std::uint32_t i = info_.index_of(function) + 1; i < function.end; ++i) {
    const debug_entry& e = all[i];
    const bool is_variable = e.tag == entry_tag::variable || e.tag == entry_tag::formal_parameter;
    const std::optional<std::int64_t> place = place_on_stack(e.location, *base, stack_pointer);
    if (!is_variable || !place || name_of(e).empty()) continue;
    const debug_entry* const type = type_of(e);
    const std::int64_t begin = *place;
    const std::uint64_t bytes = size_of(type);
    if (bytes == unknown || from_caller < begin) continue;
    const part_of_object part{static_cast<std::uint64_t>(from_caller - begin), size};
    if (!covers(0, bytes, part)) continue;
    shown_part shown = shown_in(type, part);
    shown.name.insert(0, name_of(e));
    if (found && found->name != shown.name) return std::nullopt;  // two have the same place, one after the other
    found = std::move(shown);
  }
  return found;
}

// --- blocks of the heap
// -----------------------------------------------------------------------------------------------

const debug_entry* member_names::type_argument(const debug_entry& of, std::string_view name) const {
  const debug_entry* found = nullptr;
  info_.for_each_in(of, [&](const debug_entry& e) {
    if (found == nullptr && e.tag == entry_tag::template_type && (name.empty() || e.name == name)) found = type_of(e);
  });
  return found;
}

/// std::allocator<T>::allocate() and std::make_unique<T>() say what they allocate.
const debug_entry* member_names::allocated_by_library(std::span<const debug_entry* const> functions) const {
  for (const debug_entry* const f : functions) {
    const debug_entry& function = origin_of(*f);
    const debug_entry& owner = info_.parent_of(function);
    const std::string_view name = without_arguments(function.name);
    const std::string_view class_name = without_arguments(owner.name);
    const bool is_allocator =
        class_name == "new_allocator" || class_name == "__new_allocator" || class_name == "allocator";
    if (name == "allocate" && is_allocator) return type_argument(owner, {});
    if (!name.starts_with("make_unique")) continue;
    const debug_entry* const type = bare(type_argument(function, {}));
    return type != nullptr && type->tag == entry_tag::array_type ? type_of(*type) : type;
  }
  return nullptr;
}

/// Where the block of std::make_shared<T>() has its T, behind the counters. libstdc++ keeps it in a buffer of bytes.
std::optional<member_names::layout> member_names::shared_object_in(const debug_entry* block) const {
  block = bare(block);
  if (block == nullptr || !is_in_std(*block) || !block->name.starts_with("_Sp_counted_ptr_inplace<"))
    return std::nullopt;
  std::uint64_t begin = 0;
  const debug_entry* at = block;
  for (const std::string_view name : {"_M_impl", "_M_storage"}) {
    const debug_entry* found = nullptr;
    if (at == nullptr) return std::nullopt;
    info_.for_each_in(*at, [&](const debug_entry& e) {
      if (e.tag == entry_tag::member && e.name == name) found = &e;
    });
    if (found == nullptr || found->offset == unknown) return std::nullopt;
    begin += found->offset;
    at = bare(type_of(*found));
  }
  const debug_entry* const object = bare(type_argument(*block, {}));
  if (object == nullptr || size_of(object) == unknown) return std::nullopt;
  return layout{object, begin, false};
}

std::vector<const debug_entry*> member_names::types_named(std::string_view name) const {
  std::vector<const debug_entry*> found;
  const auto [first, last] = types_.equal_range(name);
  for (auto i = first; i != last; ++i) {
    const debug_entry* const type = bare(i->second);
    if (type != nullptr && std::find(found.begin(), found.end(), type) == found.end()) found.push_back(type);
  }
  return found;
}

/// Whether it may have one that does something.
bool member_names::has_destructor(const debug_entry& type) const {
  bool found = false;
  info_.for_each_in(
      type, [&](const debug_entry& e) { found = found || (e.tag == entry_tag::function && e.name.starts_with('~')); });
  return found;
}

bool member_names::ends_with_array(const debug_entry& type) const {
  const debug_entry* last = nullptr;
  info_.for_each_in(type, [&](const debug_entry& e) {
    if (e.tag == entry_tag::member) last = &e;
  });
  if (last == nullptr) return false;
  const debug_entry* const of = bare(type_of(*last));
  return of != nullptr && of->tag == entry_tag::array_type && (size_of(of) == unknown || size_of(of) == 0);
}

/// How objects of that type lie in the block; nothing if they do not fill it.
std::optional<member_names::layout> member_names::layout_of(const debug_entry* type, const allocation& block,
                                                            bool may_count) const {
  type = bare(type);
  const std::uint64_t size = size_of(type);
  if (type == nullptr || size == unknown || size == 0 || size > block.size) return std::nullopt;
  if (is_class(*type) && ends_with_array(*type)) return layout{type, 0, false};
  // `new T[n]` keeps n before the elements, if each of them is to be destroyed.
  constexpr std::uint64_t count_bytes = 8;
  const std::uint64_t elements = block.size - count_bytes;
  if (may_count && is_class(*type) && has_destructor(*type) && elements % size == 0 &&
      block.first_word == elements / size) {
    return layout{type, count_bytes, true};
  }
  if (block.size % size != 0) return std::nullopt;
  return layout{type, 0, may_count || block.size != size};
}

/// If all of the types that fill the block say the same.
std::optional<shown_part> member_names::shown_in(const std::vector<const debug_entry*>& types, const allocation& block,
                                                 part_of_object part, bool may_count) const {
  std::optional<shown_part> found;
  for (const debug_entry* const type : types) {
    const std::optional<layout> objects = layout_of(type, block, may_count);
    if (!objects || part.offset < objects->begin) continue;
    part_of_object in_object{part.offset - objects->begin, part.size};
    std::string text;
    if (objects->is_array) {
      const std::uint64_t size = size_of(type);
      if (in_object.offset % size + in_object.size > size) return std::nullopt;
      text = fmt::format("[{}]", in_object.offset / size);
      in_object.offset %= size;
    }
    shown_part shown = shown_in(objects->type, in_object);
    shown.name.insert(0, text);
    if (found && found->name != shown.name) return std::nullopt;
    shown.is_signed = shown.is_signed && (!found || found->is_signed);
    found = std::move(shown);
  }
  return found;
}

std::optional<shown_part> member_names::in_block(const allocation& block, part_of_object part) const {
  std::vector<const debug_entry*> functions;
  for (const std::uint64_t code : block.calls) {
    const std::vector<const debug_entry*> here = info_.functions_at(code);
    functions.insert(functions.end(), here.begin(), here.end());
  }
  if (const debug_entry* const type = allocated_by_library(functions)) {
    const std::optional<layout> shared = shared_object_in(type);
    if (!shared || !covers(shared->begin, size_of(shared->type), part)) return shown_in({type}, block, part, false);
    return shown_in(shared->type, {part.offset - shared->begin, part.size});
  }
  const std::optional<named_type> named = allocated_in(block.source);
  if (!named) return std::nullopt;
  for (const debug_entry* const f : functions) {
    const debug_entry& function = origin_of(*f);
    for (const debug_entry* const of : {&function, &info_.parent_of(function)}) {
      if (const debug_entry* const type = type_argument(*of, named->name))
        return shown_in({type}, block, part, named->may_have_count);
    }
  }
  return shown_in(types_named(named->name), block, part, named->may_have_count);
}

}  // namespace runq::model::compiled
