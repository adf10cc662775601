# SPDX-License-Identifier: MIT
# The ways in which other projects take the library in, each tried as a stranger would: label `consumer`.

set(source "${CMAKE_CURRENT_SOURCE_DIR}/test/consumer")
# With spaces in it, because somebody's home folder has one.
set(work "${CMAKE_CURRENT_BINARY_DIR}/consumers of runqkit")
set(stage "${work}/installed here")
set(RUNQ_STAGE "${stage}" PARENT_SCOPE) # the documentation's tests use it too

# Configures, builds and runs a project; the rest of the arguments are options for its configuration.
function(runq_add_consumer name)
  add_test(
    NAME consumer_${name}
    COMMAND
      "${CMAKE_CTEST_COMMAND}" --build-and-test "${source}/${name}" "${work}/${name}"
      --build-generator "${CMAKE_GENERATOR}" --build-options "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" ${ARGN}
      --test-command "${work}/${name}/consumer")
endfunction()

function(runq_add_plain_consumer name flags)
  add_test(NAME consumer_${name} COMMAND sh "${source}/plain.sh" "${work}/${name}" "${CMAKE_CXX_COMPILER}" "${flags}")
endfunction()

add_test(NAME consumer_install COMMAND "${CMAKE_COMMAND}" --install "${PROJECT_BINARY_DIR}" --prefix "${stage}")
set_tests_properties(consumer_install PROPERTIES FIXTURES_SETUP runq_installed)

runq_add_consumer(find_package "-DCMAKE_PREFIX_PATH=${stage}" "-DRUNQ_VERSION=${PROJECT_VERSION}")
runq_add_consumer(subdirectory "-DRUNQ_SOURCE=${PROJECT_SOURCE_DIR}")
runq_add_plain_consumer(copied_headers "'-I${CMAKE_CURRENT_SOURCE_DIR}/include' -pthread -fno-exceptions -fno-rtti")
runq_add_plain_consumer(pkg_config "$(pkg-config --cflags --libs runqkit)")

set(consumers find_package subdirectory copied_headers pkg_config)
list(TRANSFORM consumers PREPEND consumer_)
set_tests_properties(consumer_install ${consumers} PROPERTIES LABELS consumer)
set_tests_properties(consumer_find_package consumer_pkg_config PROPERTIES FIXTURES_REQUIRED runq_installed)
set_tests_properties(consumer_pkg_config PROPERTIES ENVIRONMENT "PKG_CONFIG_PATH=${stage}/share/pkgconfig")
find_program(RUNQ_PKG_CONFIG pkg-config)
mark_as_advanced(RUNQ_PKG_CONFIG)
if(NOT RUNQ_PKG_CONFIG)
  set_tests_properties(consumer_pkg_config PROPERTIES DISABLED ON) # listed by ctest as not run
endif()
