// A thread's own free lists, one per size class: where nearly all allocations begin and end.
//
// Only its thread touches the lists. Other threads touch nothing but the limit, which the registry
// moves between caches. The inline part of allocation and deallocation is in fast_path.h.
#pragma once

#include <atomic>

#include "base.h"
#include "sampler.h"
#include "size_classes.h"

namespace mallacc {

struct FreeList {
  void* head;
  uint32_t length;
  uint32_t low_water;  // least length since the last scavenge: so many were not needed
  uint32_t max_length;
  uint32_t overages;  // how often length exceeded max_length
};

class alignas(64) ThreadCache {
 public:
  // For the fast path.
  size_t size;                // bytes in all lists
  std::atomic<size_t> limit;  // scavenge when size reaches it; moved by the registry
  size_t bytes_until_sample;
  Sampler sampler;
  // The registry's circular list.
  ThreadCache* next;
  ThreadCache* prev;
  FreeList lists[kClassCount];

  void open(uint64_t stream);

  // The list of `cls` is empty: fetches objects, returns the first and keeps the others. Null when
  // memory runs out. The pop that found the list empty has marked it as changed.
  void* fetch(size_t cls);
  // After a push: a list is above its length, or the cache above its limit.
  void trim(size_t cls);
  // Releases every object: the thread ends.
  void empty_all();
  // Counts a sample of `bytes` and draws the next gap.
  void sample(size_t bytes);

 private:
  void list_too_long(size_t cls);
  void scavenge();
  void release(size_t cls, size_t count);
};

// What the fast path reads of its thread. `small_limit` is 0 while there is no cache: one
// comparison tells small requests of a thread with a cache from everything else.
struct ThreadState {
  ThreadCache* cache;
  size_t small_limit;
  bool ended;  // the cache was returned; the thread lives on without one
};
extern __thread ThreadState t_state
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

}  // namespace mallacc
