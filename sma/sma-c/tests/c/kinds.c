/* One heap of the kind and block size chosen on the compiler's command line. */
#include "sma.h"

#include <string.h>

static _Alignas(1024) unsigned char region[65536];
static uint32_t state[8192];

int main(void) {
  sma_heap heap;
  sma_ref refs[40];
  size_t words = sma_state_words(sizeof region);
  if (words > sizeof state / sizeof *state) return 2;
  if (sma_init(&heap, region, sizeof region, state, words) != SMA_OK) return 3;
  if (sma_state_bytes(&heap) < words * 4) return 4;
  for (size_t i = 0; i < 40; i++) {
    size_t bytes = 1 + i * i;
    refs[i] = sma_alloc(&heap, bytes);
    if (!refs[i]) return 5;
    memset(SMA_PTR(&heap, void, refs[i]), (int)i, bytes);
  }
  for (size_t i = 0; i < 40; i++) {
    unsigned char *bytes = SMA_PTR(&heap, unsigned char, refs[i]);
    for (size_t at = 0; at < 1 + i * i; at++)
      if (bytes[at] != i) return 6;
    if (sma_free(&heap, refs[i]) != SMA_OK) return 7;
  }
  /* As free(NULL), in every kind. */
  if (sma_free(&heap, 0) != SMA_OK || sma_mfree(&heap, NULL) != SMA_OK) return 10;
  if (sma_free_sized(&heap, NULL, 8) != SMA_OK) return 11;
  if (sma_check(&heap) != SMA_OK) return 8;
  return sma_free_bytes(&heap) == sizeof region ? 0 : 9;
}
