// Decides which allocations are sampled: after a geometrically distributed number of bytes, so that
// each byte is as likely as any other. The generator's seed is fixed, so runs repeat.
#pragma once

#include <atomic>

#include "base.h"
#include "config.h"

namespace mallacc {

struct SampleTotals {
  std::atomic<uint64_t> count;
  std::atomic<uint64_t> bytes;
};
extern SampleTotals g_samples __attribute__((visibility("hidden")));

class Sampler {
 public:
  // Gap between samples when no parameter is set: out of reach.
  static constexpr size_t kNever = SIZE_MAX / 2;

  // Mean bytes between samples from MALLACC_SAMPLE_PARAMETER; 0 when unset: no samples.
  static void read_parameter();

  // `stream` tells the threads' generators apart.
  void open(uint64_t stream) { state_ = (stream * 0x9e3779b97f4a7c15u) & kStateMask; }
  // Counts a sample of `size` bytes.
  static void record(size_t size);
  // Bytes until the next sample.
  size_t draw();

 private:
  static constexpr uint64_t kStateMask = (uint64_t{1} << 48) - 1;
  uint64_t state_;
};

}  // namespace mallacc
