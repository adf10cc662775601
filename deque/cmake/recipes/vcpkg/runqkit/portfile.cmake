# SPDX-License-Identifier: MIT
# NOT RUN HERE: no test of this project calls vcpkg.
# An overlay port of the source tree that contains this file:
#   vcpkg install runqkit --overlay-ports=deque/cmake/recipes/vcpkg
# A port of a release downloads the release's archive instead: vcpkg_from_github() with REPO, REF and SHA512.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../../.." ABSOLUTE)

# Headers only. The C interface is one file, deque/c/runq.cpp, that a project may compile itself.
set(VCPKG_BUILD_TYPE release)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DRUNQ_BUILD_C=OFF -DRUNQ_BUILD_TESTS=OFF -DRUNQ_BUILD_MODELS=OFF -DRUNQ_BUILD_PROPTESTS=OFF
          -DRUNQ_BUILD_BENCH=OFF -DRUNQ_BUILD_SCHEDULER=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME runqkit CONFIG_PATH share/cmake/runqkit)
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
