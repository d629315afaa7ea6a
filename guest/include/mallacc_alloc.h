/* Control interface of the allocator library, beside the standard malloc interface. */
#ifndef MALLACC_ALLOC_H_
#define MALLACC_ALLOC_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mallacc_stats {
  size_t system_bytes;        /* obtained from the operating system for objects */
  size_t metadata_bytes;      /* and for the allocator's own structures */
  size_t page_free_bytes;     /* free spans whose memory is present */
  size_t page_returned_bytes; /* free spans given back to the operating system */
  size_t central_bytes;       /* free objects in central lists and transfer caches */
  size_t cached_bytes;        /* free objects in thread caches */
  size_t large_bytes;         /* in large objects */
  uint64_t samples;           /* sampled allocations, and their bytes; see below */
  uint64_t sampled_bytes;
};

/* Exact while no other thread allocates. */
void mallacc_get_stats(struct mallacc_stats* stats);

/* Gives free spans back to the operating system, at least `bytes` if there is as much. Returns how
 * many bytes it was. */
size_t mallacc_release_memory(size_t bytes);

/* Functions to call after each successful allocation and before each deallocation; null for none.
 * A hook that allocates must guard against its own recursion. Returns the former hook. */
typedef void (*mallacc_new_hook)(const void* object, size_t size);
typedef void (*mallacc_delete_hook)(const void* object);
mallacc_new_hook mallacc_set_new_hook(mallacc_new_hook hook);
mallacc_delete_hook mallacc_set_delete_hook(mallacc_delete_hook hook);

/* Environment: MALLACC_SAMPLE_PARAMETER=N takes a sample every N bytes on average (524288 is
 * usual). Unset or 0: the check is made and no sample is ever taken. */

#ifdef __cplusplus
}
#endif

#endif /* MALLACC_ALLOC_H_ */
