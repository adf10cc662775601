// SPDX-License-Identifier: MIT
#include "mpi_module.hpp"

#include <mpi.h>

namespace {

using runq::model::compiled::mpi_module;

constexpr int tag = 0;

int start(int* rank, int* ranks) {
  const int refused = MPI_Init(nullptr, nullptr);
  if (refused != MPI_SUCCESS) return refused;
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, ranks);
  return 0;
}

void send(int to, const char* text, std::size_t size) {
  MPI_Send(text, static_cast<int>(size), MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

long arrived(int* from) {
  int there = 0;
  int size = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return -1;
  MPI_Get_count(&status, MPI_CHAR, &size);
  *from = status.MPI_SOURCE;
  return size;
}

void receive(int from, char* text, std::size_t size) {
  MPI_Recv(text, static_cast<int>(size), MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void finish() { MPI_Finalize(); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const mpi_module runq_mpi = {start, send, arrived, receive, finish};
