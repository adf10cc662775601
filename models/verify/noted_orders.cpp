// SPDX-License-Identifier: MIT
#include "noted_orders.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <unistd.h>

namespace runq::model {

namespace {

using json = nlohmann::json;

[[nodiscard]] json take_notes(std::span<job> searches) {
  json notes = json::object();
  for (job& j : searches) {
    const auto noted = j.result.find("orders");
    if (noted == j.result.end()) continue;
    notes[j.case_name] = std::move(*noted);
    j.result.erase(noted);
  }
  return notes;
}

[[nodiscard]] std::string new_file() {
  std::string path = std::filesystem::temp_directory_path() / "runq_verify_XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) usage_error("cannot make a file like " + path + ": " + std::strerror(errno));
  close(file);
  return path;
}

}  // namespace

void note_orders(std::span<job> jobs) {
  for (job& j : jobs) {
    if (search_request* const search = search_of(j, search_kind::exhaustive)) search->note_orders = true;
  }
}

noted_orders_file::noted_orders_file(std::span<job> searches, std::span<job> ledgers) {
  const json notes = take_notes(searches);
  if (ledgers.empty()) return;
  path_ = new_file();
  std::ofstream out(path_);
  out << notes.dump();
  out.close();
  if (!out) usage_error("cannot write " + path_);
  for (job& j : ledgers) std::get<ledger_request>(j.asked->what).uses = path_;
}

noted_orders_file::~noted_orders_file() {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace runq::model
