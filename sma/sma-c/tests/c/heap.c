/* The C library used from C. Every failed expectation is printed and counted. */
#define SMA_KIND checked
#include "sma.h"

#include <stdio.h>
#include <string.h>

static int failures;

#define EXPECT(condition)                                        \
  do {                                                           \
    if (!(condition)) {                                          \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
      failures++;                                                \
    }                                                            \
  } while (0)

enum { BYTES = 4096, SLOTS = 128 };

static _Alignas(128) unsigned char region[BYTES];
static uint32_t state[256];

static uint32_t random_state = 12345;

static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % n;
}

static void references_carry_sizes_through_arithmetic(void) {
  sma_heap heap;
  EXPECT(sma_init(&heap, region, BYTES, state, sma_state_words(BYTES)) == SMA_OK);
  sma_ref ref = sma_alloc(&heap, 100);
  EXPECT(ref != 0);
  EXPECT(SMA_SIZE_CODE(ref) == 13); /* 100 bytes are 13 granules of 8 */
  sma_ref inside = SMA_ADD(ref, 40);
  EXPECT(SMA_OFFSET(inside) == SMA_OFFSET(ref) + 40);
  EXPECT(SMA_SIZE_CODE(inside) == SMA_SIZE_CODE(ref));
  EXPECT(SMA_SUB(inside, 40) == ref);
  EXPECT(SMA_SUB(SMA_SUB(ref, 8), 0) >> SMA_OFFSET_BITS == SMA_SIZE_CODE(ref));
  EXPECT(SMA_PTR(&heap, unsigned char, inside) == heap.base + SMA_OFFSET(ref) + 40);
  EXPECT(sma_free(&heap, inside) == SMA_INTERIOR);
  EXPECT(sma_free(&heap, SMA_SUB(inside, 40)) == SMA_OK);
  EXPECT(sma_free(&heap, ref) == SMA_DOUBLE_FREE);
  EXPECT(sma_free_bytes(&heap) == BYTES);
}

static void misuse_is_named(void) {
  sma_heap heap;
  sma_ref ref = 0;
  EXPECT(sma_init(&heap, NULL, BYTES, NULL, 0) == SMA_NULL);
  EXPECT(sma_init(&heap, region, 60, NULL, 0) == SMA_TOO_SMALL);
  EXPECT(sma_init(&heap, region, BYTES, state, 3) == SMA_STATE_TOO_SMALL);
  EXPECT(sma_init(&heap, region, BYTES, state, sma_state_words(BYTES)) == SMA_OK);
  EXPECT(sma_try_alloc(&heap, 0, &ref) == SMA_ZERO_SIZE);
  EXPECT(sma_try_alloc(&heap, (size_t)-1, &ref) == SMA_TOO_LARGE);
  EXPECT(sma_try_alloc(&heap, BYTES, &ref) == SMA_OK);
  EXPECT(sma_alloc(&heap, 1) == 0);
  EXPECT(sma_free(&heap, ref + 4) == SMA_MISALIGNED);
  EXPECT(sma_free_sized(&heap, region, 8) == SMA_SIZE_MISMATCH);
  EXPECT(sma_free_sized(&heap, &heap, 8) == SMA_FOREIGN);
  EXPECT(sma_free_sized(&heap, region, 0) == SMA_BAD_SIZE);
  EXPECT(sma_free(&heap, ref) == SMA_OK);
  EXPECT(strstr(sma_message(SMA_DOUBLE_FREE), "freed before") != NULL);
  EXPECT(strcmp(sma_message(-1), "unknown status") == 0);
}

static void freeing_nothing_has_no_effect(void) {
  sma_heap heap;
  sma_pool pool;
  EXPECT(sma_init(&heap, region, BYTES, state, sma_state_words(BYTES)) == SMA_OK);
  EXPECT(sma_pool_init(&pool, &heap) == SMA_OK);
  sma_ref ref = sma_alloc(&heap, 100);
  size_t before = sma_free_bytes(&heap);
  EXPECT(sma_free(&heap, 0) == SMA_OK);
  EXPECT(sma_pool_free(&pool, 0) == SMA_OK);
  EXPECT(sma_free_sized(&heap, NULL, 100) == SMA_OK);
  EXPECT(sma_mfree(&heap, NULL) == SMA_OK);
  EXPECT(sma_pool_flush(&pool) == 0);
  EXPECT(sma_free_bytes(&heap) == before && sma_check(&heap) == SMA_OK);
  EXPECT(sma_free(&heap, 8) == SMA_BAD_SIZE); /* an offset without a size is no reference */
  EXPECT(sma_free(&heap, ref) == SMA_OK);
}

