# SPDX-License-Identifier: MIT
# The ways in which other projects can add the library, each tried as a user would: label `consumer`.

set(source "${CMAKE_CURRENT_SOURCE_DIR}/test/consumer")
# The path has spaces in it, because a user's home folder may have one.
set(work "${CMAKE_CURRENT_BINARY_DIR}/consumers of runqkit")
set(stage "${work}/installed here")
set(RUNQ_STAGE "${stage}" PARENT_SCOPE) # the documentation's tests use it too
# The path of the sources has spaces in it, too.
set(sources_here "${work}/sources of runqkit")
file(MAKE_DIRECTORY "${work}")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${sources_here}" SYMBOLIC)

# Installs into an empty folder: files of an older installation could hide that a file is missing or stale.
add_test(NAME consumer_install COMMAND sh -c "rm -rf \"$2\" && exec \"$0\" --install \"$1\" --prefix \"$2\""
                                       "${CMAKE_COMMAND}" "${PROJECT_BINARY_DIR}" "${stage}")
set_tests_properties(consumer_install PROPERTIES LABELS consumer FIXTURES_SETUP runq_installed)

# Configures, builds and runs a project; the rest of the arguments are options for its configuration.
function(runq_add_consumer name)
  file(REMOVE_RECURSE "${work}/${name}") # what an older configuration left there could hide a mistake
  add_test(
    NAME consumer_${name}
    COMMAND "${CMAKE_CTEST_COMMAND}" --build-and-test "${source}/${name}" "${work}/${name}" --build-generator
            "${CMAKE_GENERATOR}" --build-options ${ARGN} --test-command "${work}/${name}/consumer")
  set_tests_properties(consumer_${name} PROPERTIES LABELS consumer FIXTURES_REQUIRED runq_installed)
endfunction()

# Compiles one file by a plain call of a compiler, and runs it.
function(runq_add_plain_consumer name file compiler flags)
  add_test(NAME consumer_${name} COMMAND sh "${source}/plain.sh" "${work}/${name}" "${file}" "${compiler}" "${flags}")
  set_tests_properties(consumer_${name} PROPERTIES LABELS consumer FIXTURES_REQUIRED runq_installed)
endfunction()

set(cxx "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}")
set(from_stage "-DCMAKE_PREFIX_PATH=${stage}" "-DRUNQ_VERSION=${PROJECT_VERSION}")
runq_add_consumer(find_package "${cxx}" ${from_stage})
runq_add_consumer(subdirectory "${cxx}" "-DRUNQ_SOURCE=${sources_here}")
runq_add_consumer(fetch_content "${cxx}" "-DRUNQ_SOURCE=${sources_here}")
foreach(name IN ITEMS subdirectory fetch_content)
  set_tests_properties(consumer_${name} PROPERTIES FIXTURES_SETUP runq_built_${name})
  add_test(NAME consumer_${name}_installs_nothing COMMAND sh "${source}/installs_nothing.sh" "${CMAKE_COMMAND}"
                                                          "${work}/${name}")
  set_tests_properties(consumer_${name}_installs_nothing PROPERTIES LABELS consumer FIXTURES_REQUIRED
                                                                    runq_built_${name})
endforeach()

# This consumer installs the headers without building anything. The installation must not lack a file that a build
# makes.
add_test(NAME consumer_headers_only COMMAND sh "${source}/headers_only.sh" "${CMAKE_COMMAND}" "${sources_here}"
                                            "${work}/headers only" "${CMAKE_CXX_COMPILER}")
set_tests_properties(consumer_headers_only PROPERTIES LABELS consumer)

set(strictly "-pthread -fno-exceptions -fno-rtti")
runq_add_plain_consumer(copied_headers main.cpp "${CMAKE_CXX_COMPILER}" "'-I${stage}/include' ${strictly}")
if(TARGET runq_single_headers)
  runq_add_plain_consumer(single_header single_header.cpp "${CMAKE_CXX_COMPILER}"
                          "'-I${stage}/share/runqkit/single' ${strictly}")
