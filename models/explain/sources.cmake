# SPDX-License-Identifier: MIT
# What says why an execution fails, for the runner of the models and for the front end: both compile it, each in its own way.
# explain_sources: an execution as text and as JSON; page_sources: results as pages, which also need the target runq_page;
# tool_sources: results as files that other tools read.
set(explain_sources calls.cpp counterexample.cpp result_json.cpp sites.cpp source_names.cpp why.cpp)
list(TRANSFORM explain_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
file(GLOB page_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/html.cpp ${CMAKE_CURRENT_LIST_DIR}/html/*.cpp)
set(tool_sources ${CMAKE_CURRENT_LIST_DIR}/tool_results.cpp)
if(NOT TARGET runq_page)
  # html/page.html as a C++ string literal: what writes pages includes it.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/html/page.html)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/html/page.html page)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/page/runq_page.inc CONTENT "R\"page(@page@)page\"\n" @ONLY)
  unset(page)
  add_library(runq_page INTERFACE)
  target_include_directories(runq_page INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/page)
endif()
