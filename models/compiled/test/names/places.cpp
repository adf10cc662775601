// SPDX-License-Identifier: MIT
// Two threads write the same place, another one in each execution. What the checker calls it stands behind the line;
// the source must not help, so most lines name nothing that is written. `new@NODE` is what the line with that mark
// allocates, `new@*` is allocated by a line of which g++ says nothing right.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

extern "C" int __VERIFIER_nondet_int();

struct slot {
  long sequence;
  int turn;
};
template <class T, int N>
struct ring {
  long head_;
  slot slots_[N];
  T last_;
};
struct node {
  node* next;
  int keys[2];
};
struct kept {
  ~kept() { keys[0] = -1; }
  short keys[4];
};
struct four_bytes {
  ~four_bytes() { value = -1; }
  int value;
};
union word {
  std::uint64_t whole;
  struct {
    std::uint32_t low, high;
  } parts;
};
union either {
  int number;
  float fraction;
};
struct mixed {
  int first;
  either one;
  union {
    std::int64_t large;
    char small[8];
  };
  struct {
    int x, y;
  };
};
struct empty {};
struct first_base {
  int of_first;
};
struct second_base {
  int of_second;
};
struct derived : empty, first_base, second_base {
  char own;
  int numbers[2];
};
struct shape {
  virtual ~shape() = default;
  int side = 0;
};
struct square : shape {
  int color = 0;
};
struct flags {
  int before;
  unsigned low : 3, high : 5;
  unsigned : 0;
  unsigned last : 7;
};
typedef struct {
  int left, right;
} plain_pair;
struct alignas(64) line_of_cache {
  int front, back;
};
struct open_end {
  long count;
  int data[];
};
enum class color : short { red, green };
struct guarded {
  int before;
  std::mutex lock;
  color kind;
};
struct labelled : empty {
  int number;
};
namespace one {
struct twin {
  int left, right;
};
}  // namespace one
namespace other {
struct twin {
  int up, down;
};
}  // namespace other
namespace deep {
static ring<int, 2> inner;
}

int counter;
ring<int, 4> queue;
int grid[2][3];
plain_pair table[2][2];
word words[2];
mixed mixture;
either lonely;
derived object;
square box;
flags bits;
std::array<slot, 3> places;
std::pair<int, slot> both;
guarded guard;
node* first;
slot* several;
kept* counted;
four_bytes* fours;
std::unique_ptr<slot[]> owned;
std::unique_ptr<node> alone;
std::shared_ptr<node> shared;
std::vector<plain_pair> growing;
node* from_c;
plain_pair* zeros;
open_end* end_unknown;
int* numbers;
labelled label;
one::twin* twin;
other::twin unlike;
plain_pair* doomed;
plain_pair wide;
int chosen;

int& static_of_function() {
  static slot inside[2];
  return inside[1].turn;
}

/// The type is an argument of the template.
template <class T>
T* made_by_argument() {
  return new T();  // line: T
}

using renamed = node;
renamed* by_other_name;
ring<int, 4>* by_argument;

/// Local variables that need more alignment than a call gives the stack.
struct aligned_locals {
  line_of_cache& one;
  line_of_cache (&many)[80];
  line_of_cache& beside_alloca;
};

