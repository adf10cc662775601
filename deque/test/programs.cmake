# SPDX-License-Identifier: MIT
# The tests that run the queues.
find_package(GTest REQUIRED)
include(cmake/tests.cmake)
runq_precompile(
  runq_deque_test_headers
  LIBRARIES runq::deque runq_warnings GTest::gmock
  HEADERS <algorithm> <array> <atomic> <cstddef> <cstdint> <memory> <optional> <string> <thread> <vector> <gmock/gmock.h>
          <gtest/gtest.h>)

# test/<stem>_test.cpp
file(GLOB test_sources CONFIGURE_DEPENDS test/*_test.cpp)
foreach(source IN LISTS test_sources)
  cmake_path(GET source STEM name)
  runq_test_program(${name} SOURCES ${source} PRECOMPILED runq_deque_test_headers LIBRARIES runq::deque)
endforeach()

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

if(RUNQ_BUILD_C)
  include(test/c_interface.cmake)
endif()
