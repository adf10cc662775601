// SPDX-License-Identifier: MIT
#include "exact_search.hpp"

#include <utility>

namespace runq::model::exact {

search_parts::search_parts(std::unique_ptr<driver> executed, const exact_options& options)
    : options_(options),
      driver_(std::move(executed)),
      pending_(driver_->finds_variables()),
      met_(found_),
      judge_(run_, *driver_, met_, found_, options_),
      explorer_(run_, pending_, judge_, met_, found_, options_),
      executor_(run_, *driver_, explorer_, judge_, found_, options_),
      campaign_(run_, *driver_, pending_, executor_, judge_, met_, found_, options_) {
  run_.waits_in_place = options.waits_in_place && !options.load_buffering && options.bound == exact_options::no_bound &&
                        options.freeze_thread < 0;
  run_.takes_shortcuts = options.skips_retries && !options.load_buffering && options.bound == exact_options::no_bound &&
                         options.freeze_thread < 0;
  run_.orders_barriers =
      options.orders_barriers || options.load_buffering || options.all_failures || options.freeze_thread >= 0;
  run_.up_to_symmetry = options.up_to_symmetry && driver_->finds_variables() && !options.load_buffering &&
                        options.bound == exact_options::no_bound && !options.all_failures && options.freeze_thread < 0;
  run_.skips_undone_rounds = run_.judges_undone_rounds = run_.takes_shortcuts && options.skips_undone_rounds;
  run_.keeps_rounds = options.keeps_rounds && !options.load_buffering;
  run_.may_begin_again = options.show_execution != 0 && driver_->finds_variables() &&
                         (run_.waits_in_place || run_.takes_shortcuts || !run_.orders_barriers || run_.up_to_symmetry ||
                          options.keeps_rounds_if_late);
}

search::search(std::unique_ptr<driver> executed, const exact_options& options)
    : search_parts(std::move(executed), options),
      program_operations(search_parts::run_, search_parts::executor_, search_parts::judge_, search_parts::found_,
                         search_parts::options_) {}

search::search(const case_spec& spec, const exact_options& options)
    : search(std::make_unique<scenario_driver>(spec), options) {}

search::search(program& executed, const exact_options& options)
    : search(std::make_unique<program_driver>(executed), options) {}

search_result search::run() {
  engine* const before = set_current_engine(this);
  campaign_.run();
  set_current_engine(before);
  return std::move(search_parts::found_.result);
}

}  // namespace runq::model::exact
