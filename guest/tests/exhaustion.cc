// No memory left (RLIMIT_AS): errors, not crashes, and recovery when objects are freed.
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

#include <atomic>
#include <initializer_list>
#include <new>

#include "check.h"

namespace {

constexpr rlim_t kLimit = 256 << 20;

// Keeps allocating `size` until the limit; returns the list of what was allocated.
void** exhaust(size_t size, size_t* count) {
  void** list = nullptr;
  *count = 0;
  for (;;) {
    void** p = static_cast<void**>(malloc(size));
    if (p == nullptr) return list;
    *p = list;
    list = p;
    ++*count;
  }
}

void release(void** list) {
  while (list != nullptr) {
    void** next = static_cast<void**>(*list);
    free(list);
    list = next;
  }
}

void memory_runs_out_and_comes_back() {
  for (size_t size : {size_t{5 << 20}, size_t{300000}, size_t{4000}, size_t{64}}) {
    size_t first, second;
    errno = 0;
    void** list = exhaust(size, &first);
    CHECK(errno == ENOMEM);
    CHECK(first * size > kLimit / 2 && first * size < kLimit);
    errno = 0;
    CHECK(calloc(1, 50 << 20) == nullptr && errno == ENOMEM);
    errno = 0;
    CHECK(realloc(list, 50 << 20) == nullptr && errno == ENOMEM);
    CHECK(::operator new(50 << 20, std::nothrow) == nullptr);
    bool thrown = false;
    try {
      ::operator delete(::operator new(50 << 20));
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    CHECK(thrown);
    release(list);
    list = exhaust(size, &second);
    // The same amount again, but for what moved into the allocator's own structures.
    CHECK(second >= first - first / 50 - 1);
    release(list);
  }
}

std::atomic<int> g_stage{0};

void a_thread_that_comes_too_late_gets_errors() {
  // Started while there is room for its stack; its first allocation finds no memory.
  pthread_t thread;
  const int created = pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        while (g_stage != 1) sched_yield();
        for (size_t size : {size_t{16}, size_t{20000}, size_t{1 << 20}}) {
          errno = 0;
          void* p = malloc(size);
          CHECK(p != nullptr || errno == ENOMEM);
          free(p);
        }
        CHECK(malloc(100 << 20) == nullptr);
        g_stage = 2;
        return nullptr;
      },
      nullptr);
  CHECK(created == 0);
  if (created != 0) return;
  size_t count;
  void** large = exhaust(1 << 20, &count);
  void** small = exhaust(16, &count);
  g_stage = 1;
  pthread_join(thread, nullptr);
  CHECK(g_stage == 2);
  release(small);
  release(large);
}

const check::Test kTests[] = {
    {"a thread that comes too late gets errors", a_thread_that_comes_too_late_gets_errors},
    {"memory runs out and comes back", memory_runs_out_and_comes_back},
};

}  // namespace

int main(int argc, char** argv) {
  const rlimit limit = {kLimit, kLimit};
  setrlimit(RLIMIT_AS, &limit);
  return check::run(kTests, argc, argv);
}
