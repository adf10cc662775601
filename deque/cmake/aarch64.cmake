# SPDX-License-Identifier: MIT
# Toolchain: compiles for Linux on AArch64 and runs the programs under QEMU's user emulation, on an x86-64 Debian with
#   dpkg --add-architecture arm64 && apt-get update
#   apt-get install g++-aarch64-linux-gnu qemu-user libgtest-dev:arm64 libgmock-dev:arm64 librapidcheck-dev:arm64
# The emulator keeps the order of x86-64's memory accesses, which is stronger than AArch64's: a test that passes here
# shows that the code is right for the instruction set, and nothing about weak ordering.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
