# SPDX-License-Identifier: MIT
# Tests of the generated single headers: each compiles by itself, several of them can be included together, and their
# banners are right. That their parts need no exceptions is tested without them (header_alone_*).
foreach(name IN LISTS single_stems ITEMS all)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/single_header_alone/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"runq_${name}.hpp\"\n")
  add_test(NAME single_header_alone_${name}
           COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DOPTIONS=${runq_keeps_memory}"
                   "-DINCLUDE=${single_header_dir}" "-DSOURCE=${source}" -DEXCEPTIONS=ON -P "${compile_check_script}")
  add_test(NAME single_header_banner_${name}
           COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/test/single_header/banner.sh" "${single_header_dir}/runq_${name}.hpp"
                   "${PROJECT_VERSION}" "${PROJECT_SOURCE_DIR}/models/cases")
  set_tests_properties(single_header_alone_${name} single_header_banner_${name} PROPERTIES LABELS "unit;compile")
endforeach()

# This program is not linked with runq::deque: it must need nothing but the copied files.
add_executable(single_header_test test/single_header/several.cpp test/single_header/all.cpp)
target_include_directories(single_header_test PRIVATE "${single_header_dir}")
target_compile_features(single_header_test PRIVATE cxx_std_20)
target_link_libraries(single_header_test PRIVATE Threads::Threads runq_warnings)
add_dependencies(single_header_test runq_single_headers)
add_test(NAME single_header_test COMMAND single_header_test)
set_tests_properties(single_header_test PROPERTIES LABELS unit)
