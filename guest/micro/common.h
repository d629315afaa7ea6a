// What the microbenchmarks share: the command line, the generator, and the measured loop.
//
// A microbenchmark makes all its inputs first, then runs `repeats` times over `iterations` steps
// with as few instructions as possible between allocator calls. Repeat 0 is the warm-up; the region
// of interest is the others. It prints one line with a checksum of its inputs. With --time it
// measures the repeats on the processor that runs it and prints what they took first.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mallacc.h"
#include "timing.h"

namespace micro {

struct Options {
  size_t iterations = 32768;  // per repeat, as in the paper
  size_t repeats = 13;        // the first is not measured
  uint64_t seed = 1;
  bool time = false;

  size_t steps() const { return iterations * repeats; }
};

[[noreturn]] inline void usage_error(const char* program, const char* what, const char* value,
                                     const char* rule) {
  fprintf(stderr, "%s: %s = %s: %s; usage: %s [--iterations N] [--repeats N] [--seed S] [--time]\n",
          program, what, value, rule, program);
  exit(2);
}

inline Options parse(int argc, char** argv) {
  constexpr uint64_t kMost = 1u << 28;  // inputs of all repeats lie in memory
  Options options;
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    if (strcmp(name, "--time") == 0) {
      options.time = true;
      continue;
    }
    const bool iterations = strcmp(name, "--iterations") == 0;
    const bool repeats = strcmp(name, "--repeats") == 0;
    if (!iterations && !repeats && strcmp(name, "--seed") != 0) {
      usage_error(argv[0], "option", name, "unknown");
    }
    if (i + 1 == argc) usage_error(argv[0], name, "(nothing)", "must be followed by a number");
    const char* text = argv[++i];
    char* end = nullptr;
    const uint64_t value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0') {
      usage_error(argv[0], name, text, "must be a decimal number");
    }
    if (iterations && (value < 1 || value > kMost)) {
      usage_error(argv[0], name, text, "must be from 1 to 268435456");
    }
    if (repeats && (value < 2 || value > 1000)) {
      usage_error(argv[0], name, text, "must be from 2 to 1000, because the first is a warm-up");
    }
    (iterations ? options.iterations : repeats ? options.repeats : options.seed) = value;
  }
  if (options.steps() > kMost) {
    usage_error(argv[0], "--iterations", "too many", "times --repeats must be at most 268435456");
  }
  return options;
}

// splitmix64 (Steele, Lea and Flood, OOPSLA 2014): every seed gives a full-period sequence.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound): the high half of a product; bound is far below 2^64.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

 private:
  uint64_t state_;
};

// An array of inputs that never passes through the allocator under test during the measurement.
template <typename T>
T* make_inputs(size_t count) {
  T* inputs = static_cast<T*>(calloc(count, sizeof(T)));
  if (inputs == nullptr) {
    fprintf(stderr, "no memory for %zu inputs; use fewer iterations\n", count);
    exit(1);
  }
  return inputs;
}

// FNV-1a over bytes.
class Checksum {
 public:
  void add(const void* data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
      sum_ = (sum_ ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
    }
  }
  uint64_t value() const { return sum_; }

 private:
  uint64_t sum_ = 0xcbf29ce484222325u;
};

// Runs step(i) for all steps, the region of interest opening after the first repeat.
template <typename Step>
inline __attribute__((always_inline)) void measure(const Options& options, Step step) {
  for (size_t i = 0; i < options.iterations; ++i) step(i);
  const size_t steps = options.steps();
  if (options.time) {
    for (size_t begin = options.iterations; begin < steps; begin += options.iterations) {
      samples().take([&] {
        for (size_t i = begin; i < begin + options.iterations; ++i) step(i);
      });
    }
    return;
  }
  MALLACC_ROI_BEGIN();
  for (size_t i = options.iterations; i < steps; ++i) step(i);
  MALLACC_ROI_END();
}

inline int finish(const char* name, const Options& options, const Checksum& checksum) {
  if (options.time) samples().print(options.iterations);
  printf("%s: %zu repeats of %zu iterations, seed %llu, inputs %016llx\n", name, options.repeats,
         options.iterations, static_cast<unsigned long long>(options.seed),
         static_cast<unsigned long long>(checksum.value()));
  return 0;
}

}  // namespace micro
