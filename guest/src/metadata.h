// Memory for the allocator's own structures: spans, pagemap nodes, thread caches. It is carved from
// mappings of its own and never given back; a pool keeps a free list of one type's objects.
#pragma once

#include <new>

#include "lock.h"

namespace mallacc {

// Zeroed, aligned to 64 bytes (a cache line). Null when the operating system refuses. Thread-safe.
void* metadata_alloc(size_t bytes);
// Bytes handed out so far.
size_t metadata_bytes();
// For fork(): no other thread may hold the lock while the address space is copied.
Lock& metadata_lock();

// Objects of one type; the caller holds a lock that belongs to the pool.
template <typename T>
class Pool {
 public:
  constexpr Pool() = default;

  // A value-initialised T, or null when there is no memory.
  T* take() {
    void* memory = free_;
    if (memory != nullptr) {
      free_ = *static_cast<void**>(memory);
    } else {
      memory = carve();
      if (memory == nullptr) return nullptr;
    }
    return new (memory) T{};
  }

  void give(T* object) {
    *reinterpret_cast<void**>(object) = free_;
    free_ = object;
  }

 private:
  static constexpr size_t kChunk = sizeof(T) < 4096 ? 16 * 1024 : sizeof(T);

  void* carve() {
    if (left_ < sizeof(T)) {
      chunk_ = static_cast<char*>(metadata_alloc(kChunk));
      left_ = chunk_ == nullptr ? 0 : kChunk;
      if (chunk_ == nullptr) return nullptr;
    }
    void* memory = chunk_;
    chunk_ += sizeof(T);
    left_ -= sizeof(T);
    return memory;
  }

  void* free_ = nullptr;
  char* chunk_ = nullptr;
  size_t left_ = 0;
};

}  // namespace mallacc
