# SPDX-License-Identifier: MIT
# What `cmake --install` puts into a prefix. All of it may be moved together with the prefix.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The package files of the headers name only headers, so they are the same on every machine and are installed in share/.
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/runqkit")
install(TARGETS runqkit_deque EXPORT runqkit INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES ${runq_headers} "${CMAKE_CURRENT_SOURCE_DIR}/include/runq/runqkit.cppm" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/runq")
install(
  EXPORT runqkit
  FILE runqkitTargets.cmake
  NAMESPACE runq::
  DESTINATION "${package_dir}")

# The C interface is a library for this machine, so its package files are installed next to it.
set(RUNQ_C_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/runqkit_c")
if(RUNQ_BUILD_C)
  install(
    TARGETS runqkit_c
    EXPORT runqkit_c
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    PUBLIC_HEADER DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    INCLUDES
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(
    EXPORT runqkit_c
    FILE runqkitCTargets.cmake
    NAMESPACE runq::
    DESTINATION "${RUNQ_C_PACKAGE_DIR}")
endif()

# The scheduler is a library for this machine, too; its own list file installs it.
set(RUNQ_SCHEDULER_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/runqkit_scheduler")

# So is the checker for users' programs: models/compiled/.
set(RUNQ_CHECK_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/runqkit_check")
set(RUNQ_BIN_DIR "${CMAKE_INSTALL_BINDIR}")

configure_package_config_file(
  cmake/runqkitConfig.cmake.in runqkitConfig.cmake
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS RUNQ_C_PACKAGE_DIR RUNQ_SCHEDULER_PACKAGE_DIR RUNQ_CHECK_PACKAGE_DIR RUNQ_BIN_DIR)
# Before 1.0 every minor version may break its users; from 1.0 on this is to be SameMajorVersion.
write_basic_package_version_file(runqkitConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/runqkitConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/runqkitConfigVersion.cmake" DESTINATION "${package_dir}")

# Installs NAME.pc, with the relative path from its folder to the prefix, so that the prefix may be moved.
function(runq_install_pc name folder)
  file(RELATIVE_PATH RUNQ_PC_TO_PREFIX "/${folder}" "/")
  string(REGEX REPLACE "/$" "" RUNQ_PC_TO_PREFIX "${RUNQ_PC_TO_PREFIX}")
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION "${folder}")
endfunction()
runq_install_pc(runqkit "${CMAKE_INSTALL_DATADIR}/pkgconfig")
if(RUNQ_BUILD_C)
  runq_install_pc(runqkit_c "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

# The single headers are copied out of this folder, and not included from it, so it is not below include/. Optional,
# because the headers can be installed without building anything.
if(TARGET runq_single_headers)
  install(FILES ${single_headers} DESTINATION "${CMAKE_INSTALL_DATADIR}/runqkit/single" OPTIONAL)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
