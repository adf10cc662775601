# SPDX-License-Identifier: MIT
# Checks that runqkit adds nothing but its libraries to a project of which it becomes a part. The project includes this
# file before it adds runqkit, and calls runq_check_leaks() afterwards.

function(runq_settings out)
  set(all "")
  foreach(name IN ITEMS CMAKE_CXX_FLAGS CMAKE_BUILD_TYPE CMAKE_CXX_STANDARD CMAKE_CXX_EXTENSIONS CMAKE_EXE_LINKER_FLAGS
                        CMAKE_POSITION_INDEPENDENT_CODE BUILD_TESTING BUILD_SHARED_LIBS)
    string(APPEND all "${name}=${${name}} ")
  endforeach()
  foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_OPTIONS LINK_LIBRARIES)
    get_directory_property(value ${property})
    string(APPEND all "${property}=${value} ")
  endforeach()
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

runq_settings(runq_settings_before)
get_cmake_property(runq_cache_before CACHE_VARIABLES)

function(runq_expect_equal what actual expected)
  if(NOT "${actual}" STREQUAL "${expected}")
    message(FATAL_ERROR "runqkit as a sub-project changes ${what}: '${actual}' instead of '${expected}'")
  endif()
endfunction()

# Checks that the folder and all folders below it have no tests, and no targets that a plain build would build.
function(runq_check_folder folder)
  get_directory_property(tests DIRECTORY "${folder}" TESTS)
  runq_expect_equal("the tests" "${tests}" "")
  get_directory_property(only_on_demand DIRECTORY "${folder}" EXCLUDE_FROM_ALL)
  get_directory_property(targets DIRECTORY "${folder}" BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT target MATCHES "^runqkit_" OR NOT (type STREQUAL "INTERFACE_LIBRARY" OR only_on_demand))
      message(FATAL_ERROR "runqkit as a sub-project brings the target ${target} (${type})")
    endif()
  endforeach()
  get_directory_property(subfolders DIRECTORY "${folder}" SUBDIRECTORIES)
  foreach(subfolder IN LISTS subfolders)
    runq_check_folder("${subfolder}")
  endforeach()
endfunction()

function(runq_check_leaks folder)
  runq_settings(after)
  runq_expect_equal("the parent's settings" "${after}" "${runq_settings_before}")
  foreach(property IN ITEMS OPTIONS DEFINITIONS)
    get_target_property(value runqkit_deque INTERFACE_COMPILE_${property})
    runq_expect_equal("the ${property} of its users" "${value}" "value-NOTFOUND")
  endforeach()
  runq_check_folder("${folder}")

  # New cache variables may only be runqkit's own options, which have its prefix and are off except for what is built on
  # demand, or choose among queues; and those that CMake itself sets for a folder, for FetchContent and for the search
  # for threads.
  get_cmake_property(cache CACHE_VARIABLES)
  list(REMOVE_ITEM cache ${runq_cache_before} runq_cache_before runq_settings_before)
  foreach(name IN LISTS cache)
    if(name MATCHES "^RUNQ_")
      if(${name} AND NOT name MATCHES "^RUNQ_(BUILD_SCHEDULER|FORK_DEQUE|PROCESSOR_RING)$")
        message(FATAL_ERROR "runqkit as a sub-project switches on ${name}")
      endif()
    elseif(NOT name MATCHES "^(runqkit_(BINARY_DIR|SOURCE_DIR|IS_TOP_LEVEL)|runqkit_[a-z_]+_LIB_DEPENDS|FETCHCONTENT_.*)$"
           AND NOT name MATCHES "^(CMAKE_HAVE_.*|CMAKE_PROJECT_VERSION.*|FIND_PACKAGE_MESSAGE_DETAILS_Threads)$")
      message(FATAL_ERROR "runqkit as a sub-project adds ${name} to the cache")
    endif()
  endforeach()
endfunction()
