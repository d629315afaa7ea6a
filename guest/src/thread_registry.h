// All thread caches, and how their limits share the overall one.
#pragma once

#include "lock.h"
#include "thread_cache.h"

namespace mallacc::registry {

// The running thread gets a cache. Null without memory, or when the thread has ended.
ThreadCache* create();

// Raises a cache's limit by one step: from what nobody has claimed, else from another cache.
void raise_limit(ThreadCache* cache);

// After fork(), in the child: forgets the caches of the threads that do not exist there.
void keep_only(ThreadCache* own);

// Bytes in thread caches; an estimate while other threads run.
size_t cached_bytes();
Lock& lock();

}  // namespace mallacc::registry
