# SPDX-License-Identifier: MIT
# runq_check_awaits(TARGET [REQUIRED] [ALWAYS] [EXCEPT sources…])
#
# g++ up to 12 destroys some temporaries beside a co_await twice (docs/limits.md). With this call each source of the target is
# searched for them after it was compiled; the build fails where there is one, and says what to write instead. A source is
# searched again when it is compiled again.
#
# It needs clang-query 14 or later (Debian: clang-tools), and the generators Ninja or Makefiles. Without clang-query it warns and
# does nothing; with REQUIRED that is an error. Other compilers have no such mistake, so it does nothing with them; ALWAYS
# searches nevertheless, for a program that g++ 12 will compile elsewhere. EXCEPT: these sources are left out.
function(runq_check_awaits target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "REQUIRED;ALWAYS" "" "EXCEPT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "runq_check_awaits: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "runq_check_awaits: there is no target ${target}")
  endif()
  if(NOT arg_ALWAYS AND NOT (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13))
    return()
  endif()
  if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    message(FATAL_ERROR "runq_check_awaits: needs the generator Ninja or Makefiles, not ${CMAKE_GENERATOR}")
  endif()
  find_program(RUNQ_CLANG_QUERY NAMES clang-query clang-query-14 clang-query-15 clang-query-16 clang-query-17 clang-query-18
                                      clang-query-19)
  mark_as_advanced(RUNQ_CLANG_QUERY)
  if(NOT RUNQ_CLANG_QUERY)
    set(kind WARNING)
    if(arg_REQUIRED)
      set(kind FATAL_ERROR)
    endif()
    message(${kind} "runq_check_awaits: ${target} is not searched for temporaries that g++ destroys twice, because there is no "
                    "clang-query. Install clang-tools (Debian), or set RUNQ_CLANG_QUERY to its path.")
    return()
  endif()
  set(launcher sh "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_awaits.sh" "${RUNQ_CLANG_QUERY}")
  foreach(source IN LISTS arg_EXCEPT)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    list(APPEND launcher --except "${source}")
  endforeach()
  list(APPEND launcher --)
  get_target_property(other_launcher "${target}" CXX_COMPILER_LAUNCHER)
  if(other_launcher)
    list(APPEND launcher ${other_launcher})
  endif()
  set_target_properties("${target}" PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
endfunction()
