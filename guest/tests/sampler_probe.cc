// Allocates a known number of bytes and reports how many samples were taken (tests/sampling.sh).
#include <math.h>
#include <stdint.h>

#include "check.h"
#include "mallacc_alloc.h"

int main(int argc, char** argv) {
  (void)argv;
  constexpr int kObjects = 400000;
  constexpr double kBytes = 1024.0 * kObjects;
  for (int i = 0; i < kObjects; ++i) free(malloc(1024));
  free(malloc(1 << 20));
  mallacc_stats stats;
  mallacc_get_stats(&stats);
  if (argc == 1) {
    printf("%llu samples\n", static_cast<unsigned long long>(stats.samples));
    return 0;
  }
  // Gaps are geometric, so the number of samples is about Poisson, its deviation the square root of
  // its mean. An object of 1 KB is sampled at most once: the mean is that of 1 - exp(-1024 / gap).
  const double gap = strtod(getenv("MALLACC_SAMPLE_PARAMETER"), nullptr);
  const double mean = kBytes / 1024 * (1 - exp(-1024 / gap)) + 1 - exp(-1048576 / gap);
  const double distance = fabs(static_cast<double>(stats.samples) - mean) / sqrt(mean);
  if (distance < 4) {
    printf("near\n");
  } else {
    printf("%llu samples, %.0f expected\n", static_cast<unsigned long long>(stats.samples), mean);
  }
  return 0;
}
