# SPDX-License-Identifier: MIT
# The project's own tests under exploration (./kit test --preset explore).

set(RUNQ_EXPLORE_SECONDS 100 CACHE STRING "How long each program of tests is explored, in seconds; each test at least twice")
set(RUNQ_EXPLORE_SEED 1 CACHE STRING "The seed of the first run; another one explores others")
set(runq_explore_tests_script ${CMAKE_CURRENT_SOURCE_DIR}/own_tests.py CACHE INTERNAL "")
add_custom_target(runq_explored_programs)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/explored)

# runq_explore_tests(program [ARGUMENTS words…]): the tests of a program of GoogleTest one by one, or, with ARGUMENTS, the program
# with these.
function(runq_explore_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ARGUMENTS")
  add_dependencies(runq_explored_programs ${name})
  add_test(NAME explored.${name}
           COMMAND Python3::Interpreter -B ${runq_explore_tests_script} --tool ${runq_explore_command} --seconds ${RUNQ_EXPLORE_SECONDS}
                   --seed ${RUNQ_EXPLORE_SEED} --log ${CMAKE_BINARY_DIR}/explored/${name}.txt $<TARGET_FILE:${name}> ${arg_ARGUMENTS})
  set_tests_properties(explored.${name} PROPERTIES LABELS explored TIMEOUT 7200)
endfunction()
