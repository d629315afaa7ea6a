#include "thread_cache.h"

#include "central_list.h"
#include "mallacc.h"
#include "thread_registry.h"

namespace mallacc {

__thread ThreadState t_state;

void ThreadCache::open(uint64_t stream) {
  for (FreeList& list : lists) list.max_length = 1;
  sampler.open(stream);
  bytes_until_sample = sampler.draw();
}

void ThreadCache::sample(size_t bytes) {
  Sampler::record(bytes);
  bytes_until_sample = sampler.draw();
}

void* ThreadCache::fetch(size_t cls) {
  FreeList& list = lists[cls];
  const uint32_t batch = shape(cls).batch;
  const uint32_t wanted = list.max_length < batch ? list.max_length : batch;
  Batch chain;
  const size_t got = g_central[cls].fetch(cls, wanted, &chain);
  if (got == 0) return nullptr;
  void* object = chain.head;
  list.head = *static_cast<void**>(object);
  list.length = static_cast<uint32_t>(got - 1);
  size += list.length * class_bytes(cls);
  // Slow start: a list that runs dry may become longer.
  if (list.max_length < batch) {
    ++list.max_length;
  } else {
    const uint32_t longer = list.max_length + batch;
    const uint32_t most = longer < kMaxListLength ? longer : kMaxListLength;
    list.max_length = most - most % batch;
  }
  return object;
}

void ThreadCache::trim(size_t cls) {
  const FreeList& list = lists[cls];
  if (list.length > list.max_length) list_too_long(cls);
  if (size >= limit.load(std::memory_order_relaxed)) scavenge();
}

void ThreadCache::list_too_long(size_t cls) {
  FreeList& list = lists[cls];
  const uint32_t batch = shape(cls).batch;
  release(cls, batch);
  if (list.max_length < batch) {
    ++list.max_length;
  } else if (list.max_length > batch && ++list.overages > kMaxOverages) {
    list.max_length -= batch;
    list.overages = 0;
  }
}

// Returns half of what each list has not needed since the last time, and asks for a higher limit.
void ThreadCache::scavenge() {
  for (size_t cls = 1; cls < kClassCount; ++cls) {
    FreeList& list = lists[cls];
    if (list.low_water > 0) {
      release(cls, list.low_water > 1 ? list.low_water / 2 : 1);
      const uint32_t batch = shape(cls).batch;
      if (list.max_length > batch) {
        list.max_length = list.max_length - batch > batch ? list.max_length - batch : batch;
      }
    }
    list.low_water = list.length;
  }
  registry::raise_limit(this);
}

// Releases up to `count` objects from the front of a list, in batches.
void ThreadCache::release(size_t cls, size_t count) {
  FreeList& list = lists[cls];
  if (count > list.length) count = list.length;
  if (count == 0) return;
  MALLACC_INVALIDATE(cls);
  size -= count * class_bytes(cls);
  const size_t batch = shape(cls).batch;
  while (count > 0) {
    const size_t part = count < batch ? count : batch;
    Batch chain{list.head, list.head};
    for (size_t i = 1; i < part; ++i) chain.tail = *static_cast<void**>(chain.tail);
    list.head = *static_cast<void**>(chain.tail);
    *static_cast<void**>(chain.tail) = nullptr;
    list.length -= static_cast<uint32_t>(part);
    g_central[cls].release(cls, part, chain);
    count -= part;
  }
  if (list.length < list.low_water) list.low_water = list.length;
}

void ThreadCache::empty_all() {
  for (size_t cls = 1; cls < kClassCount; ++cls) release(cls, lists[cls].length);
  MALLACC_FLUSH();
}

}  // namespace mallacc
