# SPDX-License-Identifier: MIT
# The tests that run the queues.
find_package(GTest REQUIRED)
include(cmake/tests.cmake)

# test/<stem>_test.cpp
file(GLOB test_sources CONFIGURE_DEPENDS test/*_test.cpp)
set(headers <algorithm> <array> <atomic> <cstddef> <cstdint> <memory> <optional> <string> <thread> <vector> <gmock/gmock.h>
    <gtest/gtest.h>)
if(RUNQ_UNITY_TESTS)
  # All that the tests include, because they become two sources, in which each is in a namespace.
  file(GLOB test_headers CONFIGURE_DEPENDS test/*.hpp)
  foreach(source IN LISTS test_sources test_headers)
    file(STRINGS "${source}" included REGEX "^#include <")
    list(TRANSFORM included REPLACE "^#include (<.*>).*" "\\1")
    list(APPEND headers ${included})
  endforeach()
  foreach(header IN LISTS runq_headers)
    cmake_path(GET header FILENAME name)
    list(APPEND headers <runq/${name}>)
  endforeach()
  list(APPEND headers ${test_headers})
  list(REMOVE_DUPLICATES headers)
endif()
runq_precompile(runq_deque_test_headers LIBRARIES runq::deque runq_warnings GTest::gmock HEADERS ${headers})

# Where exceptions are left out, these tests take the place of the preset noexcept.
runq_leaves_out(exceptions without_exceptions)
set(options "")
if(without_exceptions)
  list(APPEND options -fno-exceptions -fno-rtti)
endif()
runq_leaves_out(optimizer without_optimizer)
if(without_optimizer)
  list(APPEND options ${RUNQ_UNIT_TEST_OPTIONS})
endif()
target_compile_options(runq_deque_test_headers PRIVATE ${options})

set(programs "")
if(RUNQ_UNITY_TESTS)
  set(stress_sources ${test_sources})
  list(FILTER stress_sources INCLUDE REGEX "_stress_test\\.cpp$")
  list(FILTER test_sources EXCLUDE REGEX "_stress_test\\.cpp$")
  runq_test_group(tests_of_queues APART SOURCES ${test_sources} PRECOMPILED runq_deque_test_headers LIBRARIES runq::deque)
  runq_test_group(queues_stress_test APART SOURCES ${stress_sources} PRECOMPILED runq_deque_test_headers LIBRARIES runq::deque)
  set(programs tests_of_queues queues_stress_test)
else()
  foreach(source IN LISTS test_sources)
    cmake_path(GET source STEM name)
    runq_test_program(${name} SOURCES ${source} PRECOMPILED runq_deque_test_headers LIBRARIES runq::deque)
    list(APPEND programs ${name})
  endforeach()
endif()
foreach(program IN LISTS programs)
  target_compile_options(${program} PRIVATE ${options})
endforeach()

if(RUNQ_BUILD_C)
  include(test/c_interface.cmake)
endif()

runq_leaves_out(examples without_examples)
if(without_examples)
  return()
endif()

# examples/<name>.cpp: each is a program that users read, and a test. The one with Asio's executor needs Asio
# (libasio-dev), which needs exceptions; where they are missing ctest lists the example as disabled.
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.cpp)
find_path(RUNQ_ASIO_INCLUDE asio/execution_context.hpp)
mark_as_advanced(RUNQ_ASIO_INCLUDE)
foreach(source IN LISTS example_sources)
  cmake_path(GET source STEM name)
  if(name STREQUAL "asio_executor" AND (NOT RUNQ_ASIO_INCLUDE OR CMAKE_CXX_FLAGS MATCHES "-fno-(exceptions|rtti)"))
    add_test(NAME example_${name} COMMAND "${CMAKE_COMMAND}" -E false)
    set_tests_properties(example_${name} PROPERTIES LABELS unit DISABLED ON)
    continue()
  endif()
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE runq::deque runq_warnings)
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                                                                       "${CMAKE_CURRENT_BINARY_DIR}/examples")
  add_test(NAME example_${name} COMMAND example_${name})
  # A program that loses a wake-up does not end.
  set_tests_properties(example_${name} PROPERTIES LABELS unit TIMEOUT 60)
endforeach()
if(TARGET example_asio_executor)
  target_include_directories(example_asio_executor SYSTEM PRIVATE "${RUNQ_ASIO_INCLUDE}")
  # g++ warns that ThreadSanitizer does not model fences; Asio has some. They only accompany locks, which it does see.
  target_compile_options(example_asio_executor PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()

include(hosts/hosts.cmake)
