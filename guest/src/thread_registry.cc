#include "thread_registry.h"

#include <pthread.h>

#include "mallacc.h"
#include "metadata.h"

namespace mallacc::registry {
namespace {

Lock g_lock;
Pool<ThreadCache> g_caches;
ThreadCache* g_first = nullptr;
ThreadCache* g_victim = nullptr;  // whose limit is taken next
int64_t g_unclaimed = static_cast<int64_t>(kOverallCacheBytes);
uint64_t g_streams = 0;

enum class KeyState : uint8_t { kNone, kReady, kFailed };
KeyState g_key_state = KeyState::kNone;
pthread_key_t g_key;

void link(ThreadCache* cache) {
  if (g_first == nullptr) {
    g_first = cache->next = cache->prev = cache;
    return;
  }
  cache->next = g_first;
  cache->prev = g_first->prev;
  cache->prev->next = cache;
  g_first->prev = cache;
}

void unlink(ThreadCache* cache) {
  if (g_victim == cache) g_victim = cache->next == cache ? nullptr : cache->next;
  if (g_first == cache) g_first = cache->next == cache ? nullptr : cache->next;
  cache->prev->next = cache->next;
  cache->next->prev = cache->prev;
}

void raise_limit_locked(ThreadCache* cache) {
  constexpr int64_t kStep = static_cast<int64_t>(kCacheStep);
  if (g_unclaimed > 0) {
    g_unclaimed -= kStep;
    cache->limit.store(cache->limit.load(std::memory_order_relaxed) + kCacheStep,
                       std::memory_order_relaxed);
    return;
  }
  for (int i = 0; i < kStealTries; ++i) {
    if (g_victim == nullptr) g_victim = g_first;
    ThreadCache* victim = g_victim;
    g_victim = victim->next;
    const size_t have = victim->limit.load(std::memory_order_relaxed);
    if (victim == cache || have <= kMinCacheBytes) continue;
    victim->limit.store(have - kCacheStep, std::memory_order_relaxed);
    cache->limit.store(cache->limit.load(std::memory_order_relaxed) + kCacheStep,
                       std::memory_order_relaxed);
    return;
  }
}

// The thread ends: its objects go back to the central lists. Whatever it still allocates and frees
// afterwards (other destructors do) goes there directly.
void on_thread_exit(void* argument) {
  ThreadCache* cache = static_cast<ThreadCache*>(argument);
  t_state = ThreadState{nullptr, 0, true};
  cache->empty_all();
  Locked hold(g_lock);
  g_unclaimed += static_cast<int64_t>(cache->limit.load(std::memory_order_relaxed));
  unlink(cache);
  g_caches.give(cache);
}

}  // namespace

ThreadCache* create() {
  if (t_state.ended) return nullptr;
  ThreadCache* cache;
  {
    Locked hold(g_lock);
    if (g_key_state == KeyState::kNone) {
      g_key_state =
          pthread_key_create(&g_key, on_thread_exit) == 0 ? KeyState::kReady : KeyState::kFailed;
    }
    cache = g_caches.take();
    if (cache == nullptr) return nullptr;
    cache->open(++g_streams);
    link(cache);
    raise_limit_locked(cache);
    if (cache->limit.load(std::memory_order_relaxed) == 0) {
      // Nothing to share: the least there is, even if the overall limit is then exceeded.
      cache->limit.store(kMinCacheBytes, std::memory_order_relaxed);
      g_unclaimed -= static_cast<int64_t>(kMinCacheBytes);
    }
  }
  t_state.cache = cache;
  t_state.small_limit = kMaxSmallSize + 1;
  MALLACC_FLUSH();
  // This may call calloc(), which finds the cache in place.
  if (g_key_state == KeyState::kReady) pthread_setspecific(g_key, cache);
  return cache;
}

void raise_limit(ThreadCache* cache) {
  Locked hold(g_lock);
  raise_limit_locked(cache);
}

void keep_only(ThreadCache* own) {
  // Their lists may be in the middle of a change, so the objects in them are given up.
  Locked hold(g_lock);
  while (g_first != nullptr && (g_first != own || g_first->next != own)) {
    ThreadCache* other = g_first == own ? g_first->next : g_first;
    g_unclaimed += static_cast<int64_t>(other->limit.load(std::memory_order_relaxed));
    unlink(other);
  }
}

size_t cached_bytes() {
  Locked hold(g_lock);
  size_t total = 0;
  ThreadCache* cache = g_first;
  if (cache == nullptr) return 0;
  do {
    total += __atomic_load_n(&cache->size, __ATOMIC_RELAXED);
    cache = cache->next;
  } while (cache != g_first);
  return total;
}

Lock& lock() {
  return g_lock;
}

}  // namespace mallacc::registry
