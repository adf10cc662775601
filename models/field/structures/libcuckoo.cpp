// SPDX-License-Identifier: MIT
// Structures of libcuckoo: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_cuckoo_map
// libcuckoo::cuckoohash_map, which locks the two buckets that a key may be in.
#include <libcuckoo/cuckoohash_map.hh>
#include <optional>

#include "../field.hpp"

class map {
 public:
  bool insert(int key, int value) { return map_.insert(key, value); }
  std::optional<int> find(int key) {
    int value = 0;
    return map_.find(key, value) ? std::optional<int>(value) : std::nullopt;
  }
  bool erase(int key) { return map_.erase(key); }

 private:
  libcuckoo::cuckoohash_map<int, int> map_{4};
};
class specification {
 public:
  bool insert(int key, int value) { return inside_.insert(key, value); }
  [[nodiscard]] std::optional<int> find(int key) const { return inside_.find(key); }
  bool erase(int key) { return inside_.erase(key).has_value(); }

 private:
  runq::spec::map<int, int> inside_;
};

static auto make_test() {
  runq::linearizable<map, specification> test;
  test.operation("insert", RUNQ_CODE([](auto& m, int key, int value) { return m.insert(key, value); }), 1, runq::fresh);
  test.operation("find", RUNQ_CODE([](auto& m, int key) { return m.find(key); }), 1);
  test.operation("erase", RUNQ_CODE([](auto& m, int key) { return m.erase(key); }), 1);
  return test;
}

RUNQ_FIELD(make_test)
#endif
