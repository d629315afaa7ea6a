// Timing of a microbenchmark on the processor that runs it (--time).
//
// The time-stamp counter ticks at a constant rate, the core's clock does not. So next to each
// measurement, before it and after it, runs a chain of register-to-register additions, each of
// which needs the one before: as many cycles as additions, on every core. (Additions of an
// immediate would not do: recent cores carry them out at rename, several in a cycle.) Its ticks
// turn the measurement's into cycles, and how far the two chains differ tells whether the clock
// changed or something else ran in between. A chain does not notice a neighbour on the core's other
// hardware thread, since it leaves most of the core free; so beside it run four chains at once,
// which do. Samples are kept and printed at the end, so that
// printing, which allocates, stays out of the measurements.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include <algorithm>

namespace micro {

// Additions of a chain: some 40 us, long against reading the counter, short against a time slice.
constexpr uint64_t kChainBlocks = 2048;
constexpr uint64_t kChainAdditions = kChainBlocks * 64;

// Ticks of the time-stamp counter; nothing before it is still running, nothing after it has begun.
inline uint64_t ticks() {
  uint32_t low, high;
  __asm__ __volatile__("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
  return static_cast<uint64_t>(high) << 32 | low;
}

// Ticks of a chain.
inline uint64_t chain() {
  uint64_t sum = 1, left = kChainBlocks;
  const uint64_t addend = 3, begin = ticks();
  __asm__ __volatile__(
      "1:\n\t"
      ".rept 64\n\t"
      "addq %[addend], %[sum]\n\t"
      ".endr\n\t"
      "decq %[left]\n\t"
      "jnz 1b"
      : [sum] "+r"(sum), [left] "+r"(left)
      : [addend] "r"(addend)
      : "cc");
  return ticks() - begin;
}

// Ticks of four chains at once, each a quarter as long: a quarter of a chain's cycles where four
// additions can be done in a cycle and nobody else takes part.
inline uint64_t four_chains() {
  uint64_t a = 1, b = 1, c = 1, d = 1, left = kChainBlocks;
  const uint64_t addend = 3, begin = ticks();
  __asm__ __volatile__(
      "1:\n\t"
      ".rept 16\n\t"
      "addq %[addend], %[a]\n\t"
      "addq %[addend], %[b]\n\t"
      "addq %[addend], %[c]\n\t"
      "addq %[addend], %[d]\n\t"
      ".endr\n\t"
      "decq %[left]\n\t"
      "jnz 1b"
      : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [left] "+r"(left)
      : [addend] "r"(addend)
      : "cc");
  return ticks() - begin;
}

// Median ticks of the first touch of an OS page: what this kernel, and whatever lies below it, asks
// for it. 0 when there is no memory.
inline uint64_t page_fault() {
  constexpr size_t kPages = 512, kPageBytes = 4096;
  void* area = mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return 0;
  volatile char* bytes = static_cast<volatile char*>(area);
  uint64_t took[kPages];
  for (size_t i = 0; i < kPages; ++i) {
    const uint64_t begin = ticks();
    bytes[i * kPageBytes] = 1;
    took[i] = ticks() - begin;
  }
  munmap(area, kPages * kPageBytes);
  std::nth_element(took, took + kPages / 2, took + kPages);
  return took[kPages / 2];
}

// Ticks of a repeat, of the chains beside it, and the greater one of the four chains beside it.
struct Sample {
  uint64_t ticks, before, after, four;
};

constexpr size_t kSamplesMost = 1000;

class Samples {
 public:
  // Times body(), a repeat.
  template <typename Body>
  void take(Body body) {
    Sample sample;
    const uint64_t four = four_chains();
    sample.before = chain();
    const uint64_t begin = ticks();
    body();
    sample.ticks = ticks() - begin;
    sample.after = chain();
    const uint64_t four_after = four_chains();
    sample.four = four > four_after ? four : four_after;
    if (count_ < kSamplesMost) samples_[count_++] = sample;
  }

  // A line for each sample; the first names the additions of a chain, the steps of a repeat and the
  // ticks of a page fault.
  void print(size_t iterations) const {
    const uint64_t fault = page_fault();
    printf("timed: %llu additions, %zu steps, %llu fault\n",
           static_cast<unsigned long long>(kChainAdditions), iterations,
           static_cast<unsigned long long>(fault));
    for (size_t i = 0; i < count_; ++i) {
      const Sample& sample = samples_[i];
      printf("sample: %llu ticks, %llu before, %llu after, %llu four\n",
             static_cast<unsigned long long>(sample.ticks),
             static_cast<unsigned long long>(sample.before),
             static_cast<unsigned long long>(sample.after),
             static_cast<unsigned long long>(sample.four));
    }
  }

 private:
  Sample samples_[kSamplesMost];
  size_t count_ = 0;
};

inline Samples& samples() {
  static Samples all;
  return all;
}

}  // namespace micro
