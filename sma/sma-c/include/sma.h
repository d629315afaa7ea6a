/*
 * A scratch-pad heap with a few dozen bytes of state: the allocator of McIlroy, Dickman and
 * Sventek (ISMM 2008). After `make install-sma`:
 *   cc program.c $(pkg-config --cflags --libs sma)
 * The library has all block sizes and kinds; with -Wl,--gc-sections, which pkg-config gives, the
 * linker keeps only the functions that are called.
 *
 * Before including this file, choose
 *   SMA_BLOCK  bytes of a block: 32, 64, 128 (default), 256, 512 or 1024. Smaller blocks waste
 *              less memory, larger ones need less state.
 *   SMA_KIND   plain    the paper's heap for one core (default)
 *              checked  the same; refuses every wrong free, for 2 bits per granule of state
 *              exact    sizes are multiples of the granule, not powers of two
 *              fine     for several cores, a spin lock per size class
 *
 * A region has one block up to 65,536 granules of max(8, SMA_BLOCK / 16) bytes, 1 MB at most.
 * Allocations are aligned to the granule, counted from the region's start, which is moved up to
 * a multiple of 8.
 *
 * In a heap that is not `checked`, freeing what is not a live allocation of that heap is
 * undefined behaviour, as with free(3). Zero sizes, sizes beyond the region and exhausted memory
 * are refused by every heap. Freeing nothing (reference 0, pointer NULL) has no effect in any
 * heap and returns SMA_OK, as free(NULL) does.
 *
 * A pointer to a heap or pool that is NULL is undefined behaviour, but not in a `checked` heap:
 * its functions return SMA_NULL, no allocation, or 0 bytes.
 */
#ifndef SMA_H
#define SMA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of the functions that return int. sma_message() gives its text. */
enum sma_status {
  SMA_OK = 0,
  SMA_ZERO_SIZE,
  SMA_TOO_LARGE,
  SMA_EXHAUSTED,
  SMA_ALIGNMENT,
  SMA_FOREIGN,
  SMA_MISALIGNED,
  SMA_DOUBLE_FREE,
  SMA_INTERIOR,
  SMA_SIZE_MISMATCH,
  SMA_BAD_SIZE,
  SMA_TOO_SMALL,
  SMA_STATE_TOO_SMALL,
  SMA_CORRUPT,
  SMA_NULL
};

const char *sma_message(int status);

/* A heap's handle. Do not copy or move it while a pool refers to it. */
typedef struct {
  unsigned char *base;
  size_t room[6];
} sma_heap;

/* A pool of freed regions of one core: three per small size. */
typedef struct {
  uint64_t room[16];
} sma_pool;

/*
 * An allocation with its size: 20 bits of offset from the heap's base, 12 bits of size. 0 means
 * no allocation. Arithmetic through these macros keeps the size; only the reference that sma_alloc
 * returned may be freed.
 */
typedef uint32_t sma_ref;

#define SMA_OFFSET_BITS 20
#define SMA_OFFSET_MASK ((UINT32_C(1) << SMA_OFFSET_BITS) - 1)
#define SMA_OFFSET(ref) ((ref) & SMA_OFFSET_MASK)
#define SMA_ADD(ref, bytes) \
  (((ref) & ~SMA_OFFSET_MASK) | (((ref) + (uint32_t)(bytes)) & SMA_OFFSET_MASK))
#define SMA_SUB(ref, bytes) \
  (((ref) & ~SMA_OFFSET_MASK) | (((ref) - (uint32_t)(bytes)) & SMA_OFFSET_MASK))
/* The address, for this heap. */
#define SMA_PTR(heap, type, ref) ((type *)(void *)((heap)->base + SMA_OFFSET(ref)))
/* The size code, above the offset: equal if two references have the same allocation size. */
#define SMA_SIZE_CODE(ref) ((ref) >> SMA_OFFSET_BITS)

#ifndef SMA_BLOCK
#define SMA_BLOCK 128
#endif
#ifndef SMA_KIND
#define SMA_KIND plain
#endif

#define SMA_JOIN_(block, kind, op) sma_##block##_##kind##_##op
#define SMA_JOIN(block, kind, op) SMA_JOIN_(block, kind, op)
#define SMA_NAME(op) SMA_JOIN(SMA_BLOCK, SMA_KIND, op)

/* Words of state that a heap of `bytes` needs. */
#define sma_state_words SMA_NAME(state_words)
size_t sma_state_words(size_t bytes);

/*
 * Makes a heap over `region`. The state goes to `state` (`words` words), or, if `state` is NULL,
 * into the first bytes of the region. Both must remain valid and belong to the heap alone.
 */
#define sma_init SMA_NAME(init)
int sma_init(sma_heap *heap, void *region, size_t bytes, uint32_t *state, size_t words);

/* The same with the state in the region, placed so that sma_malloc returns multiples of 8. */
#define sma_init_for_headers SMA_NAME(init_for_headers)
int sma_init_for_headers(sma_heap *heap, void *region, size_t bytes);

/* With the size in the reference: nothing is stored with the allocation. 0 on failure. */
#define sma_alloc SMA_NAME(alloc)
sma_ref sma_alloc(sma_heap *heap, size_t bytes);
#define sma_try_alloc SMA_NAME(try_alloc)
int sma_try_alloc(sma_heap *heap, size_t bytes, sma_ref *out);
#define sma_free SMA_NAME(free)
int sma_free(sma_heap *heap, sma_ref ref);

/* With the size kept by the caller: again nothing is stored. NULL on failure. */
#define sma_alloc_sized SMA_NAME(alloc_sized)
void *sma_alloc_sized(sma_heap *heap, size_t bytes);
#define sma_free_sized SMA_NAME(free_sized)
int sma_free_sized(sma_heap *heap, void *ptr, size_t bytes);

/* With a 4-byte header: plain pointers and no sizes. NULL on failure. */
#define sma_malloc SMA_NAME(malloc)
void *sma_malloc(sma_heap *heap, size_t bytes);
#define sma_mfree SMA_NAME(mfree)
int sma_mfree(sma_heap *heap, void *ptr);

/* Deferred coalescing: freed regions wait in the pool for the next request of their size. */
#define sma_pool_init SMA_NAME(pool_init)
int sma_pool_init(sma_pool *pool, sma_heap *heap);
#define sma_pool_alloc SMA_NAME(pool_alloc)
sma_ref sma_pool_alloc(sma_pool *pool, size_t bytes);
#define sma_pool_free SMA_NAME(pool_free)
int sma_pool_free(sma_pool *pool, sma_ref ref);
/* Empties the pool into its heap; returns the number of regions. */
#define sma_pool_flush SMA_NAME(pool_flush)
size_t sma_pool_flush(sma_pool *pool);

/* All free bytes; bytes of state; whether lists and tags agree. The heap must be at rest. */
#define sma_free_bytes SMA_NAME(free_bytes)
size_t sma_free_bytes(const sma_heap *heap);
#define sma_state_bytes SMA_NAME(state_bytes)
size_t sma_state_bytes(const sma_heap *heap);
#define sma_check SMA_NAME(check)
int sma_check(const sma_heap *heap);

#ifdef __cplusplus
}
#endif

#endif
