// SPDX-License-Identifier: MIT
// What the searches tell the ledgers: which memory orders each case uses.
#pragma once

#include <span>
#include <string>

#include "jobs.hpp"

namespace runq::model {

/// Asks the complete searches among `jobs` to note the orders that they come across.
void note_orders(std::span<job> jobs);

/// Takes the notes out of the results of `searches`, writes them into a file of its own, and tells the `ledgers` of it.
/// A ledger that runs while the file exists searches only the cases without notes. The destructor removes the file.
class noted_orders_file {
 public:
  noted_orders_file(std::span<job> searches, std::span<job> ledgers);
  ~noted_orders_file();
  noted_orders_file(const noted_orders_file&) = delete;
  noted_orders_file& operator=(const noted_orders_file&) = delete;

 private:
  std::string path_;  ///< empty: there is no ledger, and so no file
};

}  // namespace runq::model
