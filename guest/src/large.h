// Large objects: whole spans from the page heap.
#pragma once

#include "span.h"

namespace mallacc::large {

// Null without memory or when the size cannot be an object's. `zeroed` (may be null) says whether
// the memory reads as zero already.
void* allocate(size_t size, bool* zeroed);
// The same, at an address that is a multiple of `align`, a power of two above kPageSize.
void* allocate_aligned(size_t size, size_t align);
// Frees the object of a span without a class.
void deallocate(Span* span, void* object);

}  // namespace mallacc::large
