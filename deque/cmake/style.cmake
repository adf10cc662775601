# SPDX-License-Identifier: MIT
# Tests of the format of sources, scripts and licence lines. ctest lists a test as disabled if its tool is not
# installed.

set(sources "")
foreach(folder IN ITEMS deque scheduler models proptests bench docs)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.hpp"
       "${PROJECT_SOURCE_DIR}/${folder}/*.cpp" "${PROJECT_SOURCE_DIR}/${folder}/*.h" "${PROJECT_SOURCE_DIR}/${folder}/*.c")
  list(APPEND sources ${found})
endforeach()
file(GLOB_RECURSE scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/deque/test/*.sh")
list(APPEND scripts "${PROJECT_SOURCE_DIR}/kit" "${PROJECT_SOURCE_DIR}/.ci/run"
     "${PROJECT_SOURCE_DIR}/proptests/fuzz/must_find.sh")
file(GLOB_RECURSE recipes CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/recipes/*.py"
     "${CMAKE_CURRENT_LIST_DIR}/recipes/*.cmake" "${CMAKE_CURRENT_LIST_DIR}/recipes/*.json")

# Other versions of clang-format format differently, so only version 14 is used.
find_program(RUNQ_CLANG_FORMAT NAMES clang-format-14)
find_program(RUNQ_SHELLCHECK NAMES shellcheck)
mark_as_advanced(RUNQ_CLANG_FORMAT RUNQ_SHELLCHECK)

add_test(NAME style_format COMMAND "${RUNQ_CLANG_FORMAT}" --dry-run -Werror ${sources})
add_test(NAME style_scripts COMMAND "${RUNQ_SHELLCHECK}" ${scripts})
add_test(NAME style_licence COMMAND sh -c "! grep -L 'SPDX-License-Identifier: MIT' \"$@\" | grep ." sh ${sources}
                                    ${scripts} ${recipes})
# The one number in the recipes that CMake does not fill in.
add_test(NAME style_recipe_version COMMAND grep -F "\"version\": \"${PROJECT_VERSION}\""
                                           "${CMAKE_CURRENT_LIST_DIR}/recipes/vcpkg/runqkit/vcpkg.json")
set_tests_properties(style_format style_scripts style_licence style_recipe_version PROPERTIES LABELS "unit;style")
if(NOT RUNQ_CLANG_FORMAT)
  set_tests_properties(style_format PROPERTIES DISABLED ON)
endif()
if(NOT RUNQ_SHELLCHECK)
  set_tests_properties(style_scripts PROPERTIES DISABLED ON)
endif()
