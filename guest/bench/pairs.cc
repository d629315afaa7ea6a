// Times malloc and free natively. The allocator is whatever is preloaded; bench/run.sh compares.
//
// Each pattern runs many times, briefly, and the fastest counts: everything else is the machine's
// noise.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

namespace {

constexpr int kRepeats = 60;

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t g_state = 1;
uint32_t random_below(uint32_t bound) {
  g_state = g_state * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX
  return static_cast<uint32_t>((g_state >> 32) * bound >> 32);
}

// Nanoseconds per malloc/free pair.
template <typename Body>
double fastest(size_t pairs, Body body) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < kRepeats; ++i) {
    const uint64_t start = now_ns();
    body();
    const uint64_t took = now_ns() - start;
    if (took < best) best = took;
  }
  return static_cast<double>(best) / static_cast<double>(pairs);
}

void tight(size_t pairs) {
  size_t size = 32;
  for (size_t i = 0; i < pairs; ++i) {
    free(malloc(size));
    size = size == 128 ? 32 : size + 32;
  }
}

void batches(size_t pairs) {
  static void* objects[1000];
  for (size_t done = 0; done < pairs; done += 1000) {
    for (size_t i = 0; i < 1000; ++i) objects[i] = malloc(16 + (i & 31) * 16);
    for (size_t i = 0; i < 1000; ++i) free(objects[i]);
  }
}

void churn(size_t pairs) {
  constexpr uint32_t kSlots = 20000;
  static void* objects[kSlots];
  for (size_t i = 0; i < pairs; ++i) {
    void*& slot = objects[random_below(kSlots)];
    free(slot);
    slot = malloc(16 + random_below(random_below(10) == 0 ? 4096 : 256));
  }
}

void large(size_t pairs) {
  static void* objects[16];
  for (size_t i = 0; i < pairs; ++i) {
    void*& slot = objects[random_below(16)];
    free(slot);
    slot = malloc(300000 + random_below(1000000));
  }
}

void* tight_thread(void* argument) {
  tight(*static_cast<size_t*>(argument));
  return nullptr;
}

void two_threads(size_t pairs) {
  size_t half = pairs / 2;
  pthread_t thread;
  pthread_create(&thread, nullptr, tight_thread, &half);
  tight(half);
  pthread_join(thread, nullptr);
}

}  // namespace

int main() {
  const struct {
    const char* name;
    size_t pairs;
    void (*body)(size_t);
  } patterns[] = {{"tight", 4000000, tight},
                  {"batches", 4000000, batches},
                  {"churn", 2000000, churn},
                  {"large", 200000, large},
                  {"2 threads", 400000, two_threads}};
  for (const auto& pattern : patterns) {
    printf(" %10.2f", fastest(pattern.pairs, [&] { pattern.body(pattern.pairs); }));
  }
  printf("\n");
  return 0;
}
