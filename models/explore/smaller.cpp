// SPDX-License-Identifier: MIT
#include "smaller.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "limits.hpp"

namespace runq::model::explore {

namespace {

using deviations = std::vector<deviation>;

[[nodiscard]] bool is_of_memory(const deviation& d) {
  return d.when.kind == deviation_kind::old_value || d.when.kind == deviation_kind::insertion;
}
[[nodiscard]] bool is_change(const deviation& d) { return d.when.kind == deviation_kind::change; }

class search {
 public:
  search(run_slot& slot, const run_request& request, const exploration_options& options, const program& p,
         const run_outcome& wanted)
      : slot_(slot), request_(request), options_(options), program_(p), wanted_(wanted) {}

  [[nodiscard]] bool fails(const deviations& in_order) {
    deviations sorted = in_order;
    std::sort(sorted.begin(), sorted.end(), [](const deviation& a, const deviation& b) { return a.when < b.when; });
    request_.follows = &sorted;
    ++runs_;
    const bool same = is_same_failure(run_once(slot_, request_, options_, program_), wanted_);
    steps_ += slot_.report->done.steps;
    return same;
  }
  [[nodiscard]] bool is_over() const { return runs_ >= runs_to_make_smaller || steps_ >= steps_to_make_smaller; }
  [[nodiscard]] std::uint64_t runs() const { return runs_; }

  /// Without all those of which the question is true, if that fails, too.
  template <class Question>
  void leave_out(deviations& all, Question&& question) {
    deviations rest;
    std::remove_copy_if(all.begin(), all.end(), std::back_inserter(rest), question);
    if (rest.size() != all.size() && !is_over() && fails(rest)) all = std::move(rest);
  }

  /// Leaves out parts, large ones first, until no single deviation can be left out.
  void leave_out_parts(deviations& all) {
    std::size_t size = (all.size() + 1) / 2;
    while (!all.empty() && size != 0) {
      bool any = false;
      // From the end, because what comes last has the least to do with what comes before.
      for (std::size_t end = all.size(); end != 0 && !is_over();) {
        const std::size_t begin = end - std::min(end, size);
        deviations rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
        rest.insert(rest.end(), all.begin() + static_cast<std::ptrdiff_t>(end), all.end());
        if (fails(rest)) {
          all = std::move(rest);
          any = true;
        }
        end = begin;
      }
      if (is_over()) return;
      if (size != 1) {
        size = (size + 1) / 2;
      } else if (!any) {
        return;
      }
    }
  }

 private:
  run_slot& slot_;
  run_request request_;
  const exploration_options& options_;
  const program& program_;
  const run_outcome& wanted_;
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
};

[[nodiscard]] std::string of(const deviations& few, const deviations& all, bool (*question)(const deviation&)) {
  return fmt::format("{} of {}", std::count_if(few.begin(), few.end(), question),
                     std::count_if(all.begin(), all.end(), question));
}

}  // namespace

bool is_same_failure(const run_outcome& a, const run_outcome& b) {
  if (a.how != run_end::failed || b.how != run_end::failed || a.what != b.what || a.status != b.status) return false;
  // Threads in a deadlock are named in the order in which they came to it.
  return a.what == failure::deadlock || a.place == b.place;
}

small_run make_smaller(run_slot& slot, run_request request, const exploration_options& options, const program& p,
                       const recording& found, const run_outcome& failure) {
  if (found.count > recording::most || failure.what == failure::livelock) return {};
  const deviations all(found.list, found.list + found.count);
  search s(slot, request, options, p, failure);
  if (!s.fails(all)) return {};
  deviations few = all;
  s.leave_out(few, is_of_memory);
  s.leave_out(few, [](const deviation& d) { return !is_of_memory(d) && !is_change(d); });
  s.leave_out(few, is_change);
  s.leave_out_parts(few);
  small_run small;
  small.words = fmt::format(
      "made smaller: {} changes of threads that no wait asks for, {} old values and stores before others, {} other "
      "accidents{}",
      of(few, all, is_change), of(few, all, is_of_memory),
      of(few, all, [](const deviation& d) { return !is_of_memory(d) && !is_change(d); }),
      s.is_over() ? "; there may be a smaller run" : "");
  small.needs_weak_memory = std::any_of(few.begin(), few.end(), is_of_memory);
  std::sort(few.begin(), few.end(), [](const deviation& a, const deviation& b) { return a.when < b.when; });
  small.needed = std::move(few);
  return small;
}

}  // namespace runq::model::explore
