// SPDX-License-Identifier: MIT
// Each thread has a resolver's state of its own: names are looked up in the main thread and in those that it starts.
// check: passes
#include <cassert>
#include <thread>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>

void look_up(const char* name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  assert(getaddrinfo(name, "80", &hints, &found) == 0);
  assert(reinterpret_cast<sockaddr_in*>(found->ai_addr)->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
  freeaddrinfo(found);
}

int main() {
  look_up("127.0.0.1");
  for (int i = 0; i != 2; ++i) {
    res_state of_first = nullptr;
    std::thread first([&] {
      look_up("127.0.0.1");
      look_up("localhost");
      of_first = &_res;
    });
    res_state of_second = nullptr;
    std::thread second([&] {
      look_up("localhost");
      of_second = &_res;
    });
    first.join();
    second.join();
    assert(of_first != of_second && of_first != &_res && of_second != &_res);
  }
}
