// What the allocator asks of the operating system. Nothing here touches errno.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mallacc::os {

// Zeroed memory for spans, aligned to the allocator page: sbrk first, then mmap. Null when refused.
void* grow_heap(size_t bytes);

// Zeroed memory for the allocator's own structures. Null when refused.
void* map(size_t bytes);

// Gives the memory back but keeps the addresses. False when refused.
bool release(void* start, size_t bytes);

// Sleeps while *word holds `value`; wakes one sleeper.
void futex_wait(const void* word, uint32_t value);
void futex_wake(const void* word);

// Ends the program with a sentence on standard error.
[[noreturn]] void die(const char* sentence);

}  // namespace mallacc::os
