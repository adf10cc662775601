# SPDX-License-Identifier: MIT
# What reads symbols and debug information. The checker, that for more threads and the explorer have the same objects of it, because
# regular expressions take long to compile. backtrace_include is the folder of backtrace.h.
if(TARGET runq_debug_names)
  return()
endif()
set(debug_sources symbols.cpp debug_info.cpp member_names.cpp)
list(TRANSFORM debug_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
add_library(runq_debug_names OBJECT ${debug_sources})
target_compile_features(runq_debug_names PRIVATE cxx_std_20)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH models)
target_include_directories(runq_debug_names PRIVATE ${CMAKE_CURRENT_LIST_DIR} ${models}/arch/${CMAKE_SYSTEM_PROCESSOR} ${models}/check)
set_target_properties(runq_debug_names PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_link_libraries(runq_debug_names PRIVATE fmt::fmt-header-only)
# In each of them one kernel thread asks for names; the explorer takes the place of the functions that guard static variables.
target_compile_options(runq_debug_names PRIVATE -O2 -fno-threadsafe-statics)
if(TARGET runq_warnings)
  target_link_libraries(runq_debug_names PRIVATE runq_warnings)
endif()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/symbols.cpp PROPERTIES COMPILE_OPTIONS "-idirafter;${backtrace_include}")
