// SPDX-License-Identifier: MIT
// Every atomic operation of the shipped sources has its own name, in a comment above its statement:
//
//   // [ring.push.publish] release: pairs with [ring.steal.tail]; weaker: a thief takes a slot not yet written.
//
// Partners name each other. An operation with the partners and the reasons of another one says only `release: as
// [ring.pop.claim]`; a reason that stands in many comments is written so, too. Every name in a comment is one of an
// operation. The order in the comment is the one in the code. An operation outside the headers that have models is
// `unmodelled`:
// `// [net.close] acq_rel, unmodelled: …`; models/unmodelled.txt says how many of these a file has.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace runq::model {

/// How a header is included, wherever it lies: "runq/protocol/park.hpp".
[[nodiscard]] inline std::string as_included(const std::string& path) { return path.substr(path.rfind("/runq/") + 1); }

struct source_file {
  std::string path;
  std::string shown;      ///< as messages and unmodelled.txt call it: "scheduler/src/net/poller.cpp"
  bool modelled = false;  ///< a header with cases
};

struct names_found {
  unsigned operations = 0;
  unsigned unmodelled = 0;
  std::vector<std::string> faults;  ///< "poller.cpp:142: …": what is wrong, and what to do
};

/// `listed`: how many operations of a file are unmodelled, as models/unmodelled.txt says.
[[nodiscard]] names_found check_names(const std::vector<source_file>& files,
                                      const std::map<std::string, unsigned>& listed);

/// How many unmodelled operations a file has: lines of "<file> <number>".
[[nodiscard]] std::map<std::string, unsigned> read_unmodelled(const std::string& path);

}  // namespace runq::model
