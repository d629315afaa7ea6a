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

// Gives the free list of each size's class a few objects. With lists of one object, as slow start
// leaves them, a malloc cache could never hold a Next: the paper's strided programs always hit in
// thread caches, and their pops do hit in the malloc cache (section 6.2).
inline void fill_lists(uint32_t first, uint32_t stride, uint32_t last) {
  constexpr size_t kObjects = 16;
  void* objects[kObjects];
  for (uint32_t size = first; size <= last; size += stride) {
    for (void*& object : objects) object = malloc(size);
    for (void* object : objects) free(object);
  }
}

// One malloc and free of each size: always a thread-cache hit.
inline int throughput(const char* name, const Options& options, uint32_t first, uint32_t stride,
                      uint32_t last) {
  Checksum checksum;
  const uint32_t* sizes = strided_sizes(options, first, stride, last, &checksum);
  fill_lists(first, stride, last);
  measure(options, [sizes](size_t i) { free(malloc(sizes[i])); });
  return finish(name, options, checksum);
}

}  // namespace micro
