# SPDX-License-Identifier: MIT
# How sources look. A tool that is not there shows as a test that was not run.

set(sources "")
foreach(folder IN ITEMS deque scheduler models proptests bench docs)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.hpp"
       "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  list(APPEND sources ${found})
endforeach()
set(scripts "${PROJECT_SOURCE_DIR}/kit" "${PROJECT_SOURCE_DIR}/.ci/run"
    "${PROJECT_SOURCE_DIR}/proptests/fuzz/must_find.sh")

# Another version formats differently, so only this one is asked.
find_program(RUNQ_CLANG_FORMAT NAMES clang-format-14)
find_program(RUNQ_SHELLCHECK NAMES shellcheck)
mark_as_advanced(RUNQ_CLANG_FORMAT RUNQ_SHELLCHECK)

add_test(NAME style_format COMMAND "${RUNQ_CLANG_FORMAT}" --dry-run -Werror ${sources})
add_test(NAME style_scripts COMMAND "${RUNQ_SHELLCHECK}" ${scripts})
add_test(NAME style_licence COMMAND sh -c "! grep -L 'SPDX-License-Identifier: MIT' \"$@\" | grep ." sh ${sources}
                                    ${scripts})
set_tests_properties(style_format style_scripts style_licence PROPERTIES LABELS "unit;style")
if(NOT RUNQ_CLANG_FORMAT)
  set_tests_properties(style_format PROPERTIES DISABLED ON)
endif()
if(NOT RUNQ_SHELLCHECK)
  set_tests_properties(style_scripts PROPERTIES DISABLED ON)
endif()
