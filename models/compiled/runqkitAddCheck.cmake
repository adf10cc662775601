# SPDX-License-Identifier: MIT
# runq_add_check(target source... [OPTIONS option...] [LIBRARIES library...])
#
# A program with a main() whose every execution is checked: an executable, and a test of the same name, which fails if an execution
# does, or if there is no verdict. OPTIONS are those of runq-check, but for what it reads itself (evidence/options.md).
function(runq_add_check target)
  cmake_parse_arguments(PARSE_ARGV 1 check "" "" "OPTIONS;LIBRARIES")
  add_executable(${target} ${check_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE runq::check ${check_LIBRARIES})
  list(JOIN check_OPTIONS " " options)
  add_test(NAME ${target} COMMAND ${target})
  # The libraries bind their symbols once: what they bind in an execution is undone before the next one.
  set_tests_properties(${target} PROPERTIES ENVIRONMENT "LD_BIND_NOW=1;RUNQ_CHECK=${options}")
endfunction()
