#include "alloc.h"

#include "mallacc_rv.h"

enum { kSizeMax = 2048, kClasses = 40, kPageShift = 9, kPages = 320, kSamplePeriod = 65536 };

struct object {
  struct object* next;
};
struct list {
  struct object* head;
  uint32_t length;
};

extern char __heap[];

static struct list lists[kClasses];
static uint16_t size_of_class[kClasses];
static uint8_t class_of_index[144];
static uint8_t class_of_page[kPages];
static uint32_t pages_used, cached_bytes, sample_count;
uint32_t alloc_samples, alloc_slow_paths;

/* TCMalloc's index (Mallacc paper, Figure 5). */
static inline uint32_t class_index(uint32_t size) {
  return size <= 1024 ? (size + 7) >> 3 : (size + 15487) >> 7;
}

/* The slow path: takes the pages of a span and lists their blocks, lowest address first. */
static void* refill(uint32_t cls, uint32_t block) {
  uint32_t pages = block <= 128 ? 1 : 8;
  if (pages_used + pages > kPages) return 0;
  char* span = __heap + (pages_used << kPageShift);
  for (uint32_t i = 0; i < pages; i++) class_of_page[pages_used + i] = (uint8_t)cls;
  pages_used += pages;
  alloc_slow_paths++;
  uint32_t count = (pages << kPageShift) / block;
  for (uint32_t i = count - 1; i > 0; i--) {
    struct object* object = (struct object*)(span + i * block);
    object->next = lists[cls].head;
    lists[cls].head = object;
  }
  lists[cls].length += count - 1;
  cached_bytes += block * count;
  return span;
}

void alloc_reset(void) {
  /* Classes: 8, 16, then steps of an eighth of the power of two, in multiples of 16. */
  uint32_t size = 8, cls = 0, index = 0;
  for (; size <= kSizeMax; cls++) {
    size_of_class[cls] = (uint16_t)size;
    while (index <= class_index(size)) class_of_index[index++] = (uint8_t)cls;
    uint32_t step = size < 16 ? 8 : 16;
    while (step * 8 < size) step *= 2;
    if (size >= 1024 && step < 128) step = 128;
    size += step;
  }
  for (uint32_t i = 0; i < kClasses; i++) lists[i] = (struct list){0, 0};
  pages_used = cached_bytes = sample_count = alloc_samples = alloc_slow_paths = 0;
  mcflush();
  mcsampleset(kSamplePeriod);
}

#define ACCELERATED  0
#define PREFIX(name) plain_##name
#include "alloc.inc"
#undef ACCELERATED
#undef PREFIX

#define ACCELERATED  1
#define PREFIX(name) fast_##name
#include "alloc.inc"