endif()
runq_add_plain_consumer(pkg_config main.cpp "${CMAKE_CXX_COMPILER}" "$(pkg-config --cflags --libs runqkit)")
set(by_pkg_config consumer_pkg_config)

if(RUNQ_BUILD_C AND CMAKE_C_COMPILER)
  runq_add_consumer(c_find_package "-DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}" ${from_stage})
  runq_add_consumer(c_subdirectory "${cxx}" "-DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}" "-DRUNQ_SOURCE=${sources_here}")
  # The C compiler links the program, so without the C++ run-time library.
  runq_add_plain_consumer(c_pkg_config main.c "${CMAKE_C_COMPILER}" "$(pkg-config --cflags --libs runqkit_c)")
  list(APPEND by_pkg_config consumer_c_pkg_config)
endif()

if(RUNQ_BUILD_SCHEDULER)
  add_test(NAME consumer_gets_no_inside COMMAND sh "${source}/no_inside.sh" "${stage}/include" "${sources_here}/scheduler")
  set_tests_properties(consumer_gets_no_inside PROPERTIES LABELS consumer FIXTURES_REQUIRED runq_installed)
  runq_add_consumer(scheduler_find_package "${cxx}" ${from_stage})

  # runq_check_awaits(), of the package and of the folder, with each generator that it knows.
  function(runq_add_checked_consumer name generator)
    add_test(NAME consumer_check_awaits_${name}
             COMMAND sh "${source}/check_awaits.sh" "${CMAKE_COMMAND}" "${source}/check_awaits" "${work}/check awaits ${name}"
                     "${generator}" "${CMAKE_CXX_COMPILER}" "${RUNQ_CLANG_QUERY}" ${ARGN})
    set_tests_properties(consumer_check_awaits_${name} PROPERTIES LABELS consumer FIXTURES_REQUIRED runq_installed TIMEOUT 1500)
    if(NOT RUNQ_CLANG_QUERY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      set_tests_properties(consumer_check_awaits_${name} PROPERTIES DISABLED ON)
    endif()
  endfunction()
  find_program(RUNQ_CLANG_QUERY NAMES clang-query-14 clang-query)
  mark_as_advanced(RUNQ_CLANG_QUERY)
  runq_add_checked_consumer(package Ninja ${from_stage})
  runq_add_checked_consumer(folder "Unix Makefiles" "-DRUNQ_SOURCE=${sources_here}")

  runq_add_plain_consumer(scheduler_pkg_config scheduler_main.cpp "${CMAKE_CXX_COMPILER}"
                          "$(pkg-config --cflags --libs runqkit_scheduler)")
  # A program by another compiler than the library's.
  set(other clang++)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(other g++)
  endif()
  find_program(RUNQ_CONSUMERS_COMPILER NAMES ${other})
  mark_as_advanced(RUNQ_CONSUMERS_COMPILER)
  runq_add_plain_consumer(scheduler_of_two_compilers scheduler_main.cpp "${RUNQ_CONSUMERS_COMPILER}"
                          "$(pkg-config --cflags --libs runqkit_scheduler)")
  if(NOT RUNQ_CONSUMERS_COMPILER)
    set_tests_properties(consumer_scheduler_of_two_compilers PROPERTIES DISABLED ON)
  endif()
  list(APPEND by_pkg_config consumer_scheduler_pkg_config consumer_scheduler_of_two_compilers)
endif()

set_tests_properties(
  ${by_pkg_config} PROPERTIES ENVIRONMENT
                              "PKG_CONFIG_PATH=${stage}/share/pkgconfig:${stage}/${CMAKE_INSTALL_LIBDIR}/pkgconfig")
find_program(RUNQ_PKG_CONFIG pkg-config)
mark_as_advanced(RUNQ_PKG_CONFIG)
if(NOT RUNQ_PKG_CONFIG)
  set_tests_properties(${by_pkg_config} PROPERTIES DISABLED ON) # listed by ctest as not run
endif()
