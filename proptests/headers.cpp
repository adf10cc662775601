// SPDX-License-Identifier: MIT
// Empty: the headers that the suites share are precompiled for this source (CMakeLists.txt).
