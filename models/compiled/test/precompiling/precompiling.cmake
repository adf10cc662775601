# SPDX-License-Identifier: MIT
# For tests that have the commands compile many small programs: ENVIRONMENT "${precompiled}" and ENVIRONMENT_MODIFICATION
# "${precompiling}" give them the g++ of this folder, and say where it keeps the headers that it has precompiled.
# With the full budget it is g++: there a program has no header but its own.
if(RUNQ_TEST_BUDGET STREQUAL "quick")
  set(precompiled RUNQ_PRECOMPILED=${PROJECT_BINARY_DIR}/models/precompiled)
else()
  set(precompiled RUNQ_PRECOMPILED=)
endif()
set(precompiling PATH=path_list_prepend:${CMAKE_CURRENT_LIST_DIR})
