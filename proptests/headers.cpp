// SPDX-License-Identifier: MIT
// Nothing: the headers that the suites share are precompiled for this source (CMakeLists.txt).
