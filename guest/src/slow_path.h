// What the fast paths leave: no cache yet, an empty list, a full one, a large object, a hook, a
// sample, no memory. Out of line.
#pragma once

#include "base.h"
#include "thread_cache.h"

namespace mallacc {

// What an entry point does without memory: set errno; call the new-handler and throw bad_alloc; or
// call the new-handler and return null.
enum class OnFailure { kErrno, kThrow, kNull };

template <OnFailure, bool kLast>
SLOW_PATH void* allocate_slow(size_t size);
template <OnFailure, bool kLast>
SLOW_PATH void* allocate_sampled(ThreadCache* cache, size_t cls, size_t size);
template <OnFailure, bool kLast>
SLOW_PATH void* allocate_refill(ThreadCache* cache, size_t cls, size_t size);
template <bool kLast>
SLOW_PATH void* allocate_hooked(void* object, size_t size);

template <bool kLast>
SLOW_PATH void deallocate_slow(void* object);
template <bool kLast>
SLOW_PATH void deallocate_overflow(ThreadCache* cache, size_t cls, void* object);

// An object at a multiple of `align`, a power of two. Ends no call.
template <OnFailure>
SLOW_PATH void* allocate_aligned(size_t align, size_t size);

// A zeroed object above kMaxSmallSize. Ends no call.
SLOW_PATH void* allocate_zeroed_large(size_t size);

// Bytes that an object may use. Zero for null.
size_t usable_size(const void* object);

}  // namespace mallacc
