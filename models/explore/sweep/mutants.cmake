# SPDX-License-Identifier: MIT
# The programs of tests over headers with the functions of all mutants beside the shipped ones: --mutant=NAME chooses one
# (sweep.py). Mutants that need a build of their own are left out.

set(mutants_dir ${CMAKE_BINARY_DIR}/mutants)
set(verify_dir ${PROJECT_SOURCE_DIR}/models/verify)
file(GLOB mutant_tables_of_sweep CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/cases/*/*/*.mutants)
file(GLOB_RECURSE headers_of_sweep ${PROJECT_SOURCE_DIR}/deque/include/*.hpp ${PROJECT_SOURCE_DIR}/scheduler/include/*.hpp
     ${PROJECT_SOURCE_DIR}/scheduler/src/inside/*.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${mutant_tables_of_sweep} ${headers_of_sweep} ${verify_dir}/mutants.py ${verify_dir}/mutant_variants.py)
execute_process(COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/sweep.py --write ${mutants_dir} COMMAND_ERROR_IS_FATAL ANY)

# Before any other folder, and before what is instrumented from here on.
include_directories(BEFORE ${mutants_dir}/all ${PROJECT_SOURCE_DIR}/models/check)
add_compile_definitions(RUNQ_NOTES_MUTANTS)
add_compile_options(-w)
add_library(runq_chosen_mutant OBJECT ${CMAKE_CURRENT_LIST_DIR}/chosen_mutant.cpp)
target_compile_features(runq_chosen_mutant PRIVATE cxx_std_20)