static void a_checked_heap_that_is_null_is_refused(void) {
  sma_ref ref = 0;
  sma_heap heap;
  EXPECT(sma_init(NULL, region, BYTES, NULL, 0) == SMA_NULL);
  EXPECT(sma_init_for_headers(NULL, region, BYTES) == SMA_NULL);
  EXPECT(sma_alloc(NULL, 8) == 0);
  EXPECT(sma_try_alloc(NULL, 8, &ref) == SMA_NULL);
  EXPECT(sma_free(NULL, 8) == SMA_NULL && sma_free(NULL, 0) == SMA_NULL);
  EXPECT(sma_alloc_sized(NULL, 8) == NULL && sma_malloc(NULL, 8) == NULL);
  EXPECT(sma_free_sized(NULL, region, 8) == SMA_NULL && sma_mfree(NULL, region) == SMA_NULL);
  EXPECT(sma_free_bytes(NULL) == 0 && sma_state_bytes(NULL) == 0);
  EXPECT(sma_check(NULL) == SMA_NULL);
  EXPECT(sma_pool_init(NULL, &heap) == SMA_NULL);
  EXPECT(sma_pool_alloc(NULL, 8) == 0 && sma_pool_free(NULL, 8) == SMA_NULL);
  EXPECT(sma_pool_flush(NULL) == 0);
  EXPECT(sma_init(&heap, region, BYTES, state, sma_state_words(BYTES)) == SMA_OK);
  EXPECT(sma_try_alloc(&heap, 8, NULL) == SMA_NULL);
  EXPECT(sma_free_bytes(&heap) == BYTES);
}

static void headers_need_no_size(void) {
  sma_heap heap;
  EXPECT(sma_init_for_headers(&heap, region, BYTES) == SMA_OK);
  size_t empty = sma_free_bytes(&heap);
  void *first = sma_malloc(&heap, 12);
  void *second = sma_malloc(&heap, 500);
  EXPECT(first && second);
  EXPECT((uintptr_t)first % 8 == 0 && (uintptr_t)second % 8 == 0);
  memset(first, 1, 12);
  memset(second, 2, 500);
  EXPECT(sma_mfree(&heap, first) == SMA_OK);
  EXPECT(sma_mfree(&heap, first) == SMA_DOUBLE_FREE);
  EXPECT(sma_mfree(&heap, second) == SMA_OK);
  EXPECT(sma_free_bytes(&heap) == empty);
}

/* Random allocations, each filled with its own byte and verified before its free. */
static void a_long_walk_leaves_one_free_region(int pooled) {
  sma_heap heap;
  sma_pool pool;
  struct {
    sma_ref ref;
    size_t bytes;
    unsigned char mark;
  } live[SLOTS] = {{0, 0, 0}};
  EXPECT(sma_init(&heap, region, BYTES, state, sma_state_words(BYTES)) == SMA_OK);
  EXPECT(sma_pool_init(&pool, &heap) == SMA_OK);
  for (int step = 0; step < 200000 + SLOTS; step++) {
    /* The last steps free what is left. */
    int draining = step >= 200000;
    int slot = draining ? step - 200000 : (int)random_below(SLOTS);
    if (live[slot].ref) {
      unsigned char *bytes = SMA_PTR(&heap, unsigned char, live[slot].ref);
      for (size_t i = 0; i < live[slot].bytes; i++) EXPECT(bytes[i] == live[slot].mark);
      int status = pooled ? sma_pool_free(&pool, live[slot].ref) : sma_free(&heap, live[slot].ref);
      EXPECT(status == SMA_OK);
      live[slot].ref = 0;
    } else if (!draining) {
      size_t bytes = 1 + random_below(random_below(8) ? 64 : 600);
      sma_ref ref = pooled ? sma_pool_alloc(&pool, bytes) : sma_alloc(&heap, bytes);
      if (!ref) continue;
      live[slot].ref = ref;
      live[slot].bytes = bytes;
      live[slot].mark = (unsigned char)step;
      memset(SMA_PTR(&heap, void, ref), step & 255, bytes);
    }
  }
  if (pooled) sma_pool_flush(&pool);
  EXPECT(sma_check(&heap) == SMA_OK);
  EXPECT(sma_free_bytes(&heap) == BYTES);
}

int main(void) {
  references_carry_sizes_through_arithmetic();
  misuse_is_named();
  freeing_nothing_has_no_effect();
  a_checked_heap_that_is_null_is_refused();
  headers_need_no_size();
  a_long_walk_leaves_one_free_region(0);
  a_long_walk_leaves_one_free_region(1);
  if (!failures) puts("ok");
  return failures != 0;
}
