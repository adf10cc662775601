// SPDX-License-Identifier: MIT
// A pool with a task is destroyed.
#include "BS_thread_pool.hpp"

int main() { BS::thread_pool pool(1); }
