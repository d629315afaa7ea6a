/* A size-class allocator in the manner of TCMalloc's fast path, for bare metal. */
#ifndef ALLOC_H
#define ALLOC_H

#include <stdint.h>

enum { kPlain = 0, kAccelerated = 1 };

/* Forgets everything; the next allocations are the same as after a reset. */
void alloc_reset(void);
void* plain_malloc(uint32_t size);
void plain_free(void* object);
void plain_free_sized(void* object, uint32_t size);
void* fast_malloc(uint32_t size);
void fast_free(void* object);
void fast_free_sized(void* object, uint32_t size);
extern uint32_t alloc_samples, alloc_slow_paths;

#endif
