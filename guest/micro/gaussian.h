// Inputs of the "Gaussian" microbenchmarks. Sizes: 90 % uniform in [16, 64), 10 % uniform in
// [256, 512), which makes 13 size classes; the name is the paper's. With frees: half of the steps
// also free an object, each live one as likely as any other.
#pragma once

#include "common.h"

namespace micro {

struct GaussianInputs {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t* sizes;
  uint32_t* victims;  // step whose object is freed after the allocation, or kNone
  void** objects;     // of each step
  Checksum checksum;
};

inline GaussianInputs gaussian_inputs(const Options& options, bool frees) {
  const size_t steps = options.steps();
  Generator generator(options.seed);
  GaussianInputs inputs;
  inputs.sizes = make_inputs<uint32_t>(steps);
  inputs.victims = make_inputs<uint32_t>(steps);
  inputs.objects = make_inputs<void*>(steps);
  uint32_t* live = make_inputs<uint32_t>(steps);
  size_t live_count = 0;
  for (size_t i = 0; i < steps; ++i) {
    const bool small = generator.below(10) < 9;
    inputs.sizes[i] =
        static_cast<uint32_t>(small ? 16 + generator.below(48) : 256 + generator.below(256));
    inputs.victims[i] = GaussianInputs::kNone;
    if (!frees) continue;
    live[live_count++] = static_cast<uint32_t>(i);
    if (generator.below(2) == 0) {
      const size_t pick = generator.below(live_count);
      inputs.victims[i] = live[pick];
      live[pick] = live[--live_count];
    }
  }
  free(live);
  inputs.checksum.add(inputs.sizes, steps * sizeof *inputs.sizes);
  inputs.checksum.add(inputs.victims, steps * sizeof *inputs.victims);
  // Written now, so that the measured loop takes no page faults in it.
  memset(inputs.objects, 0, steps * sizeof *inputs.objects);
  return inputs;
}

// after_step runs after each malloc and the free that may follow.
template <typename AfterStep>
inline __attribute__((always_inline)) void allocate_and_free(const Options& options,
                                                             const GaussianInputs& inputs,
                                                             AfterStep after_step) {
  const uint32_t* sizes = inputs.sizes;
  const uint32_t* victims = inputs.victims;
  void** objects = inputs.objects;
  measure(options, [=](size_t i) {
    objects[i] = malloc(sizes[i]);
    const uint32_t victim = victims[i];
    if (victim != GaussianInputs::kNone) free(objects[victim]);
    after_step();
  });
}

}  // namespace micro
