// Ordinary compiled work, in proportion to its argument, without library calls inside: sorts,
// hashes, follows pointers.
#include <stdint.h>
#include <stdlib.h>
#define N 4096
static uint32_t table[N], next[N];
static uint32_t step(uint32_t s) { return s * 1664525u + 1013904223u; }
static void sort(uint32_t* a, long n) {
  while (n > 1) {
    uint32_t pivot = a[n / 2];
    long i = 0, j = n - 1;
    for (;;) {
      while (a[i] < pivot) i++;
      while (a[j] > pivot) j--;
      if (i >= j) break;
      uint32_t t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
    sort(a, i);
    a += i;
    n -= i;
  }
}
int main(int argc, char** argv) {
  uint32_t seed = 1, sum = 0;
  for (long round = strtol(argv[argc - 1], 0, 10); round > 0; round--) {
    for (int i = 0; i < N; i++) table[i] = seed = step(seed);
    for (int i = 0; i < N; i++) next[i] = table[i] % N;
    for (uint32_t i = 0, at = 0; i < N; i++) sum += at = next[at] ^ (i & 7);
    sort(table, N);
    sum ^= table[N / 3];
  }
  return sum == 12345;
}
