// From a pointer to its span and size class.
//
// Two structures. The class cache answers the fast path of free(): 65,536 packed words, indexed by
// the low 16 bits of the page id; a word holds the other bits of the page id and the class. What it
// does not know, the pagemap does: a radix tree of three levels over all page ids. Both are read
// without a lock: an object that is being freed keeps its span, so its entries do not change.
#pragma once

#include <atomic>

#include "base.h"
#include "span.h"

namespace mallacc {

constexpr size_t kCacheBits = 16;
constexpr uintptr_t kCacheMask = (uintptr_t{1} << kCacheBits) - 1;
constexpr uintptr_t kClassMask = 0x7f;  // 7 bits hold a class
static_assert(kClassCount <= kClassMask + 1);

struct ClassCache {
  std::atomic<uintptr_t> words[kCacheMask + 1];
};
extern ClassCache g_class_cache __attribute__((visibility("hidden")));

// The class of a page, or 0: unknown, or a large object, or no page of ours.
ALWAYS_INLINE size_t cached_class(uintptr_t page) {
  const uintptr_t word = g_class_cache.words[page & kCacheMask].load(std::memory_order_relaxed);
  return LIKELY((word ^ page) <= kCacheMask) ? word & kClassMask : 0;
}

inline void cache_class(uintptr_t page, size_t cls) {
  g_class_cache.words[page & kCacheMask].store((page & ~kCacheMask) | cls,
                                               std::memory_order_relaxed);
}

inline uintptr_t page_of(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) >> kPageShift;
}

class Pagemap {
 public:
  constexpr Pagemap() = default;

  // Makes room for [page, page + count). False when there is no memory. Page heap lock held.
  bool reserve(uintptr_t page, size_t count);

  // Room must have been reserved.
  void set(uintptr_t page, Span* span) {
    leaf_of(page)->spans[page & kLeafMask].store(span, std::memory_order_relaxed);
  }

  // The span that was set, or null.
  Span* get(uintptr_t page) const {
    if (page >> kPageBits != 0) return nullptr;
    const Node* node = root_[page >> (kNodeBits + kLeafBits)].load(std::memory_order_acquire);
    if (node == nullptr) return nullptr;
    const Leaf* leaf = node->leaves[page >> kLeafBits & kNodeMask].load(std::memory_order_acquire);
    return leaf == nullptr ? nullptr
                           : leaf->spans[page & kLeafMask].load(std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kPageBits = kAddressBits - kPageShift;
  static constexpr size_t kRootBits = 12, kNodeBits = 12;
  static constexpr size_t kLeafBits = kPageBits - kRootBits - kNodeBits;
  static constexpr uintptr_t kNodeMask = (uintptr_t{1} << kNodeBits) - 1;
  static constexpr uintptr_t kLeafMask = (uintptr_t{1} << kLeafBits) - 1;

  struct Leaf {
    std::atomic<Span*> spans[size_t{1} << kLeafBits];
  };
  struct Node {
    std::atomic<Leaf*> leaves[size_t{1} << kNodeBits];
  };

  Leaf* leaf_of(uintptr_t page) {
    return root_[page >> (kNodeBits + kLeafBits)]
        .load(std::memory_order_relaxed)
        ->leaves[page >> kLeafBits & kNodeMask]
        .load(std::memory_order_relaxed);
  }

  std::atomic<Node*> root_[size_t{1} << kRootBits]{};
};

}  // namespace mallacc
