// SPDX-License-Identifier: MIT
// The options of ./kit check, which is runq-check: their only table. The parsers of the library (options.cpp) and of
// the command (runq-check.in), the help of both commands and docs/options.md (docs/check/options.py --write) are made
// from it. A line for each: its name, the value that it takes, what people are told that it needs, what reads the value
// in options.cpp, and what it does. There are no quotation marks but these, and a row is one line.
//
// OPTION: of the command, and of checks in tests. COMMAND_OPTION: not of checks in tests. TOOL_OPTION: the command
// reads it itself. INTERNAL_OPTION: the command adds it, and people do not see it.
// clang-format off
TOOL_OPTION("--compiler", "NAME", "a name", , "compile with this compiler (default: $CXX, or g++); clang++ loses that a compare-exchange is weak")
OPTION("--execution", "N", "a number", number(search.show_execution), "show execution N, passed or failed")
OPTION("--weaken", "FILE:LINE:ORDER", "FILE:LINE:ORDER", weakening(), "show what goes wrong with a weaker memory order there; FILE:LINE/KIND:ORDER for one of load, store, rmw, fence, or failure (the second order of a compare-exchange)")
COMMAND_OPTION("--ledger", "", "", flag(to_.ledger), "weaken every memory order of the program, one at a time: which are needed, and which are redundant here")
COMMAND_OPTION("--ledger-of", "NAME", "the name of a file", ledger_of(), "only the orders in files whose paths end with NAME, which may be a header of the system, as in --ledger-of boost/queue.hpp")
TOOL_OPTION("--coverage", "", "", , "which atomic operations and which lines some execution has executed, and which none has")
TOOL_OPTION("--coverage-of", "NAME", "the name of a file", , "only those in files whose paths end with NAME, or in a folder NAME/; also headers of the system")
COMMAND_OPTION("--all-failures", "N", "a number", all_failures(), "go on after a failure: show up to N different ones, each in its smallest execution")
COMMAND_OPTION("--accept", "race:FILE:LINE", "race:FILE:LINE", accept(), "a race with an access in that line is no failure: both of its accesses count as relaxed atomic ones, and the verdict names them")
COMMAND_OPTION("--accept-from", "FILE", "the name of a file", accept_from(), "the races in FILE, one a line as for --accept, each with a reason behind a space, which the verdict tells")
COMMAND_OPTION("--ignore-races", "", "", flag(to_.accepted.all), "every race is accepted: for programs that are about the order of operations only")
COMMAND_OPTION("--plain-as-relaxed", "FILE:LINE", "FILE:LINE", plain_as_relaxed(), "plain accesses in that line count as relaxed atomic ones; may be given several times")
COMMAND_OPTION("--volatile-as-relaxed", "", "", flag(to_.volatile_is_relaxed), "accesses to what is volatile count as relaxed atomic ones, as in old C programs and in kernels")
COMMAND_OPTION("--json", "FILE", "the name of a file", text(to_.json_file), "write the result to FILE")
COMMAND_OPTION("--html", "DIR", "the name of a folder", text(to_.html_dir), "write it as pages into DIR; a failing execution is drawn")
COMMAND_OPTION("--jobs", "N", "a number", jobs(), "by N processes: one search that they share (default: 1), or the checks of a ledger (default: as many as there are processors). `mpirun -n N runq-check ...` shares one search among N processes, on as many machines as you like")
OPTION("--bound", "N", "a number", number(search.bound, exact_options::no_bound - 1), "only executions that deviate from the first one at most N times")
OPTION("--sample", "N", "a number", walks(), "no search, but N random walks through it")
OPTION("--seed", "S", "a number", number(search.seed), "of the random walks (default: 1); the same number, the same walks")
OPTION("--path", "PATH", "the path that a failure shows, as 0.3.1", path(), "show the execution at the end of that path, which a failure has told")
OPTION("--judge-timed-waits", "", "", flag(limits.judges_timed_waits), "a deadlock may consist of waits for condition variables and futexes that do not time out")
OPTION("--every-iteration", "", "", flag(to_.every_iteration), "explore loops that wait one iteration after the other, rather than as waiting")
OPTION("--waits-in-place", "", "", flag(search.waits_in_place), "a thread that waits tries again in the same execution when something new is written, rather than block it: fewer executions are begun, the same are complete")
OPTION("--load-buffering", "", "", flag(search.load_buffering), "explore also executions in which one relaxed read takes its value from a write that comes after it")
TOOL_OPTION("--threads", "N", "a number", , "the program has more than 14 threads, with that of main(), and at most N (up to 30); the search is slower")
OPTION("--no-leaks", "", "", flag(to_.leaks, false), "memory that is never freed is no failure")
OPTION("--max-executions", "N", "a number", number(search.max_executions), "give up after so many (default: 1,000,000,000)")
OPTION("--max-events", "N", "a number", number(search.max_events_per_thread), "give up when a thread does more operations than this (default: 2,000)")
OPTION("--time-limit", "SECONDS", "a number", number(search.time_limit_seconds), "give up after this time")
OPTION("--spurious", "N", "a number", spurious(), "so many weak compare-exchanges of an execution, and try_lock() of a thread, may fail for no reason (default: 0)")
OPTION("--spurious-wakeups", "N", "a number", wakeups(), "so many waits of a thread for condition variables may end for no reason, at any time (default: one may, at once when it begins)")
OPTION("--reuse", "N", "a number", number(limits.reused), "so many allocations of a thread may get memory that was freed before, by this thread, or by another one so that this one knows of it, at the same address, while other threads run (default: 0)")
OPTION("--timeouts", "N", "a number", number(limits.timeouts), "so many timed waits of a thread may end, and deadlines pass (default: 2)")
OPTION("--rounds", "N", "a number", number(limits.rounds), "so many rounds of a loop that waits, and counts them, are explored (default: 4), and its last")
OPTION("--nondet", "LO..HI", "a range, as 0..3", values(), "__VERIFIER_nondet_int() and its like return each value of this range (default: 0..3)")
OPTION("--check-duplicates", "", "", flag(search.check_duplicates), "a test of the checker: remember all executions, and say how many were met twice")
TOOL_OPTION("--compile-commands", "FILE", "the name of a file", , "compile each source with its flags in this compilation database, compile_commands.json; a source that is no file here is the one of the database whose path ends so; others get the flags of the first source that is there")
COMMAND_OPTION("--editor", "", "", flag(to_.for_editors), "print each failure also as FILE:LINE:COLUMN: error: TEXT, for editors")
TOOL_OPTION("--compile-only", "PROGRAM", "the name of a file", , "write the program there, and check nothing; it checks itself when it is run")
TOOL_OPTION("--help", "", "", , "this text")
INTERNAL_OPTION("--executed", "FILE", "the name of a file", text(to_.executed_file), "list the executed operations in FILE")
INTERNAL_OPTION("--without-assertions", "", "", flag(to_.without_assertions), "the program has assertions, and is compiled without them")
INTERNAL_OPTION("--title", "NAME", "a name", text(to_.title), "what the page calls the program")
INTERNAL_OPTION("--replay", "COMMAND", "a command", text(to_.replay), "the command that repeats this check")
// clang-format on
