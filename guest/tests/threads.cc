// Threads: canaries under stress, objects freed by other threads, thread exit, fork.
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>

#include "check.h"
#include "mallacc_alloc.h"

namespace {

constexpr int kThreads = 4;

// Every object carries its size and a canary made of its address, at both ends.
struct Canary {
  static size_t random_size(check::Random& random) {
    const uint64_t kind = random.below(100);
    if (kind < 80) return 16 + random.below(1000);
    if (kind < 99) return 16 + random.below(40000);
    return 16 + random.below(600000);
  }
  static uint64_t word(const void* p, size_t size) {
    return reinterpret_cast<uintptr_t>(p) * 0x9e3779b97f4a7c15u ^ size;
  }
  static void* make(size_t size) {
    char* p = static_cast<char*>(malloc(size));
    if (p == nullptr) return nullptr;
    memcpy(p, &size, sizeof size);
    const uint64_t w = word(p, size);
    memcpy(p + size - 8, &w, sizeof w);
    return p;
  }
  static bool destroy(void* p) {
    size_t size;
    uint64_t w;
    memcpy(&size, p, sizeof size);
    memcpy(&w, static_cast<char*>(p) + size - 8, sizeof w);
    const bool intact = w == word(p, size);
    free(p);
    return intact;
  }
};

template <typename Body>
void in_threads(int count, Body body) {
  struct Start {
    Body* body;
    int index;
  };
  pthread_t threads[64];
  Start starts[64];
  for (int i = 0; i < count; ++i) {
    starts[i] = {&body, i};
    pthread_create(
        &threads[i], nullptr,
        [](void* argument) -> void* {
          Start* start = static_cast<Start*>(argument);
          (*start->body)(start->index);
          return nullptr;
        },
        &starts[i]);
  }
  for (int i = 0; i < count; ++i) pthread_join(threads[i], nullptr);
}

void stress(uint64_t seed, int steps) {
  constexpr size_t kSlots = 1000;
  void** slots = static_cast<void**>(calloc(kSlots, sizeof(void*)));
  check::Random random(seed);
  bool intact = true;
  for (int i = 0; i < steps; ++i) {
    void*& slot = slots[random.below(kSlots)];
    if (slot != nullptr) intact &= Canary::destroy(slot);
    slot = Canary::make(Canary::random_size(random));
  }
  for (size_t i = 0; i < kSlots; ++i) {
    if (slots[i] != nullptr) intact &= Canary::destroy(slots[i]);
  }
  free(slots);
  CHECK(intact);
}

void threads_do_not_disturb_each_other() {
  in_threads(kThreads, [](int i) { stress(static_cast<uint64_t>(i) + 1, 200000); });
}

void objects_may_be_freed_by_any_thread() {
  constexpr size_t kSlots = 4096;
  static std::atomic<void*> shared[kSlots];
  in_threads(kThreads, [](int i) {
    check::Random random(static_cast<uint64_t>(i) + 100);
    bool intact = true;
    for (int step = 0; step < 300000; ++step) {
      void* fresh = Canary::make(Canary::random_size(random));
      void* old = shared[random.below(kSlots)].exchange(fresh);
      if (old != nullptr) intact &= Canary::destroy(old);
    }
    CHECK(intact);
  });
  bool intact = true;
  for (std::atomic<void*>& slot : shared) {
    if (void* p = slot.exchange(nullptr)) intact &= Canary::destroy(p);
  }
  CHECK(intact);
}

// One side only allocates, the other only frees: objects must find their way back.
void a_consumer_returns_objects_to_its_producer() {
  constexpr int kRounds = 200, kBatch = 1000;
  constexpr size_t kSize = 256;
  static std::atomic<void*> mailbox;
  mallacc_stats stats;
  in_threads(2, [](int side) {
    for (int round = 0; round < kRounds; ++round) {
      if (side == 0) {
        void** batch = static_cast<void**>(malloc(kBatch * sizeof(void*)));
        for (int i = 0; i < kBatch; ++i) batch[i] = malloc(kSize);
        void* empty = nullptr;
        while (!mailbox.compare_exchange_weak(empty, batch)) {
          empty = nullptr;
          sched_yield();
        }
      } else {
        void* got;
        while ((got = mailbox.exchange(nullptr)) == nullptr) sched_yield();
        void** batch = static_cast<void**>(got);
        for (int i = 0; i < kBatch; ++i) free(batch[i]);
        free(batch);
      }
    }
  });
  mallacc_get_stats(&stats);
  // 51 MB went through; at most two batches of 256 KB were ever live, and caches are bounded.
  CHECK(stats.system_bytes - stats.page_free_bytes - stats.page_returned_bytes < 64 << 20);
}

void a_thread_that_ends_returns_its_cache() {
  mallacc_stats before, after;
  auto worker = [](int) {
    void* objects[500];
    for (size_t i = 0; i < 500; ++i) objects[i] = malloc(16 + i * 4);
    for (void* p : objects) free(p);
  };
  in_threads(1, worker);
  mallacc_get_stats(&before);
  for (int i = 0; i < 300; ++i) in_threads(1, worker);
  mallacc_get_stats(&after);
  // Each used 500 KB and its cache kept some: without reclaim 300 of them would need over 30 MB.
  CHECK(after.system_bytes - before.system_bytes <= 2 << 20);
  CHECK(after.cached_bytes < before.cached_bytes + 65536);
  CHECK(after.metadata_bytes - before.metadata_bytes <= 65536);
}

pthread_key_t g_late_key;

// Destructors of other keys run before or after the cache's: both must be able to allocate.
void destructors_may_allocate_after_the_cache_is_gone() {
  static std::atomic<int> calls{0};
  pthread_key_create(&g_late_key, [](void* argument) {
    free(argument);
    for (size_t n : {size_t{10}, size_t{1000}, size_t{500000}}) {
      void* p = malloc(n);
      CHECK(p != nullptr);
      memset(p, 1, n);
      free(p);
    }
    if (++calls < 6) pthread_setspecific(g_late_key, malloc(10));
  });
  in_threads(2, [](int) { pthread_setspecific(g_late_key, malloc(100)); });
  CHECK(calls >= 6);
  pthread_key_delete(g_late_key);
}

void many_threads_share_the_overall_limit() {
  // 40 threads at once that free 4 MB each: the caches together may exceed 32 MB only by the
  // least limit (512 KB) of those that came too late for a share.
  static std::atomic<int> arrived;
  static std::atomic<bool> go;
  arrived = 0;
  go = false;
  static size_t cached;
  in_threads(40, [](int index) {
    void** objects = static_cast<void**>(malloc(4096 * sizeof(void*)));
    for (int i = 0; i < 4096; ++i) objects[i] = malloc(1024);
    for (int i = 0; i < 4096; ++i) free(objects[i]);
    free(objects);
    ++arrived;
    if (index == 0) {
      while (arrived != 40) sched_yield();
      mallacc_stats stats;
      mallacc_get_stats(&stats);
      cached = stats.cached_bytes;
      go = true;
    }
    while (!go) sched_yield();
  });
  CHECK(cached <= (32u << 20) + 40u * (512u << 10));
}

void fork_works_while_other_threads_allocate() {
  static std::atomic<bool> stop;
  stop = false;
  in_threads(kThreads, [](int index) {
    if (index != 0) {
      check::Random random(static_cast<uint64_t>(index));
      while (!stop) Canary::destroy(Canary::make(Canary::random_size(random)));
      return;
    }
    for (int i = 0; i < 40; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);  // a lock that stayed held would hang the child
        stress(static_cast<uint64_t>(i), 2000);
        in_threads(2, [](int t) { stress(static_cast<uint64_t>(t), 500); });
        _exit(check::g_failures != 0);
      }
      int status = -1;
      waitpid(child, &status, 0);
      CHECK(status == 0);
    }
    stop = true;
  });
}

const check::Test kTests[] = {
    {"threads do not disturb each other", threads_do_not_disturb_each_other},
    {"objects may be freed by any thread", objects_may_be_freed_by_any_thread},
    {"a consumer returns objects to its producer", a_consumer_returns_objects_to_its_producer},
    {"a thread that ends returns its cache", a_thread_that_ends_returns_its_cache},
    {"destructors may allocate after the cache is gone",
     destructors_may_allocate_after_the_cache_is_gone},
    {"many threads share the overall limit", many_threads_share_the_overall_limit},
    {"fork works while other threads allocate", fork_works_while_other_threads_allocate},
};

}  // namespace

int main(int argc, char** argv) {
  return check::run(kTests, argc, argv);
}
