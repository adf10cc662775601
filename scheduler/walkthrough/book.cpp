// SPDX-License-Identifier: MIT
#include "walkthrough/book.hpp"

#include <initializer_list>
#include <vector>

namespace runq::walkthrough {
namespace {

using enum act;

std::vector<step> by(std::size_t processor, std::initializer_list<act> acts) {
  std::vector<step> steps;
  for (const act what : acts) steps.push_back({processor, what});
  return steps;
}
std::vector<step> t1(std::initializer_list<act> acts) { return by(0, acts); }
std::vector<step> t2(std::initializer_list<act> acts) { return by(1, acts); }

}  // namespace

// Each line of a script is a row of the table. A comment has the row's number and what happens to which task.
// clang-format off
book_table task_stealing_on_two_threads() {
  return {{fib(4), stealing::tasks, 2, {
      t1({fork}),          //  2  f4
      t1({wait, pop}),     //  3  main waits for f4, and runs it
      t1({fork, fork}),    //  4  f3, f2
      t2({steal}),         //  5  f3
      t1({wait, pop}),     //  6  f4 waits; f2
      t2({fork, fork}),    //  7  f2, f1: the children of f3
      t1({finish}),        //  8  f2 of f4
      t2({wait, pop}),     //  9  f3 waits; f1
      t1({steal}),         // 10  f2 of f3
      t2({finish}),        // 11  f1
      t1({finish}),        // 12  f2 of f3
      t2({finish}),        // 13  f3
      t1({finish}),        // 14  f4
      t1({finish}),        // 15  main
  }}, {.before_result = "print "}};
}

book_table continuation_stealing_on_two_threads() {
  return {{fib(4), stealing::continuations, 2, {
      t1({fork}),                    //  2  f4 starts, the rest of main is pushed
      t2({steal}),                   //  3  the rest of main
      t1({fork}),                    //  4  f3 starts
      t2({wait, steal}),             //  5  main waits for f4; the rest of f4
      t1({fork}),                    //  6  f2 of f3 starts
      t2({fork}),                    //  7  f2 of f4 starts, and the rest of f4 is pushed again
      t1({finish}),                  //  8  f2 of f3
      t2({finish}),                  //  9  f2 of f4
      t1({pop, call}),               // 10  f1 starts, and the rest of f3 is not pushed again
      t2({pop, wait}),               // 11  f4 waits for f3
      t1({finish, resume, finish}),  // 12  f1, then f3
      t2({finish}),                  // 13  f4
      t2({finish}),                  // 14  main
  }}, {.before_result = "main prints "}};
}

book_table continuation_stealing_on_one_thread() {
  return {{fib(4), stealing::continuations, 1, {
      t1({fork}),            //  2  f4 starts
      t1({fork}),            //  3  f3 starts
      t1({fork}),            //  4  f2 of f3 starts
      t1({finish}),          //  5  f2 of f3
      t1({pop, call}),       //  6  f1 starts, and the rest of f3 is not pushed again
      t1({finish}),          //  7  f1
      t1({resume, finish}),  //  8  f3
      t1({pop, call}),       //  9  f2 of f4 starts, and the rest of f4 is not pushed again
      t1({finish}),          // 10  f2 of f4
      t1({resume, finish}),  // 11  f4
      t1({pop, finish}),     // 12  main
  }}, {.rest_of_main = "main", .before_result = "main(print ", .after_result = ")"}};
}
// clang-format on

}  // namespace runq::walkthrough
