#include "pagemap.h"

#include "metadata.h"

namespace mallacc {

ClassCache g_class_cache;

bool Pagemap::reserve(uintptr_t page, size_t count) {
  if ((page + count - 1) >> kPageBits != 0) return false;
  for (uintptr_t p = page & ~kLeafMask; p < page + count; p += kLeafMask + 1) {
    std::atomic<Node*>& node_slot = root_[p >> (kNodeBits + kLeafBits)];
    Node* node = node_slot.load(std::memory_order_relaxed);
    if (node == nullptr) {
      node = static_cast<Node*>(metadata_alloc(sizeof(Node)));
      if (node == nullptr) return false;
      node_slot.store(node, std::memory_order_release);
    }
    std::atomic<Leaf*>& leaf_slot = node->leaves[p >> kLeafBits & kNodeMask];
    if (leaf_slot.load(std::memory_order_relaxed) == nullptr) {
      Leaf* leaf = static_cast<Leaf*>(metadata_alloc(sizeof(Leaf)));
      if (leaf == nullptr) return false;
      leaf_slot.store(leaf, std::memory_order_release);
    }
  }
  return true;
}

}  // namespace mallacc
