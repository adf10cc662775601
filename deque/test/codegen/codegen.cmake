# SPDX-License-Identifier: MIT
# For each compiler and machine, these tests count the barriers in the code of the hot operations and compare the counts
# with expected.txt. If a compiler is missing, ctest shows its test as not run.
if(NOT Python3_FOUND)
  message(WARNING "runqkit: Python 3 was not found; the barriers in the code of the hot operations are not counted")
  return()
endif()

find_program(RUNQ_GXX NAMES g++)
find_program(RUNQ_CLANGXX NAMES clang++)
find_program(RUNQ_GXX_AARCH64 NAMES aarch64-linux-gnu-g++)
mark_as_advanced(RUNQ_GXX RUNQ_CLANGXX RUNQ_GXX_AARCH64)

# runq_add_codegen_test(NAME ARCH COMPILER NEEDED_TOO OPTIONS…)
function(runq_add_codegen_test name arch compiler needed)
  add_test(
    NAME codegen.${name}
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/count_barriers.py" --arch ${arch} --compiler
            "${compiler}" --include "${PROJECT_SOURCE_DIR}/deque/include" ${ARGN})
  set_tests_properties(codegen.${name} PROPERTIES LABELS "unit;compile")
  if(NOT compiler OR NOT needed)
    set_tests_properties(codegen.${name} PROPERTIES DISABLED ON)
  endif()
endfunction()

if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
  runq_add_codegen_test(x86-64.g++ x86-64 "${RUNQ_GXX}" ON)
  runq_add_codegen_test(x86-64.clang++ x86-64 "${RUNQ_CLANGXX}" ON)
  # Compares the instructions that one_object executes with those of the handles. The flags are those that users take,
  # not those of this build.
  foreach(compiler g++ clang++)
    string(REPLACE "+" "X" variable "RUNQ_${compiler}")
    string(TOUPPER "${variable}" variable)
    set(program "${CMAKE_CURRENT_BINARY_DIR}/instructions.${compiler}")
    add_test(NAME codegen.one_object.${compiler}
             COMMAND sh -c "\"$1\" -std=c++20 -O2 -DNDEBUG -I\"$2\" \"$3\" -o \"$4\" && \"$4\"" sh "${${variable}}"
                     "${PROJECT_SOURCE_DIR}/deque/include" "${CMAKE_CURRENT_LIST_DIR}/instructions.cpp" "${program}")
    set_tests_properties(codegen.one_object.${compiler} PROPERTIES LABELS "unit;compile")
    if(NOT ${variable} OR NOT CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux")
      set_tests_properties(codegen.one_object.${compiler} PROPERTIES DISABLED ON)
    endif()
  endforeach()
  # clang++ says with -mcx16 that atomics of 16 bytes are lock-free. g++ 12 never says it.
  add_test(NAME codegen.sixteen_bytes.clang++
           COMMAND sh -c "\"$1\" -std=c++20 -O2 -mcx16 -pthread -I\"$2\" \"$3\" -o \"$4\" && \"$4\"" sh "${RUNQ_CLANGXX}"
                   "${PROJECT_SOURCE_DIR}/deque/include" "${CMAKE_CURRENT_LIST_DIR}/sixteen_bytes.cpp"
                   "${CMAKE_CURRENT_BINARY_DIR}/sixteen_bytes")
  set_tests_properties(codegen.sixteen_bytes.clang++ PROPERTIES LABELS "unit;compile")
  if(NOT RUNQ_CLANGXX)
    set_tests_properties(codegen.sixteen_bytes.clang++ PROPERTIES DISABLED ON)
  endif()
  # Tests of count_barriers.py: each makes one memory order stronger than necessary, which costs an instruction. The
  # script must notice that.
  foreach(change ring.push.publish:seq_cst|ring_push chase_lev.pop.reserve:seq_cst|chase_lev_pop)
    string(REGEX MATCH "(.+)[|](.+)" change "${change}")
    runq_add_codegen_test(x86-64.notices.${CMAKE_MATCH_2} x86-64 "${RUNQ_GXX}" ON --strengthen ${CMAKE_MATCH_1}
                          --must-notice ${CMAKE_MATCH_2})
  endforeach()
endif()

runq_add_codegen_test(aarch64.g++ aarch64 "${RUNQ_GXX_AARCH64}" ON)
# clang++ compiles for every machine. It uses the standard library that comes with the g++ for that machine.
runq_add_codegen_test(aarch64.clang++ aarch64 "${RUNQ_CLANGXX}" "${RUNQ_GXX_AARCH64}"
                      --flags=--target=aarch64-linux-gnu)
foreach(change ring.pop.claim:acq_rel|ring_pop ring.steal.slot:acquire|ring_steal
               chase_lev.push.slot:release|chase_lev_push runnext.take.peek:acquire|runnext_take)
  string(REGEX MATCH "(.+)[|](.+)" change "${change}")
  runq_add_codegen_test(aarch64.notices.${CMAKE_MATCH_2} aarch64 "${RUNQ_GXX_AARCH64}" ON --strengthen ${CMAKE_MATCH_1}
                        --must-notice ${CMAKE_MATCH_2})
endforeach()
