// A test harness in a page: no allocation of its own, so that it can test an allocator.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace check {

inline int g_failures = 0;

inline void report(bool ok, const char* file, int line, const char* what) {
  if (ok) return;
  __atomic_add_fetch(&g_failures, 1, __ATOMIC_RELAXED);
  fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
}

struct Test {
  const char* sentence;
  void (*body)();
};

// Runs all tests, or those whose sentence contains argv[1].
template <size_t kCount>
int run(const Test (&tests)[kCount], int argc, char** argv) {
  int failed = 0, ran = 0;
  for (const Test& test : tests) {
    if (argc > 1 && strstr(test.sentence, argv[1]) == nullptr) continue;
    const int before = g_failures;
    test.body();
    ++ran;
    const bool ok = g_failures == before;
    failed += !ok;
    printf("%s %s\n", ok ? "ok  " : "FAIL", test.sentence);
    fflush(stdout);
  }
  printf("%d tests, %d failed\n", ran, failed);
  return failed != 0 || ran == 0;
}

// xorshift64* (Vigna 2014): cheap, and its own so that tests share nothing with the code under
// test.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2685821657736338717u + 88172645463325252u) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 2685821657736338717u;
  }
  uint64_t below(uint64_t bound) { return (next() >> 16) % bound; }

 private:
  uint64_t state_;
};

}  // namespace check

#define CHECK(condition) check::report((condition), __FILE__, __LINE__, #condition)