void touch(slot& local, int (&locals)[3], aligned_locals aligned, bool is_other) {
  switch (chosen) {
    case 0: (&counter)[0] = 1; break;                                          // counter
    case 1: (&queue.slots_[2].turn)[0] = 1; break;                             // queue.slots_[2].turn
    case 2: (&queue.slots_[0].sequence)[0] = 1; break;                         // queue.slots_[0].sequence
    case 3: (&queue.last_)[0] = 1; break;                                      // queue.last_
    case 4: (&queue.head_)[0] = 1; break;                                      // queue.head_
    case 5: (&grid[1][2])[0] = 1; break;                                       // grid[1][2]
    case 6: (&table[1][0].right)[0] = 1; break;                                // table[1][0].right
    case 7: (&words[1].parts.high)[0] = 1; break;                              // words[1].parts.high
    case 8: (&words[1].parts.low)[0] = 1; break;                               // words[1].parts.low
    case 9: (&words[0].whole)[0] = 1; break;                                   // words[0].whole
    case 10: (&mixture.one.number)[0] = 1; break;                              // mixture.one
    case 11: (&mixture.large)[0] = 1; break;                                   // mixture.large
    case 12: (&mixture.small[3])[0] = 1; break;                                // mixture.small[3]
    case 13: (&mixture.y)[0] = 1; break;                                       // mixture.y
    case 14: (&lonely.number)[0] = 1; break;                                   // lonely
    case 15: (&object.of_first)[0] = 1; break;                                 // object.of_first
    case 16: (&object.of_second)[0] = 1; break;                                // object.of_second
    case 17: (&object.own)[0] = 1; break;                                      // object.own
    case 18: (&object.numbers[1])[0] = 1; break;                               // object.numbers[1]
    case 19: (&box.side)[0] = 1; break;                                        // box.side
    case 20: (&box.color)[0] = 1; break;                                       // box.color
    case 21: bits.high = 1; break;                                             // bits.(low, high)
    case 22: bits.last = 1; break;                                             // bits.last
    case 23: (&places[1].turn)[0] = 1; break;                                  // places[1].turn
    case 24: (&both.second.turn)[0] = 1; break;                                // both.second.turn
    case 25: (&guard.kind)[0] = color::green; break;                           // guard.kind
    case 26: (&deep::inner.slots_[1].turn)[0] = 1; break;                      // deep::inner.slots_[1].turn
    case 27: (&static_of_function())[0] = 1; break;                            // static_of_function()::inside[1].turn
    case 28: (&first->keys[1])[0] = 1; break;                                  // new@NODE.keys[1]
    case 29: (&first->next)[0] = nullptr; break;                               // new@NODE.next
    case 30: (&several[2].turn)[0] = 1; break;                                 // new@SLOTS[2].turn
    case 31: (&counted[1].keys[3])[0] = 1; break;                              // new@COUNTED[1].keys[3]
    case 32: (&fours[2].value)[0] = 1; break;                                  // new@FOURS[2].value
    case 33: (&owned[1].turn)[0] = 1; break;                                   // new@OWNED[1].turn
    case 34: (&alone->keys[0])[0] = 1; break;                                  // new@ALONE.keys[0]
    case 35: (&growing[1].right)[0] = 1; break;                                // new@*[1].right
    case 36: (&from_c->keys[1])[0] = 1; break;                                 // new@FROM_C.keys[1]
    case 37: (&zeros[2].left)[0] = 1; break;                                   // new@ZEROS[2].left
    case 38: (&end_unknown->data[2])[0] = 1; break;                            // new@OPEN.data[2]
    case 39: (&numbers[3])[0] = 1; break;                                      // new@NUMBERS[3]
    case 40: (&by_other_name->keys[0])[0] = 1; break;                          // new@RENAMED.keys[0]
    case 41: (&by_argument->slots_[3].turn)[0] = 1; break;                     // new@T.slots_[3].turn
    case 42: (&local.turn)[0] = 1; break;                                      // local.turn
    case 43: (&locals[1])[0] = 2; break;                                       // locals[1]
    case 44: (&shared->keys[1])[0] = 1; break;                                 // new@SHARED.keys[1]
    case 45: reinterpret_cast<char*>(&label.number)[0] = 1; break;             // label.number
    case 46: (&twin->right)[0] = 1; break;                                     // new@TWIN+4
    case 47: is_other ? delete doomed : void((&doomed->right)[0] = 1); break;  // new@DOOMED.right
    case 48: is_other ? void((&wide)[0] = {}) : void((&wide.right)[0] = 1); break;  // wide.right
    case 49: (&aligned.one.back)[0] = 2; break;                                     // in one step: aligned.back
    case 50: (&aligned.many[70].back)[0] = 2; break;                                // in one step: many[70].back
    case 51: (&aligned.beside_alloca.back)[0] = 2; break;                           // local of T0
    default: break;
  }
}

/// Its frame is more than a page.
void run(slot& local, int (&locals)[3], line_of_cache& beside_alloca) {
  line_of_cache aligned{};
  line_of_cache many[80] = {};
  const aligned_locals all{aligned, many, beside_alloca};
  std::thread first_one([&] { touch(local, locals, all, false); });
  std::thread second([&] { touch(local, locals, all, true); });
  first_one.join();
  second.join();
}

/// How far its variables lie from where its stack begins is in a register.
void run_beside_alloca(slot& local, int (&locals)[3], unsigned size) {
  line_of_cache beside_alloca{};
  char* const more = static_cast<char*>(__builtin_alloca(size));
  more[0] = 1;
  run(local, locals, beside_alloca);
  local.sequence += more[0];
}

int main() {
  slot local{};
  int locals[3] = {};
  chosen = __VERIFIER_nondet_int();
  first = new node{};                   // line: NODE
  several = new slot[3];                // line: SLOTS
  counted = new kept[3];                // line: COUNTED
  fours = new four_bytes[3];            // line: FOURS
  owned = std::make_unique<slot[]>(2);  // line: OWNED
  alone = std::make_unique<node>();     // line: ALONE
  shared = std::make_shared<node>();    // line: SHARED
  growing = std::vector<plain_pair>(2);
  from_c = static_cast<node*>(std::malloc(sizeof(node)));                    // line: FROM_C
  zeros = static_cast<plain_pair*>(std::calloc(3, sizeof(plain_pair)));      // line: ZEROS
  end_unknown = static_cast<open_end*>(std::malloc(sizeof(open_end) + 12));  // line: OPEN
  numbers = new int[4];                                                      // line: NUMBERS
  by_other_name = new renamed();                                             // line: RENAMED
  by_argument = made_by_argument<ring<int, 4>>();
  twin = new one::twin{unlike.up, 0};  // line: TWIN
  doomed = new plain_pair();           // line: DOOMED
  run_beside_alloca(local, locals, chosen < 0 ? 8 : 80);
  delete first;
  delete[] several;
  delete[] counted;
  delete[] fours;
  owned.reset();
  alone.reset();
  shared.reset();
  growing = {};
  std::free(from_c);
  std::free(zeros);
  std::free(end_unknown);
  delete[] numbers;
  delete by_other_name;
  delete by_argument;
  delete twin;
  if (chosen != 47) delete doomed;
}
