# SPDX-License-Identifier: MIT
# Other people's runtimes with our queues inside (docs/hosts.md): `ctest -L hosts` tests them, `./kit hosts` also
# compares them with the hosts' own queues. ctest lists a host whose package is not installed as disabled.
find_path(RUNQ_EIGEN_INCLUDE unsupported/Eigen/CXX11/ThreadPool PATH_SUFFIXES eigen3)
mark_as_advanced(RUNQ_EIGEN_INCLUDE)
find_package(Boost QUIET COMPONENTS fiber context)
find_path(RUNQ_CAF_INCLUDE caf/scheduler/coordinator.hpp)
find_library(RUNQ_CAF_LIBRARY caf_core)
mark_as_advanced(RUNQ_CAF_INCLUDE RUNQ_CAF_LIBRARY)
add_custom_target(runq_hosts)

# runq_host_program(NAME SOURCE HOST …): one that `./kit hosts` needs.
function(runq_host_program name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES;INCLUDE")
  add_executable(${name} "${CMAKE_CURRENT_SOURCE_DIR}/hosts/${source}")
  target_link_libraries(${name} PRIVATE runq::deque runq_warnings ${arg_LIBRARIES})
  target_include_directories(${name} SYSTEM PRIVATE ${arg_INCLUDE})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/hosts")
  add_dependencies(runq_hosts ${name})
endfunction()

# runq_host(NAME IF CONDITION [LIBRARIES …] [INCLUDE …]): hosts/NAME_host_test.cpp is a test, and hosts/NAME_bench.cpp
# becomes NAME_own, with the host's own queue, and NAME_runq, with ours.
function(runq_host name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "IF" "LIBRARIES;INCLUDE")
  if(NOT arg_IF)
    add_test(NAME host_${name} COMMAND "${CMAKE_COMMAND}" -E false)
    set_tests_properties(host_${name} PROPERTIES LABELS hosts DISABLED ON)
    return()
  endif()
  runq_host_program(${name}_host_test ${name}_host_test.cpp LIBRARIES GTest::gtest_main ${arg_LIBRARIES} INCLUDE
                    ${arg_INCLUDE})
  add_test(NAME host_${name} COMMAND ${name}_host_test)
  # A host that loses a task hangs: the time limit makes that a failure.
  set_tests_properties(host_${name} PROPERTIES LABELS hosts TIMEOUT 120)
  foreach(whose IN ITEMS own runq)
    runq_host_program(${name}_${whose} ${name}_bench.cpp LIBRARIES ${arg_LIBRARIES} INCLUDE ${arg_INCLUDE})
    set_target_properties(${name}_${whose} PROPERTIES EXCLUDE_FROM_ALL ON)
  endforeach()
  target_compile_definitions(${name}_own PRIVATE RUNQ_HOST_OWN_QUEUE)
endfunction()

set(has_eigen ON)
if(NOT RUNQ_EIGEN_INCLUDE
   OR CMAKE_CROSSCOMPILING
   OR CMAKE_CXX_FLAGS MATCHES "-fno-(exceptions|rtti)")
  set(has_eigen OFF)
endif()
# The sanitizers do not know the stacks of Boost.Context as Debian builds it.
set(has_fiber ON)
if(NOT TARGET Boost::fiber
   OR CMAKE_CROSSCOMPILING
   OR CMAKE_CXX_FLAGS MATCHES "-fno-(exceptions|rtti)|-fsanitize=")
  set(has_fiber OFF)
endif()
# CAF 0.17: later versions have other policies. Its actors pass messages inside its library, where ThreadSanitizer does
# not look.
set(has_caf OFF)
if(RUNQ_CAF_INCLUDE
   AND RUNQ_CAF_LIBRARY
   AND NOT CMAKE_CROSSCOMPILING
   AND NOT CMAKE_CXX_FLAGS MATCHES "-fno-(exceptions|rtti)|-fsanitize=[a-z,]*thread")
  file(STRINGS "${RUNQ_CAF_INCLUDE}/caf/config.hpp" has_caf REGEX "define CAF_VERSION 17[0-9][0-9]")
  if(has_caf)
    set(has_caf ON)
  endif()
endif()
runq_host(eigen IF ${has_eigen} INCLUDE "${RUNQ_EIGEN_INCLUDE}")
runq_host(fiber IF ${has_fiber} LIBRARIES Boost::fiber)
runq_host(caf IF ${has_caf} LIBRARIES "${RUNQ_CAF_LIBRARY}" Threads::Threads INCLUDE "${RUNQ_CAF_INCLUDE}")
