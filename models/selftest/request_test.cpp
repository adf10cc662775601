// SPDX-License-Identifier: MIT
// What the runner asks of a worker arrives as it was asked.
#include "request.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace runq::model {
namespace {

[[nodiscard]] request sent(const request& r) { return to_request(to_text(r)); }

TEST(requests, of_searches_arrive_whole) {
  const weakened_order weakened{.site = "ring.push.publish", .to = std::memory_order::acquire, .arg = 1};
  const search_request asked{.case_name = "ring/push_vs_steal",
                             .kind = search_kind::bounded,
                             .jobs = 3,
                             .bound = 4,
                             .executions = 5,
                             .first = 6,
                             .show = 7,
                             .show_all = true,
                             .note_orders = true,
                             .waits_in_place = false,
                             .weakened = weakened};
  const request r = sent({{"a.so", "b.so"}, asked});
  EXPECT_EQ(r.modules, (std::vector<std::string>{"a.so", "b.so"}));
  EXPECT_EQ(nlohmann::json(std::get<search_request>(r.what)), nlohmann::json(asked));
  EXPECT_EQ(std::get<search_request>(r.what).weakened.to, std::memory_order::acquire);
}

TEST(requests, of_each_kind_arrive_as_that_kind) {
  EXPECT_TRUE(std::holds_alternative<list_request>(sent({{}, list_request{}}).what));
  const auto mutant =
      std::get<mutant_request>(sent({{}, mutant_request{"ring/takes_all", {"ring/a", "ring/b"}, 9, false}}).what);
  EXPECT_EQ(mutant.name, "ring/takes_all");
  EXPECT_EQ(mutant.named, (std::set<std::string>{"ring/a", "ring/b"}));
  EXPECT_EQ(mutant.graphs_others, 9U);
  EXPECT_FALSE(mutant.waits_in_place);
  const auto ledger = std::get<ledger_request>(sent({{}, ledger_request{"ring.hpp", "rows", "uses", false}}).what);
  EXPECT_FALSE(ledger.waits_in_place);
  EXPECT_EQ(ledger.header + ledger.expected + ledger.uses, "ring.hpprowsuses");
  for (const auto kind : {search_kind::exhaustive, search_kind::random, search_kind::bounded, search_kind::full,
                          search_kind::mutant, search_kind::litmus, search_kind::progress}) {
    EXPECT_EQ(std::get<search_request>(sent({{}, search_request{.kind = kind}}).what).kind, kind);
  }
}

TEST(requests, leave_out_what_is_as_by_default) {
  const request r = to_request(R"({"modules": ["a.so"], "search": {"case_name": "ring/a"}})");
  EXPECT_EQ(nlohmann::json(std::get<search_request>(r.what)), nlohmann::json(search_request{.case_name = "ring/a"}));
}

TEST(requests, that_are_wrong_are_refused) {
  for (const char* text : {"", "run", "[]", R"({"search": {}})", R"({"modules": []})",
                           R"({"modules": [], "serch": {}})", R"({"modules": [], "list": {}, "search": {}})",
                           R"({"modules": [], "search": {"jops": 2}})", R"({"modules": [], "search": {"jobs": "two"}})",
                           R"({"modules": [], "search": {"weakened": {"order": "relaxed"}}})",
                           R"({"modules": [], "search": {"weakened": {"to": "weak"}}})"}) {
    EXPECT_THROW((void)to_request(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace runq::model
