#include "sampler.h"

#include <stdlib.h>

namespace mallacc {

SampleTotals g_samples;

namespace {

std::atomic<size_t> g_parameter{0};

constexpr int kLogBits = 10;  // the table is indexed by the 10 bits behind the leading one
struct LogTable {
  double log2[1 << kLogBits];
};

// log2 of 1 + i/1024, bit by bit: squaring doubles the logarithm.
constexpr LogTable make_log_table() {
  LogTable table{};
  for (int i = 0; i < 1 << kLogBits; ++i) {
    double x = 1.0 + static_cast<double>(i) / (1 << kLogBits);
    double bit = 0.5, sum = 0;
    for (int step = 0; step < 40; ++step, bit /= 2) {
      x *= x;
      if (x >= 2) {
        x /= 2;
        sum += bit;
      }
    }
    table.log2[i] = sum;
  }
  return table;
}
constexpr LogTable kLog = make_log_table();

double log2_of(uint64_t x) {
  const int exponent = 63 - __builtin_clzll(x);
  const uint64_t mantissa =
      exponent >= kLogBits ? x >> (exponent - kLogBits) : x << (kLogBits - exponent);
  return exponent + kLog.log2[mantissa & ((1u << kLogBits) - 1)];
}

}  // namespace

void Sampler::read_parameter() {
  const char* text = getenv("MALLACC_SAMPLE_PARAMETER");
  if (text != nullptr) g_parameter.store(strtoull(text, nullptr, 10), std::memory_order_relaxed);
}

void Sampler::record(size_t size) {
  g_samples.count.fetch_add(1, std::memory_order_relaxed);
  g_samples.bytes.fetch_add(size, std::memory_order_relaxed);
}

size_t Sampler::draw() {
  const size_t mean = g_parameter.load(std::memory_order_relaxed);
  if (mean == 0) return kNever;
  // The generator of drand48: x' = 0x5deece66d x + 0xb modulo 2^48.
  state_ = (0x5deece66du * state_ + 0xb) & kStateMask;
  // u = q / 2^26 is uniform in (0, 1]; -ln(u) * mean is the gap of a Poisson process.
  const uint64_t q = (state_ >> 22) + 1;
  constexpr double kLn2 = 0.693147180559945309;
  const double gap = (26 - log2_of(q)) * kLn2 * static_cast<double>(mean);
  constexpr double kMost = static_cast<double>(kNever);
  return gap < kMost ? static_cast<size_t>(gap) + 1 : kNever;
}

}  // namespace mallacc
