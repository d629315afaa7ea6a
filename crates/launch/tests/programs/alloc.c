// Allocates, frees and prints.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char* held[64] = {0};
  unsigned seed = 1;
  for (int i = 0; i < 20000; i++) {
    seed = seed * 1664525u + 1013904223u;
    char** at = &held[(seed >> 8) % 64];
    free(*at);
    size_t size = (seed >> 16) % 500 + 1;
    *at = malloc(size);
    memset(*at, i, size);
    if (i % 1000 == 0) printf("%d %d\n", i, (*at)[size / 2]);
  }
  return 0;
}
