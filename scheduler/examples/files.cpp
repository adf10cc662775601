// SPDX-License-Identifier: MIT
// Reads a tree of files with one task per file. Files cannot be polled, so a read blocks its thread. runq::blocking()
// lets the other tasks go on meanwhile.
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <runq/runq.hpp>
#include <stdlib.h>

namespace fs = std::filesystem;

namespace {

constexpr int folders = 10;
constexpr int files_each = 20;

// The i-th file has i + 1 bytes in each folder.
void make_tree(const fs::path& root) {
  for (int d = 0; d != folders; ++d) {
    const fs::path folder = root / ("folder" + std::to_string(d));
    fs::create_directory(folder);
    for (int i = 0; i != files_each; ++i) {
      std::ofstream(folder / ("file" + std::to_string(i))) << std::string(static_cast<std::size_t>(i) + 1, 'x');
    }
  }
}

runq::task<> read_file(fs::path file, std::atomic<long>& bytes, runq::wait_group& group) {
  bytes += co_await runq::blocking([&] {
    std::ifstream in(file, std::ios::binary);
    return static_cast<long>(std::string(std::istreambuf_iterator<char>(in), {}).size());
  });
  group.done();
}

runq::task<long> read_tree(fs::path root) {
  std::atomic<long> bytes{0};
  runq::wait_group group;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    group.add(1);
    runq::go(read_file(entry.path(), bytes, group), "reader");
  }
  co_await group.wait();
  co_return bytes;
}

}  // namespace

int main() {
  std::string name = (fs::temp_directory_path() / "runq_files_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  make_tree(name);
  const long bytes = runq::run(read_tree(name));
  fs::remove_all(name);
  std::printf("%d files with %ld bytes\n", folders * files_each, bytes);
  return bytes == folders * files_each * (files_each + 1) / 2 ? 0 : 1;
}
