// SPDX-License-Identifier: MIT
// A worker waits for a job. WAY 1: a second at most, and nobody notifies it, so only the limit of time lets it look for
// the job. WAY 2: without a limit, and who brings the job sleeps before, and notifies it. For power_test.py, which asks
// for --timeouts, too.
//
// check -DWAY=1: none fails
// check -DWAY=2: none fails
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex lock;
std::condition_variable job_came;
std::condition_variable job_done;
bool has_job = false;
bool is_done = false;

int main() {
  std::thread worker([] {
    std::unique_lock held(lock);
    while (!has_job) {
      if (WAY == 1) {
        job_came.wait_for(held, std::chrono::seconds(1));
      } else {
        job_came.wait(held);
      }
    }
    is_done = true;
    job_done.notify_one();
  });
  if (WAY == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  {
    std::unique_lock held(lock);
    has_job = true;
    if (WAY == 2) job_came.notify_one();
    while (!is_done) job_done.wait(held);
  }
  worker.join();
}
