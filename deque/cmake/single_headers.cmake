# SPDX-License-Identifier: MIT
# One file per queue and one with all of them, for people who copy files: target runq_single_headers.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND)
  message(WARNING "runqkit: Python 3 was not found; the single headers are not made")
  return()
endif()

set(single_header_dir "${CMAKE_CURRENT_BINARY_DIR}/single")
set(single_headers "")
set(single_stems ${runq_stems} eventcount)
foreach(name IN LISTS single_stems ITEMS all)
  list(APPEND single_headers "${single_header_dir}/runq_${name}.hpp")
endforeach()
add_custom_command(
  OUTPUT ${single_headers}
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/amalgamate.py" --root "${PROJECT_SOURCE_DIR}" --version
          "${PROJECT_VERSION}" --output "${single_header_dir}" ${single_stems}
  DEPENDS ${runq_headers} "${PROJECT_SOURCE_DIR}/models/cases/pinned.txt" "${PROJECT_SOURCE_DIR}/LICENSE" "${CMAKE_CURRENT_LIST_DIR}/amalgamate.py"
  COMMENT "Writing the single headers"
  VERBATIM)
add_custom_target(runq_single_headers ALL DEPENDS ${single_headers})
