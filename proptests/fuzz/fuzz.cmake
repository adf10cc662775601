# SPDX-License-Identifier: MIT
# Fuzz targets for libFuzzer: fuzz.hpp says what they do. The preset fuzz builds them instead of the property programs.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
check_cxx_source_compiles(
  "#include <cstddef>
#include <cstdint>
extern \"C\" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }"
  RUNQ_HAS_LIBFUZZER)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT RUNQ_HAS_LIBFUZZER)
  message(FATAL_ERROR "runqkit: RUNQ_PROP_FUZZ needs libFuzzer: a clang++ that knows -fsanitize=fuzzer")
endif()

# Both limits apply; on a slow machine the second one is reached first.
set(RUNQ_FUZZ_RUNS 20000 CACHE STRING "Scripts of each fuzz target in ctest")
set(RUNQ_FUZZ_SECONDS "" CACHE STRING "Seconds of each fuzz target in ctest, at most; if empty, 8, or 2 with the quick budget")
set(fuzz_seconds "${RUNQ_FUZZ_SECONDS}")
if(fuzz_seconds STREQUAL "")
  set(fuzz_seconds 8)
  if(RUNQ_TEST_BUDGET STREQUAL "quick")
    set(fuzz_seconds 2)
  endif()
endif()
set(here "${CMAKE_CURRENT_LIST_DIR}")

# runq_fuzz_kind(KIND OPTIONS): the part of all targets with these options that does not depend on the queue.
function(runq_fuzz_kind kind options)
  add_library(runq_fuzz_${kind} OBJECT "${here}/fuzz.cpp")
  target_link_libraries(runq_fuzz_${kind} PUBLIC runq::proptests)
  target_compile_options(runq_fuzz_${kind} PUBLIC ${options})
  target_link_options(runq_fuzz_${kind} PUBLIC ${options})
  if(TARGET runq_warnings)
    target_link_libraries(runq_fuzz_${kind} PRIVATE runq_warnings)
  endif()
endfunction()

# runq_fuzz_program(NAME KIND SOURCES…)
function(runq_fuzz_program name kind)
  runq_prop_program(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE runq_fuzz_${kind})
endfunction()

# The inputs that a run finds stay in the build folder: `-merge=1` adds them to the corpus in the tree
# (docs/properties.md).
runq_fuzz_kind(sanitized "-fsanitize=fuzzer,address,undefined;-fno-sanitize-recover=all")
foreach(stem IN LISTS stems)
  # Without precompiled headers: they take longer to compile with the sanitizers than they save.
  runq_fuzz_program(${stem}_fuzz sanitized "${here}/${stem}_fuzz.cpp")
  set(found "${CMAKE_CURRENT_BINARY_DIR}/corpus/${stem}")
  file(MAKE_DIRECTORY "${found}")
  add_test(NAME fuzz.${stem} COMMAND ${stem}_fuzz -runs=${RUNQ_FUZZ_RUNS} -max_total_time=${fuzz_seconds}
                                     -max_len=256 -timeout=30 -print_final_stats=1 "-artifact_prefix=${found}-" "${found}"
                                     "${here}/corpus/${stem}")
  set_tests_properties(fuzz.${stem} PROPERTIES LABELS fuzz TIMEOUT 300)
endforeach()

runq_leaves_out(seeded_bugs without_seeded_bugs)
if(without_seeded_bugs)
  return()
endif()
# Each target finds a seeded bug that needs no second thread, from an empty corpus. A law finds it, so these programs need
# neither the sanitizers nor an optimizer: they compile in a quarter of the time.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND)
  message(WARNING "runqkit: Python 3 was not found; the seeded bugs of the fuzz targets are left out")
  return()
endif()
set(cases "${PROJECT_SOURCE_DIR}/models/cases")
set(script "${PROJECT_SOURCE_DIR}/models/verify/mutants.py")
set(headers "${PROJECT_SOURCE_DIR}/deque/include")
set(options_with_a_bug -fsanitize=fuzzer -w -O0)
runq_fuzz_kind(with_a_bug "${options_with_a_bug}")
runq_prop_headers(runq_fuzz_precompiled HEADERS "${here}/fuzz.hpp" OPTIONS ${options_with_a_bug})
foreach(
  id
  ring.room_trusts_an_old_head
  split_ring.takes_the_smaller_half
  runnext.steal_gives_up_at_the_second_pause
  inject.take_batch_ignores_max
  shared_fifo.put_batch_forgets_the_rest
  local_queue.new_task_first
  chase_lev.growth_forgets_the_oldest
  split_deque.full_off_by_one)
  string(REPLACE "." "/" mutant ${id})
  string(REGEX REPLACE "[.].*" "" stem ${id})
  set(out "${CMAKE_CURRENT_BINARY_DIR}/mutants/${id}")
  set(header "${out}/runq/${stem}.hpp")
  add_custom_command(
    OUTPUT "${header}"
    COMMAND "${Python3_EXECUTABLE}" "${script}" apply "${cases}" ${mutant} "${headers}" "${out}"
    DEPENDS "${cases}/queues/${stem}/${stem}.mutants" "${script}" "${headers}/runq/${stem}.hpp"
    VERBATIM)
  set(name fuzz_mutant_${id})
  runq_fuzz_program(${name} with_a_bug "${here}/${stem}_fuzz.cpp" "${header}")
  target_precompile_headers(${name} REUSE_FROM runq_fuzz_precompiled)
  target_include_directories(${name} BEFORE PRIVATE "${out}")
  add_test(NAME fuzz.mutant.${id} COMMAND sh "${here}/must_find.sh" $<TARGET_FILE:${name}> "${out}")
  set_tests_properties(fuzz.mutant.${id} PROPERTIES LABELS "fuzz;mutant" TIMEOUT 300)
endforeach()
