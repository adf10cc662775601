// SPDX-License-Identifier: MIT
// What the checker uses of MPI, as a module that is loaded only into what mpirun has started.
#pragma once

#include <cstddef>

namespace runq::model::compiled {

struct mpi_module {
  /// Returns 0, or MPI's error code.
  int (*start)(int* rank, int* ranks);
  void (*send)(int to, const char* text, std::size_t size);
  /// The size of a message that has come, and its sender; -1 if none has come.
  long (*arrived)(int* from);
  void (*receive)(int from, char* text, std::size_t size);
  void (*finish)();
};

}  // namespace runq::model::compiled

/// The table of the module librunq_check_mpi.so.
extern "C" const runq::model::compiled::mpi_module runq_mpi;
