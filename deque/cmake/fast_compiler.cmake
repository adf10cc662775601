# SPDX-License-Identifier: MIT
# clang++ compiles templates in half of the time of g++, and less. Where speed of compiling is all that matters, it stands in for
# g++. Included once, by the top-level list file.
find_program(RUNQ_FAST_COMPILER NAMES clang++ DOC "Compiles instead of g++ what needs no more of a compiler than the standard")
mark_as_advanced(RUNQ_FAST_COMPILER)
set(runq_fast_compiler "")
if(RUNQ_FAST_COMPILER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # It may be too old, or not find g++'s library.
  set(probe "${CMAKE_CURRENT_BINARY_DIR}/probe.cpp")
  file(CONFIGURE OUTPUT "${probe}"
       CONTENT "#include <atomic>\n#include <concepts>\n#include <span>\nvoid wait(std::atomic<int>& a) { a.wait(0); }\n")
  execute_process(COMMAND "${RUNQ_FAST_COMPILER}" -std=c++20 -fsyntax-only "${probe}" RESULT_VARIABLE refused OUTPUT_QUIET
                  ERROR_VARIABLE why)
  if(refused)
    message(STATUS "runqkit: g++ compiles all, because ${RUNQ_FAST_COMPILER} does not work: ${why}")
  else()
    set(runq_fast_compiler "${CMAKE_CURRENT_LIST_DIR}/compile_with_clang.sh" "${RUNQ_FAST_COMPILER}")
  endif()
endif()
# runq_compile_fast(targets…): by that compiler, if there is one
function(runq_compile_fast)
  if(runq_fast_compiler)
    set_target_properties(${ARGN} PROPERTIES CXX_COMPILER_LAUNCHER "${runq_fast_compiler}")
  endif()
endfunction()
# Without clang++, g++ compiles all: so a test has it read what clang++ compiled here. With the quick budget it leaves out the seeded
# bugs and the checker for more threads, which are the same sources with other macros. It reads the commands of Ninja.
function(runq_test_own_compiler_reads)
  if(NOT runq_fast_compiler OR NOT CMAKE_GENERATOR STREQUAL "Ninja")
    return()
  endif()
  add_test(NAME own_compiler_reads_all
           COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/deque/cmake/own_compiler_reads.py
                   "$<$<STREQUAL:${RUNQ_TEST_BUDGET},quick>:--without=variants_|mutant|_many_threads>" ${PROJECT_BINARY_DIR} ${CMAKE_MAKE_PROGRAM}
           COMMAND_EXPAND_LISTS)
  set_tests_properties(own_compiler_reads_all PROPERTIES LABELS selftest TIMEOUT 1500 PROCESSORS 2 COST 300)
endfunction()
