/* Runs each workload with the plain and the accelerated allocator: the pointers must be the same,
 * the cycles are printed. One line per workload:
 * name calls plain_cycles fast_cycles checksum (cycles are of the allocator calls alone) */
#include "alloc.h"

static void put(char c) {
  *(volatile uint32_t*)0x10000000 = (uint32_t)c;
}
static void put_text(const char* text) {
  while (*text) put(*text++);
}
static void put_number(uint32_t value) {
  char digits[10];
  int count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  while (count > 0) put(digits[--count]);
}

static inline uint32_t cycles(void) {
  uint32_t now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

static uint32_t seed, sum, spent_malloc, spent_free, mallocs, frees;
static int accelerated, sized;

static uint32_t below(uint32_t bound) {
  seed = seed * 1664525u + 1013904223u; /* Numerical Recipes */
  return (uint32_t)(((uint64_t)(seed >> 8) * bound) >> 24);
}

static void* take(uint32_t size) {
  uint32_t start = cycles();
  void* object = accelerated ? fast_malloc(size) : plain_malloc(size);
  spent_malloc += cycles() - start;
  mallocs++;
  sum = sum * 31 + (uint32_t)(uintptr_t)object;
  /* The program uses its memory. */
  *(volatile uint32_t*)object = size;
  return object;
}

static void give(void* object, uint32_t size) {
  uint32_t start = cycles();
  if (sized) {
    accelerated ? fast_free_sized(object, size) : plain_free_sized(object, size);
  } else {
    accelerated ? fast_free(object) : plain_free(object);
  }
  spent_free += cycles() - start;
  frees++;
}

/* Pairs of malloc and free over a few sizes, as in the paper's tp_small. */
static void pairs(void) {
  for (uint32_t round = 0; round < 400; round++) {
    for (uint32_t size = 16; size <= 64; size += 16) {
      void* object = take(size);
      give(object, size);
    }
  }
}

/* Many live objects of mixed sizes, freed in random order. */
static void mixed(void) {
  static void* live[96];
  static uint32_t size_of[96];
  for (uint32_t i = 0; i < 96; i++) live[i] = 0;
  for (uint32_t i = 0; i < 3000; i++) {
    uint32_t at = below(96);
    if (live[at] != 0) give(live[at], size_of[at]);
    size_of[at] = below(10) != 0 ? 16 + below(48) : 256 + below(256);
    live[at] = take(size_of[at]);
  }
  for (uint32_t i = 0; i < 96; i++) {
    if (live[i] != 0) give(live[i], size_of[i]);
  }
}

struct node {
  struct node* next;
  uint32_t value;
};

/* Builds and tears down lists: long runs of malloc, then of free. */
static void list(void) {
  for (uint32_t round = 0; round < 12; round++) {
    struct node* first = 0;
    for (uint32_t i = 0; i < 100; i++) {
      struct node* node = take(sizeof *node + (i & 1) * 24);
      node->next = first;
      node->value = i;
      first = node;
    }
    while (first != 0) {
      struct node* next = first->next;
      give(first, sizeof *first + (first->value & 1) * 24);
      first = next;
    }
  }
}

static uint32_t run(void (*work)(void), int fast) {
  seed = 1;
  sum = spent_malloc = spent_free = mallocs = frees = 0;
  alloc_reset();
  accelerated = fast;
  work();
  return sum + alloc_samples + alloc_slow_paths;
}

static int compare(const char* name, void (*work)(void)) {
  uint32_t plain = run(work, kPlain);
  uint32_t plain_malloc = spent_malloc, plain_free = spent_free;
  uint32_t fast = run(work, kAccelerated);
  put_text(name);
  uint32_t numbers[] = {mallocs, plain_malloc, spent_malloc, frees, plain_free, spent_free, fast};
  for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    put(' ');
    put_number(numbers[i]);
  }
  put_text(plain == fast ? " same\n" : " DIFFERENT\n");
  return plain != fast;
}

int main(void) {
  int wrong = compare("pairs", pairs);
  wrong |= compare("mixed", mixed);
  wrong |= compare("list", list);
  sized = 1;
  wrong |= compare("pairs-sized", pairs);
  return wrong;
}
