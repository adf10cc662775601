// SPDX-License-Identifier: MIT
// Which searches to make: decided by the options, the manifest that the build wrote, and the workers' lists of cases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs.hpp"
#include "names.hpp"

namespace runq::model {

/// The command line of the runner.
struct options {
  std::string budget = "quick";
  std::string case_glob = "*";
  std::string engine;  ///< only this one: "exact", "relacy" or "genmc"
  std::string mutant_glob;
  search_kind search = search_kind::exhaustive;  ///< with `execution`
  bool search_given = false;
  std::string weaken;  ///< "SITE:ORDER"
  unsigned bound = 2;
  std::uint64_t execution = 0;
  std::string json_file;
  std::string html_dir;
  std::string shard;               ///< "I/N"; empty: the whole
  std::vector<std::string> merge;  ///< --json files of the shares to put together
  unsigned jobs = 1;
  bool pin = false;
  std::string waits_in_place = "on";
  bool update_ledger = false;
  bool list = false;
  bool names = false;  ///< only say what is wrong with the names of operations
  bool build = false;  ///< what the other options need

  [[nodiscard]] bool wants(const std::string& case_name) const;
  /// Whether a case of this stem can match the options.
  [[nodiscard]] bool wants_stem(const std::string& stem) const;
  /// Whether --case is a name, not a pattern.
  [[nodiscard]] bool names_one_case() const { return case_glob.find_first_of("*?[") == std::string::npos; }
  /// Whether --execution or --weaken is given.
  [[nodiscard]] bool shows_one() const { return execution != 0 || !weaken.empty(); }
  [[nodiscard]] bool waits_are_in_place() const { return waits_in_place == "on"; }
  [[nodiscard]] bool wants_engine(engine_name name) const { return engine.empty() || engine == to_text(name); }
  [[nodiscard]] bool wants_mutant(const std::string& name) const;
  /// Whether no case or engine is selected: only then are the ledger and the corpus judged as a whole.
  [[nodiscard]] bool whole() const { return case_glob == "*" && engine.empty() && mutant_glob.empty(); }
};

/// The cases of one stem.
struct stem_cases {
  std::string dir;     ///< the folder of their sources and of what is pinned of them
  std::string module;  ///< shared object with the cases over the shipped headers
  std::string header;  ///< the header that they check; empty: none
};

/// The path by which sources include the header of that stem.
[[nodiscard]] std::string header_of(const std::map<std::string, stem_cases>& stems, const std::string& stem);

struct source_mutant {
  std::string name;  ///< "ring/takes_all"
  std::vector<std::string>
      targets;              ///< what to build: modules with the cases that are searched, over the mutated header
  std::string modules_dir;  ///< where they are built
  std::string status;       ///< a file with "applied", or the reason why not
  std::string table;        ///< the .mutants file
  std::map<std::string, std::string>
      killers{};  ///< the cases that are pinned, and how: "ring/push_vs_steal", "data race"
};

/// What the build wrote: models/CMakeLists.txt.
struct manifest {
  std::string cmake;
  std::string build_dir;
  std::string worker;
  std::string models_dir;
  std::string evidence_dir;
  std::vector<std::string> headers_dirs;
  std::string root;                         ///< the project's root: messages name files relative to it
  std::vector<std::string> sources_dirs;    ///< the folders of the sources whose atomic operations have names
  std::map<std::string, stem_cases> cases;  ///< by stem
  std::string python;
  std::string genmc;  ///< not written by the build: the executable of this name on the PATH now; empty: absent
  std::vector<source_mutant> mutants;
};

[[nodiscard]] manifest read_manifest(const std::string& path);

/// The cases of all stems that the options may ask about, as the worker describes them.
[[nodiscard]] nlohmann::json cases_of(const options& o, const manifest& m);

/// The atomic operations of the sources, and what is wrong with their names.
[[nodiscard]] names_found names_of_operations(const manifest& m);

/// What must be built for cases_of(), and then for plan().
[[nodiscard]] std::vector<std::string> cases_targets(const options& o, const manifest& m);
[[nodiscard]] std::vector<std::string> mutant_targets(const options& o, const manifest& m, const nlohmann::json& cases);

/// All jobs that the options ask for: litmus, models, corpus, mutants, proof, ledger, in this order.
[[nodiscard]] std::vector<job> plan(const options& o, const manifest& m, const nlohmann::json& cases);

/// The one job of --execution or --weaken, which show one execution or one counterexample.
[[nodiscard]] job plan_one(const options& o, const manifest& m, const nlohmann::json& cases);

}  // namespace runq::model
