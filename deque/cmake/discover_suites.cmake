# SPDX-License-Identifier: MIT
# Writes a file for ctest with one test per test suite of a program of GoogleTest.
#
#   cmake -DPROGRAM=… -DTESTS=FILE -P discover_suites.cmake
execute_process(COMMAND "${PROGRAM}" --gtest_list_tests OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY TIMEOUT 60)
# A suite's line is its name and a dot; the lines of its tests are indented.
string(REGEX MATCHALL "\n[^ \n]+\\." suites "\n${list}")
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} names no test suite")
endif()
set(text "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n(.+)\\.$" "\\1" suite "${suite}")
  string(APPEND text "add_test([==[${suite}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*]==])\n"
         "set_tests_properties([==[${suite}]==] PROPERTIES LABELS unit)\n")
endforeach()
file(WRITE "${TESTS}" "${text}")
