# SPDX-License-Identifier: MIT
# The tests and demos that run the scheduler.
find_package(GTest REQUIRED)
include(../deque/cmake/tests.cmake)
add_subdirectory(walkthrough)

set(common_headers
    <algorithm> <array> <atomic> <chrono> <cstdint> <cstdio> <functional> <memory> <optional> <string> <thread> <vector>
    <runq/runq.hpp>)
runq_precompile(runq_scheduler_test_headers LIBRARIES runq::scheduler runq_warnings GTest::gmock
                HEADERS ${common_headers} <gmock/gmock.h> <gtest/gtest.h>)
target_compile_options(runq_scheduler_test_headers PRIVATE ${RUNQ_UNIT_TEST_OPTIONS})
runq_precompile(runq_demo_headers LIBRARIES runq::scheduler runq_warnings HEADERS ${common_headers})

# test/<part>_test.cpp; global_queue_test.cpp is about the build without queues per processor, and other_queues_test.cpp about
# the one with the queues that are not the default.
# asio_test.cpp needs Asio 1.22 (libasio-dev), boost_asio_test.cpp Boost (libboost-dev); where that is missing ctest lists the
# test as disabled.
set(asio_test_include "${RUNQ_ASIO_122_INCLUDE}")
set(boost_asio_test_include "${RUNQ_BOOST_ASIO_INCLUDE}")
file(GLOB test_sources CONFIGURE_DEPENDS test/*_test.cpp)
runq_leaves_out(other_libraries without_other_libraries)
if(without_other_libraries)
  list(FILTER test_sources EXCLUDE REGEX "/(global_queue|other_queues)_test\\.cpp$")
endif()

# Sources that RUNQ_UNITY_TESTS compiles as one program, by subject. A source may not be among them if it brings its own
# function of the system or operator new, or has options of its own; sources with equal names in their unnamed namespaces
# are in different groups. Others, and new ones, are programs by themselves.
set(group_communication channel select shared_channel wait_group mutex sync signals)
set(group_time timer run_until monitor blocking blocking_calls outside machine_loop)
set(group_clock after_func rate_limiter slice) # both under the clock of clock_of_test.hpp
set(group_tasks cancel spawn subscription scheduler runs)
set(group_calls fork scope scope_children temporaries)
set(group_net buffered_reader net_edges net_errors poll_sleep descriptors)
set(group_reports dump_on_signal fatal trace wait_place misuse)
set(group_parts park memory depth container fences steal_order execution deadlock_question protocol_threads)
set(groups communication time clock tasks calls net reports parts)
# runq_keep_tests(GROUPS groups… SOURCES parts… SKIP_ELSEWHERE regex): no other tests than these. An error if a source that is left
# out has a test that the builds with all tests skip, by a line that matches the regex.
function(runq_keep_tests)
  cmake_parse_arguments(arg "" "SKIP_ELSEWHERE" "GROUPS;SOURCES" ${ARGN})
  set(stay ${arg_SOURCES})
  foreach(group IN LISTS arg_GROUPS)
    list(APPEND stay ${group_${group}})
  endforeach()
  list(JOIN stay "|" stay)
  set(leave ${test_sources})
  list(FILTER leave EXCLUDE REGEX "/(${stay})_test\\.cpp$")
  foreach(source IN LISTS leave)
    file(STRINGS "${source}" skips REGEX "GTEST_SKIP.*(${arg_SKIP_ELSEWHERE})")
    if(skips)
      message(FATAL_ERROR "${source} has a test that no other build of `./kit test --all-presets` runs: let it stay, in "
                          "scheduler/test/programs.cmake\n${skips}")
    endif()
  endforeach()
  list(REMOVE_ITEM test_sources ${leave})
  set(test_sources ${test_sources} PARENT_SCOPE)
  set(groups ${arg_GROUPS} PARENT_SCOPE)
endfunction()
# With the quick budget the preset clang has all unit tests but fault_injection_test, under ThreadSanitizer.
runq_leaves_out(scheduler without_unit_tests)
runq_leaves_out(beyond_memory only_memory)
if(without_unit_tests)
  # What stays has the options of the build (the optimiser's, in release), or tests that need a program without a sanitizer: with
  # functions of the system of their own, as much memory as the machine has, or every byte counted.
  runq_keep_tests(GROUPS clock SOURCES .*_stress ending forked_process frames global_queue other_queues clock faults
                          memory channel
                  SKIP_ELSEWHERE "the sanitizer")
elseif(only_memory)
  # What stays is about frames and what they hold, ends runs in every way, or lets the system fail; and what ThreadSanitizer
  # cannot run: a program that forks, and one whose threads are counted.
  runq_keep_tests(GROUPS tasks calls parts SOURCES .*_stress ending ending_order faults fault_injection forked_process frames
                          monitor signals dump_on_signal
                  SKIP_ELSEWHERE "ThreadSanitizer|threads of a sanitizer")
endif()
runq_leaves_out(fault_injection without_fault_injection)
if(without_fault_injection)
  list(FILTER test_sources EXCLUDE REGEX "/fault_injection_test\\.cpp$")
endif()
set(definitions "RUNQ_TEST_EMULATED=$<BOOL:${CMAKE_CROSSCOMPILING_EMULATOR}>"
                "RUNQ_TEST_QUICK=$<STREQUAL:${RUNQ_TEST_BUDGET},quick>" "$<$<BOOL:${RUNQ_EXPLORE_TESTS}>:RUNQ_TEST_EXPLORED>")
if(RUNQ_EXPLORE_MUTANTS)
  # The small tests whose tasks keep their threads, which power.py explores; once more with light fences: for ThreadSanitizer all are
  # heavy ones.
  set(small_tests ${PROJECT_SOURCE_DIR}/models/explore/power/scheduler_test.cpp)
  add_scheduler_library(runqkit_scheduler_as_it_ships)
  target_compile_options(runqkit_scheduler_as_it_ships PUBLIC -U__SANITIZE_THREAD__)
  compile_as_one(runqkit_scheduler_as_it_ships)
  set_target_properties(runqkit_scheduler_as_it_ships PROPERTIES EXCLUDE_FROM_ALL ON)
  runq_test_program(explored_scheduler_test SOURCES ${small_tests} LIBRARIES runq::scheduler)
  runq_test_program(explored_as_it_ships_test SOURCES ${small_tests} LIBRARIES runqkit_scheduler_as_it_ships)
endif()
if(RUNQ_UNITY_TESTS)
  foreach(group IN LISTS groups)
    list(TRANSFORM group_${group} REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/test/\\1_test.cpp" OUTPUT_VARIABLE sources)
    list(REMOVE_ITEM test_sources ${sources})
    runq_test_group(tests_of_${group} SOURCES ${sources} PRECOMPILED runq_scheduler_test_headers
                    LIBRARIES runq::scheduler_inside runq_walkthrough)
    target_compile_options(tests_of_${group} PRIVATE ${RUNQ_UNIT_TEST_OPTIONS})
    target_compile_definitions(tests_of_${group} PRIVATE ${definitions})
  endforeach()
endif()

# These keep the options of the build where the others have further ones. ending_test once showed a warning that g++ gives
# at -O2 only.
set(with_options_of_the_build "_stress_test$")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND RUNQ_TEST_BUDGET STREQUAL "full")
  string(APPEND with_options_of_the_build "|^ending_test$")
endif()
foreach(source IN LISTS test_sources)
  cmake_path(GET source STEM name)
  if(name MATCHES "asio_test$" AND NOT ${name}_include)
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E false)
    set_tests_properties(${name} PROPERTIES LABELS unit DISABLED ON)
    continue()
  endif()
  if(name MATCHES "^(global_queue|other_queues)_test$")
    runq_test_program(${name} SOURCES ${source} LIBRARIES runq::scheduler_${CMAKE_MATCH_1}_inside runq_walkthrough)
  elseif(name MATCHES "${with_options_of_the_build}" AND RUNQ_UNIT_TEST_OPTIONS)
    # Precompiled headers serve only programs with the same options.
    runq_test_program(${name} SOURCES ${source} LIBRARIES runq::scheduler_inside runq_walkthrough)
  else()
    runq_test_program(${name} SOURCES ${source} PRECOMPILED runq_scheduler_test_headers
                      LIBRARIES runq::scheduler_inside runq_walkthrough)
    target_compile_options(${name} PRIVATE ${RUNQ_UNIT_TEST_OPTIONS})
  endif()
  target_compile_definitions(${name} PRIVATE ${definitions})
endforeach()

# g++ warns that ThreadSanitizer does not model fences; Asio has some. They only accompany locks, which it does see.
set(no_warning_of_fences $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
foreach(name IN ITEMS asio_test boost_asio_test)
  if(TARGET ${name})
    target_include_directories(${name} SYSTEM PRIVATE "${${name}_include}")
    target_compile_options(${name} PRIVATE ${no_warning_of_fences})
  endif()
endforeach()
if(TARGET fault_injection_test AND asio_test_include)
  # It has tests of asio_go() where there is Asio.
  target_include_directories(fault_injection_test SYSTEM PRIVATE "${RUNQ_ASIO_122_INCLUDE}")
  target_compile_options(fault_injection_test PRIVATE ${no_warning_of_fences})
endif()

# g++ 12 sees uninitialised members in <regex> under AddressSanitizer (GCC bug 105562).
if(TARGET tests_of_reports)
  target_compile_options(tests_of_reports PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
elseif(TARGET trace_test)
  target_compile_options(trace_test PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# examples/<name>.cpp: the demos of `./kit demo`. Each prints what it claims and checks it. The files expected/<name>.*
# say what it must print: see check_demo.cmake.
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.cpp)
if(NOT TARGET runq_http_parser)
  list(FILTER example_sources EXCLUDE REGEX "/http\\.cpp$")
endif()
runq_leaves_out(demos without_demos)
if(without_demos)
  list(FILTER example_sources INCLUDE REGEX "/http\\.cpp$") # a server and its connections
endif()
foreach(source IN LISTS example_sources)
  cmake_path(GET source STEM name)
  add_executable(demo_${name} ${source})
  target_link_libraries(demo_${name} PRIVATE runq::scheduler runq_walkthrough runq_warnings)
  # So that the report of a deadlock does not depend on where the sources lie.
  target_compile_options(demo_${name} PRIVATE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
  target_precompile_headers(demo_${name} REUSE_FROM runq_demo_headers)
  if(name STREQUAL "http")
    target_link_libraries(demo_http PRIVATE runq_http_parser)
  endif()
  set_target_properties(demo_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                                                                   "${CMAKE_CURRENT_BINARY_DIR}/examples")
  add_test(NAME demo_${name} COMMAND ${CMAKE_COMMAND} "-DPROGRAM=$<TARGET_FILE:demo_${name}>"
                                     "-DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}"
                                     "-DEXPECTED=${CMAKE_CURRENT_SOURCE_DIR}/examples/expected/${name}" -P
                                     "${CMAKE_CURRENT_SOURCE_DIR}/examples/check_demo.cmake")
  set_tests_properties(demo_${name} PROPERTIES LABELS "unit;demo" TIMEOUT 120)
endforeach()

# The demo `http` under curl, wrk and clients that misbehave.
add_subdirectory(test/http)
