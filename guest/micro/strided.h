// Inputs of the strided microbenchmarks: sizes first, first + stride, ... last, and again.
#pragma once

#include "common.h"

namespace micro {

inline uint32_t* strided_sizes(const Options& options, uint32_t first, uint32_t stride,
                               uint32_t last, Checksum* checksum) {
  uint32_t* sizes = make_inputs<uint32_t>(options.steps());
  uint32_t size = first;
  for (size_t i = 0; i < options.steps(); ++i) {
    sizes[i] = size;
    size = size == last ? first : size + stride;
  }
  checksum->add(sizes, options.steps() * sizeof *sizes);
  return sizes;
}

// One malloc and free of each size: always a thread-cache hit, and free lists of one object.
inline int throughput(const char* name, const Options& options, uint32_t first, uint32_t stride,
                      uint32_t last) {
  Checksum checksum;
  const uint32_t* sizes = strided_sizes(options, first, stride, last, &checksum);
  measure(options, [sizes](size_t i) { free(malloc(sizes[i])); });
  return finish(name, options, checksum);
}

}  // namespace micro
