// SPDX-License-Identifier: MIT
#include "program_memory.hpp"

#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "abi.hpp"
#include "sites.hpp"

namespace runq::model::compiled {

using exact::event_id;

void program_memory::begin_execution() {
  heap_.begin_execution();
  shadow_.begin_execution();
  object_call_ = {};
}

/// A loop that waits may leave the same value there in every round: only a different value is an effect. On the
/// thread's own stack it is none: a loop's state has the stack. But it is an access: other threads may know of a local
/// variable.
void program_memory::access_expected(const void* at, std::size_t size, expected_access how, const void* code) {
  if (how == expected_access::changed && !now_.on_own_stack(at)) now_.note_effect();
  access_plainly(at, size, how != expected_access::read, code);
}

void program_memory::access_slowly(const void* at, std::size_t size, bool is_write, const void* code) {
  const checker_scope scope;
  if (code_.executed().is_recording()) code_.executed().note(code);
  access(at, size, is_write, code);
}

void program_memory::access_beside(granule& g, const void* at, const plain_access& a) {
  const checker_scope scope;
  const bool is_nobody_elses_stack = now_.on_own_stack(at) || heap_.owns(at);
  if (is_nobody_elses_stack && g.is_of_one_thread(a.thread)) return g.notes(a);
  access_shared(g, at, a);
}

void program_memory::access_parts(const void* at, std::size_t size, bool is_write, const void* code) {
  const auto* part = static_cast<const std::byte*>(at);
  const std::byte* const end = part + size;
  while (part < end) {
    const unsigned first = offset_in_granule(part);
    const std::size_t count = std::min<std::size_t>(granule_bytes - first, static_cast<std::size_t>(end - part));
    if (!now_.is_alone() || look_quickly(part, count, at, size, is_write, code) == nullptr) {
      access_part(part, bytes_from(first, count), at, size, is_write, code);
    }
    part += count;
  }
}

/// On a probe the thread may have read what it never reads: other memory than its own may not be there.
void program_memory::look_before_probe_accesses(const void* at, bool is_write) {
  if (!now_.search->on_probe() || now_.on_own_stack(at)) return;
  if (is_write || !is_variable(at)) now_.search->end_probe(std::nullopt);
  if (!now_.search->may_read_on_probe()) now_.search->end_probe(exact::shortcuts::depends_on_memory);
}

/// Rounds in which threads wait write plainly to nothing but their own stacks: an atomic load elsewhere races with
/// none.
void program_memory::note_late_access(const void* part, byte_mask bytes, reads_in_waits::manner how, const void* code) {
  if (how.is_atomic && !how.is_write && !now_.on_stack_of_another(part)) return;
  const auto* const begin = static_cast<const std::byte*>(part) - offset_in_granule(part) + std::countr_zero(bytes);
  const std::size_t size = std::bit_width(bytes) - static_cast<unsigned>(std::countr_zero(bytes));
  if (!now_.is_new_late_access(begin, size, how)) return;
  const user_heap::block* const block = heap_.owns(part) ? heap_.find(part) : nullptr;
  now_.note_late_access(begin, size, how, block == nullptr ? nullptr : &block->allocated,
                        [&] { return code_.to_text(code_.step_here(code).at); });
}

/// There are other accesses to the granule, or atomic variables in it.
void program_memory::access_shared(granule& g, const void* part, const plain_access& a) {
  if (now_.search->takes_shortcuts() || now_.alike.any()) require_own_stack(g, part, a);
  g.for_each_access([&](const plain_access& old) { check_against(old, a, part, true); });
  if (g.has_atomics()) access_atomics(g, part, a);
  g.notes(a);
}

/// Rounds of loops are left out although they access the thread's own stack: then no other thread may.
void program_memory::require_own_stack(granule& g, const void* part, const plain_access& a) {
  const unsigned owner = now_.thread_with_stack_at(part);
  if (owner == 0 || owner == main_thread) return;
  bool is_shared = owner != a.thread;
  g.for_each_access([&](const plain_access& old) { is_shared = is_shared || old.thread != owner; });
  if (!is_shared) return;
  now_.alike.share_stack(now_, owner);
  if (!now_.search->takes_shortcuts()) return;
  now_.search->require_no_round_left_out();
}

/// So they are although they read atomic variables: then no other thread may write to these plainly, nor read them
/// where the rounds write. Those on the heap are read again.
void program_memory::require_no_variable(const granule& g, const void* part, byte_mask bytes, bool is_write) {
  if (now_.is_alone() || heap_.owns(part)) return;
  const std::vector<atomic_places::numbered>& known = g.atomics->known;
  const bool is_variable = std::any_of(known.begin(), known.end(), [=](const atomic_places::numbered& k) {
    return k.place.size > granule_bytes || (k.place.bytes() & bytes) != 0;
  });
  if (!is_variable) return;
  for (const atomic_places::numbered& k : known) {
    if (now_.search->judges_undone_rounds()) now_.search->note_other_use(k.place.variable);
  }
  if (!is_write || now_.on_own_stack(part)) return;
  now_.search->require_no_round_left_out();
}

void program_memory::access_atomics(granule& g, const void* at, const plain_access& a) {
  const std::byte* const begin = static_cast<const std::byte*>(at) - offset_in_granule(at);
  for (std::size_t i = g.places().size(); i-- != 0;) {
    atomic_place& place = g.places()[i];
    if ((place.bytes() & a.bytes) == 0) continue;
    now_.alike.access_atomic(now_, a);
    check_against_atomic(place, begin, a, place.bytes_of_variable(a.bytes));
    if (a.is_write) end_atomic(g, begin, atomic_place(place));
  }
}

void program_memory::end_atomic(granule& g, const std::byte* granule_begin, const atomic_place& place) {
  const auto end_in = [&](granule& part) {
    ++part.atomics->generations[place.first];
    std::erase_if(part.atomics->now, [&](const atomic_place& p) { return p.variable == place.variable; });
  };
  end_in(g);
  if (place.size > granule_bytes)
    end_in(at(place.is_upper ? granule_begin - granule_bytes : granule_begin + granule_bytes));
}

/// A plain access to memory in which an atomic variable lives. A read finds its newest value there.
void program_memory::check_against_atomic(atomic_place& place, const std::byte* granule_begin, const plain_access& a,
                                          std::uint32_t bytes) {
  if (place.is_upper) {
    const std::byte* const lower = granule_begin - granule_bytes;
    for (atomic_place& p : at(lower).places()) {
      if (p.variable == place.variable) return check_against_atomic(p, lower, a, bytes);
    }
  }
  const event_id other = now_.concurrent_event(place.variable, !a.is_write, a.position, bytes);
  if (other != exact::nobody) {
    now_.search->set_partner(other);
    now_.show(kind_of(a), a, granule_begin + place.first, place.size);
    if (object_call_.what == nullptr) {
      now_.race = {code_.frame_at(a.at), static_cast<const frame*>(now_.search->site_of(other).code)};
    }
    code_.fail(failure::data_race,
               fmt::format("{}this {} by T{} is not atomic, the access by T{} at {} is", while_in_use(),
                           word_for(a.is_write), a.thread - 1, other.thread - 1, code_.to_text(other)),
               a.at.code);
  }
  if (a.is_write) {
    if (bytes == bytes_of(place.size)) return;
    if (now_.concurrent_event(place.variable, false, a.position) != exact::nobody) {
      code_.refuse(write_beside_parts, a.at.code);
    }
  }
  const exact::graph& graph = now_.search->current_graph();
  const event_id init{static_cast<std::uint16_t>(exact::constructing), place.variable};
  // The newest write that this access knows of; in a replay, later ones may be in the graph already.
  event_id newest = graph.at(init).newest;
  const exact::clock known = now_.search->knows();
  while (newest != init && !known.covers(newest)) newest = graph.at(newest).older;
  std::byte* const begin = const_cast<std::byte*>(granule_begin) + place.first;
  place.in_memory = graph.at(newest).value;
  wide_.write(begin, place.size, place.in_memory);
}

void program_memory::report_race(const plain_access& old, const plain_access& a, const void* at, bool is_plain) {
  // An atomic operation is about its variable.
  const byte_mask both = is_plain ? a.bytes & old.bytes : a.bytes;
  if (is_plain) at = static_cast<const std::byte*>(at) - offset_in_granule(at) + std::countr_zero(both);
  const auto size = static_cast<std::size_t>(std::popcount(both));
  now_.show(kind_of(old), old, at, size);
  if (is_plain) now_.show(kind_of(a), a, at, size);
  if (object_call_.what == nullptr) now_.race = {code_.frame_at(a.at), code_.frame_at(old.at)};
  code_.fail(failure::data_race,
             fmt::format("{}this {} by T{}, and the {} by T{} at {}", while_in_use(), word_for(a.is_write),
                         a.thread - 1, word_for(old.is_write), old.thread - 1, code_.to_text(old.at)),
             a.at.code);
}

/// Another thread uses the object at the same time: what the failure is about.
std::string program_memory::while_in_use() {
  if (object_call_.what == nullptr) return {};
  if (object_call_.kind == nullptr) return fmt::format("a key is {} while in use: ", object_call_.what);
  return fmt::format("{} is {} while in use: ", name_of_object(*object_call_.kind, object_call_.at), object_call_.what);
}

/// A long name without as many of the outer namespaces as make it short.
[[nodiscard]] static std::string without_namespaces(std::string name) {
  constexpr std::size_t longest = 32;
  if (name.find_first_of("(<") != std::string::npos) return name;  // of a function's own variable
  for (std::size_t end = name.find("::"); name.size() > longest && end != std::string::npos; end = name.find("::")) {
    name.erase(0, end + 2);
  }
  return name;
}

shown_part program_memory::shown_at(const void* at, std::size_t size) {
  if (named_variable v = code_.names().variable_at(at, size); !v.name.empty()) {
    constexpr std::string_view unnamed = "(anonymous namespace)::";
    for (std::size_t found = v.name.find(unnamed); found != std::string::npos; found = v.name.find(unnamed)) {
      v.name.erase(found, unnamed.size());
    }
    return {without_namespaces(std::move(v.name)) + v.part, v.is_signed};
  }
  const auto* const byte = static_cast<const std::byte*>(at);
  if (heap_.owns(at)) return shown_on_heap(byte, size);
  if (const unsigned t = now_.thread_with_stack_at(at)) return shown_on_stack(byte, size, t);
  if (const unsigned t = identities_.thread_with_variable_at(at)) return {fmt::format("thread_local of T{}", t - 1)};
  return {};
}

shown_part program_memory::shown_on_heap(const std::byte* at, std::size_t size) {
  const user_heap::block* const b = heap_.find(at);
  if (b == nullptr) return {"heap"};
  const auto offset = static_cast<std::size_t>(at - b->begin);
  const frame* const allocated = code_.frame_at(b->allocated.at);
  const site where = allocated == nullptr ? site{} : code_.own_line(allocated);
  const std::string name = where.line == 0 ? "heap" : fmt::format("new@{}", where.line);
  if (offset == 0 && size == 0) return {name};
  if (allocated != nullptr) {
    source_index sources;
    const auto part =
        code_.names().part_of_block(allocated, sources.text_of(where), {b->begin, b->size}, {offset, size});
    if (part) return {name + part->name, part->is_signed};
  }
  return {offset == 0 ? name : fmt::format("{}+{}", name, offset)};
}

/// A call stores on the stack where it returns to: what is below that, down to where the next call does so, belongs to
/// the function that was called.
shown_part program_memory::shown_on_stack(const std::byte* at, std::size_t size, unsigned thread) {
  const shown_part unknown{fmt::format("local of T{}", thread - 1)};
  if (!calls_store_return_address) return unknown;
  std::vector<const frame*> calls;
  for (const frame* f = now_.threads[thread].at; f != nullptr && f->code != nullptr; f = f->caller) calls.push_back(f);
  const frame* owner = nullptr;
  const frame* callee = nullptr;
  const std::byte* begin = nullptr;
  const std::byte* place = now_.search->stack_of(thread).lowest() + exact::fiber_stack_bytes;
  for (; !calls.empty() && (place -= sizeof(void*)) > at;) {
    const void* word = nullptr;
    std::memcpy(&word, place, sizeof word);
    if (word != calls.back()->code) continue;
    owner = calls.back();
    begin = place + sizeof(void*);
    calls.pop_back();
    callee = calls.empty() ? nullptr : calls.back();
  }
  if (owner == nullptr) return unknown;
  const void* const code = callee != nullptr ? callee->code : code_within(owner, thread);
  if (code == nullptr) return unknown;
  return code_.names().local_at(code, begin, at, size).value_or(unknown);
}

/// Where in the function that was called there the thread has done something; nullptr: it is not known.
const void* program_memory::code_within(const frame* call, unsigned thread) {
  for (const shown_access& shown : now_.shown) {
    if (shown.by.thread == thread && shown.by.at.caller == call) return shown.by.at.code;
  }
  const auto number = static_cast<std::uint16_t>(thread);
  for (unsigned i = *now_.search->position_of(thread); i-- != 0;) {
    const void* const at = now_.search->site_of({number, static_cast<std::uint16_t>(i)}).code;
    for (const auto* f = static_cast<const frame*>(at); f != nullptr; f = f->caller) {
      if (f->caller == call) return f->code;
    }
  }
  return nullptr;
}

std::string program_memory::name_of_object(const object_kind& kind, const void* at) {
  const std::string name = name_of(at, kind.size);
  return name.empty() ? fmt::format("the {} at {}", kind.name, at) : fmt::format("the {} {}", kind.name, name);
}

void program_memory::access_in_call(const object_call& call, const void* at, std::size_t size, bool is_write,
                                    const void* code) {
  object_call_ = call;
  access(at, size, is_write, code);
  object_call_ = {};
}

}  // namespace runq::model::compiled
