#include "slow_path.h"

#include <string.h>

#include "central_list.h"
#include "fast_path.h"
#include "large.h"
#include "out_of_memory.h"
#include "page_heap.h"
#include "thread_registry.h"

namespace mallacc {
namespace {

ThreadCache* cache_or_create() {
  return LIKELY(t_state.cache != nullptr) ? t_state.cache : registry::create();
}

void check_sample(ThreadCache* cache, size_t bytes) {
  MALLACC_SAMPLE(bytes, cache);
  const bool taken = bytes > cache->bytes_until_sample;
  if (LIKELY(!taken)) cache->bytes_until_sample -= bytes;
  MALLACC_SAMPLE_END(cache->bytes_until_sample);
  if (UNLIKELY(taken)) cache->sample(bytes);
}

// For a thread without a cache.
void* allocate_central(size_t cls) {
  Batch chain;
  return g_central[cls].fetch(cls, 1, &chain) == 1 ? chain.head : nullptr;
}

void deallocate_central(size_t cls, void* object) {
  *static_cast<void**>(object) = nullptr;
  g_central[cls].release(cls, 1, Batch{object, object});
}

void* allocate_class(ThreadCache* cache, size_t cls) {
  if (cache == nullptr) return allocate_central(cls);
  const size_t bytes = class_bytes(cls);
  check_sample(cache, bytes);
  void* object;
  return pop(cache, cls, bytes, &object) ? object : cache->fetch(cls);
}

void* try_large(size_t size, bool* zeroed) {
  ThreadCache* cache = cache_or_create();
  if (cache != nullptr) check_sample(cache, size);
  return large::allocate(size, zeroed);
}

void* try_allocate(size_t size) {
  if (size > kMaxSmallSize) return try_large(size, nullptr);
  return allocate_class(cache_or_create(), class_of(size));
}

// Objects of a class lie at multiples of its size from the start of a span: the first class whose
// size is a multiple of the alignment will do.
void* try_aligned(size_t align, size_t size) {
  if (size <= kMaxSmallSize && align <= kPageSize) {
    for (size_t cls = class_of(size); cls < kClassCount; ++cls) {
      if (class_bytes(cls) % align == 0) return allocate_class(cache_or_create(), cls);
    }
  }
  ThreadCache* cache = cache_or_create();
  if (cache != nullptr) check_sample(cache, size);
  return align <= kPageSize ? large::allocate(size, nullptr) : large::allocate_aligned(size, align);
}

template <OnFailure kOnFailure>
void* after_failure(size_t size, size_t align) {
  return out_of_memory(kOnFailure, [size, align] {
    return align == 0 ? try_allocate(size) : try_aligned(align, size);
  });
}

void call_new_hook(void* object, size_t size) {
  const mallacc_new_hook hook = g_hooks.on_new.load(std::memory_order_acquire);
  if (UNLIKELY(hook != nullptr) && object != nullptr) hook(object, size);
}

template <bool kLast>
ALWAYS_INLINE void* finish(void* object, size_t size) {
  call_new_hook(object, size);
  if (kLast) MALLACC_CALL_END(object);
  return object;
}

}  // namespace

template <OnFailure kOnFailure, bool kLast>
void* allocate_slow(size_t size) {
  void* object = try_allocate(size);
  if (UNLIKELY(object == nullptr)) object = after_failure<kOnFailure>(size, 0);
  return finish<kLast>(object, size);
}

template <OnFailure kOnFailure, bool kLast>
void* allocate_sampled(ThreadCache* cache, size_t cls, size_t size) {
  const size_t bytes = class_bytes(cls);
  cache->sample(bytes);
  void* object;
  if (!pop(cache, cls, bytes, &object)) object = cache->fetch(cls);
  if (UNLIKELY(object == nullptr)) object = after_failure<kOnFailure>(size, 0);
  return finish<kLast>(object, size);
}

template <OnFailure kOnFailure, bool kLast>
void* allocate_refill(ThreadCache* cache, size_t cls, size_t size) {
  void* object = cache->fetch(cls);
  if (UNLIKELY(object == nullptr)) object = after_failure<kOnFailure>(size, 0);
  return finish<kLast>(object, size);
}

template <bool kLast>
void* allocate_hooked(void* object, size_t size) {
  return finish<kLast>(object, size);
}

template <OnFailure kOnFailure>
void* allocate_aligned(size_t align, size_t size) {
  void* object = try_aligned(align, size);
  if (UNLIKELY(object == nullptr)) object = after_failure<kOnFailure>(size, align);
  return finish<false>(object, size);
}

void* allocate_zeroed_large(size_t size) {
  bool zeroed = false;
  void* object = try_large(size, &zeroed);
  if (object == nullptr) return finish<false>(after_failure<OnFailure::kErrno>(size, 0), size);
  if (!zeroed) memset(object, 0, size);
  return finish<false>(object, size);
}

template <bool kLast>
void deallocate_overflow(ThreadCache* cache, size_t cls, void* object) {
  cache->trim(cls);
  if (kLast) MALLACC_CALL_END(object);
}

template <bool kLast>
void deallocate_slow(void* object) {
  const mallacc_delete_hook hook = g_hooks.on_delete.load(std::memory_order_acquire);
  if (object != nullptr) {
    if (UNLIKELY(hook != nullptr)) hook(object);
    size_t cls = cached_class(page_of(object));
    Span* span = nullptr;
    if (cls == 0) {
      span = g_page_heap.span_of(object);
      if (UNLIKELY(span == nullptr)) os::die("mallacc: free(): this pointer is not from malloc\n");
      cls = span->cls;
      if (cls != 0) cache_class(page_of(object), cls);
    }
    ThreadCache* cache = t_state.cache;
    if (cls == 0) {
      large::deallocate(span, object);
    } else if (cache != nullptr) {
      push<false>(cache, cls, class_bytes(cls), object);
    } else {
      deallocate_central(cls, object);
    }
  }
  if (kLast) MALLACC_CALL_END(object);
}

size_t usable_size(const void* object) {
  if (object == nullptr) return 0;
  const size_t cls = cached_class(page_of(object));
  if (cls != 0) return class_bytes(cls);
  const Span* span = g_page_heap.span_of(object);
  if (UNLIKELY(span == nullptr)) os::die("mallacc: this pointer is not from malloc\n");
  return span->cls != 0 ? class_bytes(span->cls) : span->bytes();
}

#define INSTANTIATE_(failure, last)                                                        \
  template void* allocate_slow<OnFailure::failure, last>(size_t);                          \
  template void* allocate_sampled<OnFailure::failure, last>(ThreadCache*, size_t, size_t); \
  template void* allocate_refill<OnFailure::failure, last>(ThreadCache*, size_t, size_t);
INSTANTIATE_(kErrno, true)
INSTANTIATE_(kErrno, false)
INSTANTIATE_(kThrow, true)
INSTANTIATE_(kNull, true)
template void* allocate_hooked<true>(void*, size_t);
template void* allocate_hooked<false>(void*, size_t);
template void deallocate_slow<true>(void*);
template void deallocate_slow<false>(void*);
template void deallocate_overflow<true>(ThreadCache*, size_t, void*);
template void deallocate_overflow<false>(ThreadCache*, size_t, void*);
template void* allocate_aligned<OnFailure::kErrno>(size_t, size_t);
template void* allocate_aligned<OnFailure::kThrow>(size_t, size_t);
template void* allocate_aligned<OnFailure::kNull>(size_t, size_t);

}  // namespace mallacc
