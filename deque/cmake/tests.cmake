# SPDX-License-Identifier: MIT
# What all test programs have in common. Included once, where there is GTest.
include(GoogleTest)

# runq_precompile(name LIBRARIES libraries… HEADERS headers…): headers that many sources include, compiled once in a
# build. They took most of the time of each preset's build. `./kit test --tidy` does not use them, so that it notices a
# source that forgets an include.
function(runq_precompile name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;HEADERS" ${ARGN})
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${name} OBJECT "${source}")
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

# runq_test_program(name SOURCES sources… PRECOMPILED target LIBRARIES libraries…): one program; one ctest per TEST, or per
# suite, where a process is dear (RUNQ_TESTS_TOGETHER). A name that ends in _stress_test says that it runs threads for a
# while.
function(runq_test_program name)
  cmake_parse_arguments(arg "" "PRECOMPILED" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} runq_warnings GTest::gmock GTest::gtest_main)
  if(arg_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM ${arg_PRECOMPILED})
  endif()
  if(RUNQ_EXPLORE_TESTS)
    runq_explore_tests(${name})
    return()
  endif()
  if(RUNQ_TESTS_TOGETHER AND RUNQ_TEST_BUDGET STREQUAL "quick" AND NOT name MATCHES "_stress_test$")
    runq_discover_suites(${name})
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
  if(name MATCHES "_stress_test$")
    # gtest_discover_tests() drops all labels but one, so the second is set when ctest starts.
    set(relabel "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
    file(CONFIGURE OUTPUT "${relabel}" @ONLY
         CONTENT "if(@name@_TESTS)\n  set_tests_properties(\${@name@_TESTS} PROPERTIES LABELS \"unit;stress\")\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${relabel}")
  endif()
endfunction()

# runq_discover_suites(name): one ctest per test suite of the program, by the suite's name
function(runq_discover_suites name)
  set(tests "${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake")
  add_custom_command(
    TARGET ${name} POST_BUILD
    COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${name}>" "-DTESTS=${tests}" -P
            "${PROJECT_SOURCE_DIR}/deque/cmake/discover_suites.cmake"
    BYPRODUCTS "${tests}"
    VERBATIM)
  # Until the program is built, ctest says that it is missing.
  set(include "${CMAKE_CURRENT_BINARY_DIR}/${name}_include_suites.cmake")
  file(CONFIGURE OUTPUT "${include}" @ONLY
       CONTENT "if(EXISTS \"@tests@\")\n  include(\"@tests@\")\nelse()\n  add_test(@name@_NOT_BUILT @name@_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
endfunction()

# runq_test_group(name SOURCES sources… …): the same of several sources, which are compiled as one. Each source alone loads the
# precompiled headers, and instantiates and compiles again what the others have, too; together they take three fifths of the
# time. What is named like a source is built by that name, and started by it: `scheduler/channel_test --gtest_filter=…`.
# APART: the sources have equal names, so each gets a namespace of its own; then all that they include must be precompiled.
function(runq_test_group name)
  cmake_parse_arguments(arg "APART" "PRECOMPILED" "SOURCES;LIBRARIES" ${ARGN})
  runq_test_program(${name} SOURCES ${arg_SOURCES} PRECOMPILED ${arg_PRECOMPILED} LIBRARIES ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  if(arg_APART)
    set_target_properties(${name} PROPERTIES UNITY_BUILD_UNIQUE_ID RUNQ_TEST_SOURCE
                                             UNITY_BUILD_CODE_BEFORE_INCLUDE "namespace RUNQ_TEST_SOURCE {"
                                             UNITY_BUILD_CODE_AFTER_INCLUDE "}")
  endif()
  # g++ takes the sources for headers here, in which an unnamed namespace would be a mistake.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(GET source STEM stem)
    add_custom_target(${stem} DEPENDS ${name})
    file(CREATE_LINK ${name} "${CMAKE_CURRENT_BINARY_DIR}/${stem}" SYMBOLIC)
  endforeach()
endfunction()
