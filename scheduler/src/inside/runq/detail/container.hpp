// SPDX-License-Identifier: MIT
// container: how much of the machine's CPUs the process's control groups let it use.
//
// Source: Go's default GOMAXPROCS since 1.25 (golang/go#73193).
#pragma once

#include <filesystem>

namespace runq::detail {

/// The smallest quota of CPU time among the control groups that this process is in, of version 1 or 2, in CPUs, rounded
/// up: 2 for 1.5. 0 if there is none. `root` is where /proc and /sys are.
[[nodiscard]] unsigned cpus_of_quota(const std::filesystem::path& root = "/");

/// How many of `cpus` to use, for that quota. With a quota at least 2, as in Go, so that a task that waits for the
/// quota's next period does not delay all others.
[[nodiscard]] unsigned cpus_to_use(unsigned cpus, unsigned quota);

}  // namespace runq::detail
