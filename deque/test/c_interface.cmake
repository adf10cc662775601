# SPDX-License-Identifier: MIT
# The test of the C interface, written in C. Without a C compiler, ctest shows the test as not run.
include(CheckLanguage)
check_language(C)
if(NOT CMAKE_C_COMPILER)
  add_test(NAME c_interface_test COMMAND "${CMAKE_COMMAND}" -E false)
  set_tests_properties(c_interface_test PROPERTIES LABELS unit DISABLED ON)
  return()
endif()
enable_language(C)

add_executable(c_interface_test test/c_interface_test.c)
target_link_libraries(c_interface_test PRIVATE runq::c)
set_target_properties(c_interface_test PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(c_interface_test PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror)
endif()
# A sanitizer that is set for C++ must check the C code, too.
string(REGEX MATCHALL "-fsanitize=[^ ]+" sanitizers "${CMAKE_CXX_FLAGS}")
target_compile_options(c_interface_test PRIVATE ${sanitizers})
add_test(NAME c_interface_test COMMAND c_interface_test)
set_tests_properties(c_interface_test PROPERTIES LABELS unit)
