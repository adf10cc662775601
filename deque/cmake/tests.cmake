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

# runq_test_program(name SOURCE source PRECOMPILED target LIBRARIES libraries…): one program, one ctest per TEST. A name
# that ends in _stress_test says that it runs threads for a while.
function(runq_test_program name)
  cmake_parse_arguments(arg "" "SOURCE;PRECOMPILED" "LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCE})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} runq_warnings GTest::gmock GTest::gtest_main)
  if(arg_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM ${arg_PRECOMPILED})
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
