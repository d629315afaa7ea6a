// The fast paths of allocation and deallocation, inlined into the entry points.
//
// Without markers malloc() executes 35 instructions when it finds an object in the thread cache,
// free() 35; guest/tests/check_code.py counts them in the library. Everything else is in
// slow_path.h and is reached by a jump, so no register needs saving here.
//
// kLast: the entry point returns what this returns, so CALL_END is emitted here. Otherwise the
// entry point has more to do and ends the call itself.
#pragma once

#include "hooks.h"
#include "mallacc.h"
#include "pagemap.h"
#include "slow_path.h"
#include "thread_cache.h"

namespace mallacc {

struct SizedClass {
  size_t bytes;
  size_t cls;
};

// size: at most kMaxSmallSize.
ALWAYS_INLINE SizedClass look_up(size_t& size) {
  MALLACC_LOOKUP(size);
  // Both forms of class_index(), then a conditional move: which one it is cannot be predicted.
  size_t index = fine_index(size);
  size_t coarse = coarse_index(size);
  MALLACC_TIE(index);
  MALLACC_TIE(coarse);
  if (size > kFineLimit) index = coarse;
  size_t cls = kClasses.class_of[index];
  size_t bytes = kClasses.bytes[cls];
  MALLACC_UPDATE(size, bytes, cls);
  return {bytes, cls};
}

// Takes the first object of a list. False when the list is empty; the INVALIDATE that ends the
// region has been executed then. References, because a tied variable must not live on in a second
// register.
ALWAYS_INLINE bool pop(ThreadCache*& cache, size_t& cls, size_t bytes, void** object) {
  FreeList* list = &cache->lists[cls];
  MALLACC_POP(cls, list);
  void* head = list->head;
  if (UNLIKELY(head == nullptr)) {
    MALLACC_INVALIDATE(cls);
    return false;
  }
  void* next = *static_cast<void**>(head);
  MALLACC_POP_END(head, next, list);
  MALLACC_TIE(cache);
  list->head = next;
  cache->size -= bytes;
  const uint32_t length = list->length - 1;
  list->length = length;
  if (UNLIKELY(length < list->low_water)) list->low_water = length;
  MALLACC_PREFETCH(cls, head, next);
  *object = head;
  return true;
}

template <OnFailure kOnFailure, bool kLast>
ALWAYS_INLINE void* allocate(size_t size) {
  if (UNLIKELY(size >= t_state.small_limit)) return allocate_slow<kOnFailure, kLast>(size);
  ThreadCache* cache = t_state.cache;
  MALLACC_TIE(cache);
  SizedClass found = look_up(size);

  MALLACC_SAMPLE(found.bytes, cache);
  const size_t left = cache->bytes_until_sample;
  if (UNLIKELY(found.bytes > left)) {
    // Taking a sample is no part of the check.
    MALLACC_SAMPLE_END(cache->bytes_until_sample);
    return allocate_sampled<kOnFailure, kLast>(cache, found.cls, size);
  }
  cache->bytes_until_sample = left - found.bytes;
  MALLACC_SAMPLE_END(cache->bytes_until_sample);

  void* object;
  if (UNLIKELY(!pop(cache, found.cls, found.bytes, &object))) {
    return allocate_refill<kOnFailure, kLast>(cache, found.cls, size);
  }
  if (UNLIKELY(g_hooks.on_new.load(std::memory_order_relaxed) != nullptr)) {
    return allocate_hooked<kLast>(object, size);
  }
  if (kLast) MALLACC_CALL_END(object);
  return object;
}

template <bool kLast>
ALWAYS_INLINE void push(ThreadCache* cache, size_t& cls, size_t bytes, void*& object) {
  const size_t size = cache->size + bytes;
  MALLACC_PUSH(cls, object);
  FreeList* list = &cache->lists[cls];
  *static_cast<void**>(object) = list->head;
  list->head = object;
  const uint32_t length = list->length + 1;
  list->length = length;
  cache->size = size;
  if (UNLIKELY(length > list->max_length) ||
      UNLIKELY(size >= cache->limit.load(std::memory_order_relaxed))) {
    return deallocate_overflow<kLast>(cache, cls, object);
  }
  if (kLast) MALLACC_CALL_END(object);
}

// A null pointer has no class and goes the slow way.
template <bool kLast>
ALWAYS_INLINE void deallocate(void* object) {
  if (UNLIKELY(g_hooks.on_delete.load(std::memory_order_relaxed) != nullptr)) {
    return deallocate_slow<kLast>(object);
  }
  size_t cls = cached_class(page_of(object));
  if (UNLIKELY(cls == 0)) return deallocate_slow<kLast>(object);
  ThreadCache* cache = t_state.cache;
  if (UNLIKELY(cache == nullptr)) return deallocate_slow<kLast>(object);
  push<kLast>(cache, cls, class_bytes(cls), object);
}

// The caller knows the size that it asked for: no look at the page.
template <bool kLast>
ALWAYS_INLINE void deallocate_sized(void* object, size_t size) {
  if (UNLIKELY(g_hooks.on_delete.load(std::memory_order_relaxed) != nullptr) ||
      UNLIKELY(object == nullptr) || UNLIKELY(size >= t_state.small_limit)) {
    return deallocate_slow<kLast>(object);
  }
  ThreadCache* cache = t_state.cache;
  MALLACC_TIE(cache);
  SizedClass found = look_up(size);
  push<kLast>(cache, found.cls, found.bytes, object);
}

}  // namespace mallacc
