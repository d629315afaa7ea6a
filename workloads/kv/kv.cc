// A key-value store that allocates the way Masstree does (Mao, Kohler and Morris, EuroSys 2012):
// a trie of B+-trees, each over eight bytes of the key; every value a block of its own, replaced
// and never changed in place.
//   kv never-frees COUNT   inserts keys and then writes columns of them; replaced values stay
//   kv frees COUNT         writes the same keys again and again; replaced values are freed in
//                          batches, as its epochs do
// All keys come from a generator with a fixed seed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kWidth = 15;  // keys in a node, as in Masstree

// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

// A row: so many columns of eight bytes.
struct Value {
  uint32_t columns;
  uint32_t version;
  uint64_t column[];

  static Value* make(uint32_t columns) {
    auto* value = static_cast<Value*>(malloc(sizeof(Value) + columns * sizeof(uint64_t)));
    if (value == nullptr) abort();
    value->columns = columns;
    value->version = 0;
    return value;
  }
};

struct Node;

// What a key's slice leads to: a value, or the tree of the key's next eight bytes.
struct Link {
  Value* value = nullptr;
  Node* layer = nullptr;
};

// A leaf has links; an inner node has children, one more than keys.
struct Node {
  bool leaf;
  int keys = 0;
  uint64_t slice[kWidth];
  union {
    Link link[kWidth];
    Node* child[kWidth + 1];
  };

  explicit Node(bool is_leaf) : leaf(is_leaf) {
    if (leaf) {
      for (Link& each : link) each = Link();
    } else {
      std::fill(child, child + kWidth + 1, nullptr);
    }
  }
  int upper(uint64_t key) const {
    return static_cast<int>(std::upper_bound(slice, slice + keys, key) - slice);
  }
};

// Splits the full child `at` of a node that has room.
void split(Node* parent, int at) {
  Node* left = parent->child[at];
  Node* right = new Node(left->leaf);
  const int middle = kWidth / 2;
  const int from = left->leaf ? middle : middle + 1;
  right->keys = left->keys - from;
  std::copy(left->slice + from, left->slice + left->keys, right->slice);
  if (left->leaf) {
    std::copy(left->link + from, left->link + left->keys, right->link);
  } else {
    std::copy(left->child + from, left->child + left->keys + 1, right->child);
  }
  const uint64_t separator = left->slice[middle];
  left->keys = middle;
  std::copy_backward(parent->slice + at, parent->slice + parent->keys,
                     parent->slice + parent->keys + 1);
  std::copy_backward(parent->child + at + 1, parent->child + parent->keys + 1,
                     parent->child + parent->keys + 2);
  parent->slice[at] = separator;
  parent->child[at + 1] = right;
  ++parent->keys;
}

// The link of a slice in the tree at *root, made if it is not there.
Link* find(Node** root, uint64_t key) {
  if (*root == nullptr) *root = new Node(true);
  if ((*root)->keys == kWidth) {
    Node* above = new Node(false);
    above->child[0] = *root;
    *root = above;
    split(above, 0);
  }
  Node* node = *root;
  while (!node->leaf) {
    int at = node->upper(key);
    if (node->child[at]->keys == kWidth) {
      split(node, at);
      if (key >= node->slice[at]) ++at;
    }
    node = node->child[at];
  }
  const int at = node->upper(key);
  if (at > 0 && node->slice[at - 1] == key) return &node->link[at - 1];
  std::copy_backward(node->slice + at, node->slice + node->keys, node->slice + node->keys + 1);
  std::copy_backward(node->link + at, node->link + node->keys, node->link + node->keys + 1);
  node->slice[at] = key;
  node->link[at] = Link();
  ++node->keys;
  return &node->link[at];
}

class Store {
 public:
  explicit Store(bool frees) : frees_(frees) {}

  // The place of a key's value. Keys are whole slices, the last one filled with zeros.
  Value** at(const std::string& key) {
    Node** root = &root_;
    Link* link = nullptr;
    for (size_t i = 0; i <= key.size(); i += sizeof(uint64_t)) {
      uint64_t slice = 0;
      std::memcpy(&slice, key.data() + i, std::min(sizeof slice, key.size() - i));
      link = find(root, __builtin_bswap64(slice));
      root = &link->layer;
      if (key.size() - i <= sizeof slice) break;
    }
    return &link->value;
  }

  void put(const std::string& key, uint32_t column, uint32_t columns, uint64_t content) {
    Value** place = at(key);
    Value* old = *place;
    Value* fresh = Value::make(columns);
    if (old != nullptr) {
      std::memcpy(fresh->column, old->column, columns * sizeof(uint64_t));
      fresh->version = old->version + 1;
    } else {
      std::memset(fresh->column, 0, columns * sizeof(uint64_t));
    }
    fresh->column[column] = content;
    *place = fresh;
    sum_ += fresh->version;
    if (old != nullptr && frees_) retire(old);
  }

  uint64_t sum() const { return sum_; }

 private:
  // Readers of other threads could still hold a replaced value, so it is freed some time later.
  void retire(Value* value) {
    limbo_.push_back(value);
    if (limbo_.size() < kEpoch) return;
    for (Value* each : limbo_) free(each);
    limbo_.clear();
  }

  static constexpr size_t kEpoch = 256;
  bool frees_;
  Node* root_ = nullptr;
  std::vector<Value*> limbo_;
  uint64_t sum_ = 0;
};

// Decimal keys of one or two slices, as Masstree's own tests make them.
std::string decimal(uint64_t number) {
  return std::to_string(number % 10000000000u);
}

// Inserts rows of ten columns, then writes one column of each a few times over.
uint64_t never_frees(size_t count) {
  constexpr uint32_t kColumns = 10;
  Store store(false);
  Generator generator(31949);
  std::vector<uint64_t> keys(count);
  for (uint64_t& key : keys) {
    key = generator.next();
    store.put(decimal(key), 0, kColumns, key);
  }
  for (int round = 0; round < 4; ++round) {
    for (uint64_t key : keys) {
      const uint64_t draw = generator.next();
      store.put(decimal(key), static_cast<uint32_t>(draw % kColumns), kColumns, draw);
    }
  }
  return store.sum();
}

// Writes the values of few keys in any order.
uint64_t frees(size_t count) {
  constexpr size_t kKeys = 10000;
  Store store(true);
  Generator generator(31949);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t draw = generator.next();
    store.put(decimal(draw % kKeys * 982451653u), 0, 1, draw);
  }
  return store.sum();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc == 3 ? argv[1] : "";
  const long count = argc == 3 ? std::atol(argv[2]) : 0;
  if (count < 1 || (how != "never-frees" && how != "frees")) {
    std::fprintf(stderr, "usage: kv never-frees|frees COUNT\n");
    return 2;
  }
  const auto n = static_cast<size_t>(count);
  const uint64_t sum = how == "frees" ? frees(n) : never_frees(n);
  std::printf("%s %ld: %llu replaced\n", how.c_str(), count, static_cast<unsigned long long>(sum));
  return 0;
}
