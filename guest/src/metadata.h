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

  // Makes sure that `count` objects more can be taken, those that were given back not counted. The
  // memory is not touched before it is used. False when there is none.
  bool reserve(size_t count) {
    const size_t bytes = sizeof(Chunk) + count * sizeof(T);
    Chunk* chunk = static_cast<Chunk*>(metadata_alloc(bytes));
    if (chunk == nullptr) return false;
    *chunk = Chunk{chunks_, reinterpret_cast<char*>(chunk + 1), count};
    chunks_ = chunk;
    return true;
  }

  // A value-initialised T, or null when there is no memory.
  T* take() {
    void* memory = free_;
    if (memory != nullptr) {
      free_ = *static_cast<void**>(memory);
    } else {
      if (chunks_ == nullptr && !reserve(1)) return nullptr;
      memory = chunks_->first;
      chunks_->first += sizeof(T);
      if (--chunks_->left == 0) chunks_ = chunks_->next;
    }
    return new (memory) T{};
  }

  void give(T* object) {
    *reinterpret_cast<void**>(object) = free_;
    free_ = object;
  }

 private:
  struct alignas(alignof(T) > alignof(void*) ? alignof(T) : alignof(void*)) Chunk {
    Chunk* next;
    char* first;
    size_t left;  // never 0 in the list
  };

  void* free_ = nullptr;
  Chunk* chunks_ = nullptr;
};

}  // namespace mallacc
