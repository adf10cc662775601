// SPDX-License-Identifier: MIT
// The options of ./kit verify: their only table. The parser (main.cpp), the help of ./kit and evidence/options.md
// (tools/docs/options.py --write) are made from it. A line for each: its name, the value that it takes, the function of
// ./kit that takes the other words, what reads the value in main.cpp, and what it does. Of a value like quick|full one
// of the words is taken. There are no quotation marks but these, and a row is one line.
//
// OPTION: of the runner. KIT_OPTION: ./kit does something else instead. TOOL_OPTION: every command has it.
// INTERNAL_OPTION: people do not see it.
// clang-format off
OPTION("--list", "", "", flag(o.list), "name the cases and what each shows, and stop")
OPTION("--case", "GLOB", "", value(o.case_glob), "only these cases, as in --case 'ring/*'")
OPTION("--mutant", "GLOB", "", value(o.mutant_glob), "only these deliberate bugs, with their counterexamples")
OPTION("--engine", "exact|relacy|genmc", "", value(o.engine), "only this engine")
OPTION("--budget", "quick|full", "", value(o.budget), "how hard to search: five minutes on two processors, or as long as it takes (default: quick)")
OPTION("--execution", "N", "", value(o.execution), "show one execution of the one case that --case names")
OPTION("--search", "exhaustive|random|bounded|full", "", search(), "with --execution: of which search (default: exhaustive)")
OPTION("--bound", "N", "", value(o.bound), "with --search bounded: how many pre-emptions (default: 2)")
OPTION("--weaken", "SITE:ORDER", "", value(o.weaken), "show what goes wrong in one case with a weaker memory order at one place, as in ring.push.publish:relaxed")
OPTION("--waits-in-place", "on|off", "", value(o.waits_in_place), "off: a thread that waits blocks its execution, and another one shows how it goes on; no fewer executions may block than are pinned, and as many must be complete; on (default): it tries again in the same execution when something new is written")
OPTION("--json", "FILE", "", value(o.json_file), "write all results to FILE")
OPTION("--html", "DIR", "", value(o.html_dir), "write an index, and the counterexamples as pages, into DIR")
OPTION("--jobs", "N", "", value(o.jobs)->check(CLI::Range(1, 1024)), "processes at the same time: searches, or parts of one search (default: processors)")
OPTION("--shard", "I/N", "", value(o.shard), "make only the I-th of N shares of the searches; needs --json FILE")
OPTION("--merge", "FILES", "", value(o.merge)->expected(-1), "judge the JSON files of all shares, as if one machine had made all searches")
OPTION("--pin", "", "", flag(o.pin), "pin what is seen (in models/cases/pinned.txt and the tables of mutants), once you know why it changed: how many executions each case has, and which cases notice each mutant, and how. First it says what else has to change with a changed header")
OPTION("--update-ledger", "", "", flag(o.update_ledger), "pin the order ledger (models/cases/ledger.json), and write evidence/memory-orders.md again")
KIT_OPTION("--consequences", "", "consequences", , "instead: only say what else has to change with a changed header: mutants that no longer apply, rows of the ledger, lines of the proof, names of operations, texts that quote it")
KIT_OPTION("--field", "[GLOB...]", "field", , "instead: check the structures of other libraries that evidence/field.md tells of, as they are installed, and compare with that page; --field --help for the options")
KIT_OPTION("--peers", "DIR [GLOB...]", "cdschecker", , "instead: check the programs that CDSChecker was published with, from a checkout of them")
KIT_OPTION("--genmc", "DIR [GLOB...]", "genmc", , "instead: check the tests that GenMC is published with, from a checkout of it, and compare how many executions are explored")
KIT_OPTION("--known", "DIR [NAME...]", "known", , "instead: check known bugs of other projects, each before and after its fix, from checkouts of them in DIR; --table has reports of your own: docs/known-bugs.md says what it has")
KIT_OPTION("--engine-table", "[GLOB...]", "engine_table", , "instead: how many executions of small programs, most of which wait, a check explores, in which time, beside what GenMC explores of them")
KIT_OPTION("--validate", "FILES", "validate", , "instead: judge each execution in these files, which --json of this command or of `check` has written, from the axioms of C++20 alone: does it exist, and does it fail as it says?")
KIT_OPTION("--oracle", "", "oracle", , "instead: check the checker: compare the exact engine with an enumerator that shares no code with it on all small programs of some families, and the front end on a part of them; --family NAME, --every N: only the engine, on one family, on one program in N")
KIT_OPTION("--checker-mutants", "", "checker_mutants", , "instead: seed bugs into the checker itself, one at a time; a test must notice each. --only GLOB: only these; --all: say of each how its test fails; --find: name all tests that fail")
TOOL_OPTION("--help", "", "", , "all options, with what they mean")
INTERNAL_OPTION("--executions", "N", "", ignored(), "ignored: part of a replay line")
INTERNAL_OPTION("--names", "", "", flag(o.names), "only print what is wrong with the names of atomic operations; ./kit verify --consequences asks for this")
INTERNAL_OPTION("--build", "", "", flag(o.build), "build what the other options need; ./kit verify asks for this")
// clang-format on
