/* A heap in 4 kB, in ten lines. */
#include <stdio.h>
#include <string.h>

#include "sma.h"

static _Alignas(128) unsigned char memory[4096];

int main(void) {
  sma_heap heap;
  if (sma_init(&heap, memory, sizeof memory, NULL, 0) != SMA_OK) return 1;
  sma_ref message = sma_alloc(&heap, 20);
  sma_ref matrix = sma_alloc(&heap, 1000);
  if (!message || !matrix) return 1;
  strcpy(SMA_PTR(&heap, char, message), "hello, scratch-pad");
  printf("%s: %zu bytes free\n", SMA_PTR(&heap, char, message), sma_free_bytes(&heap));
  sma_free(&heap, message);
  sma_free(&heap, matrix);
  return sma_check(&heap);
}
