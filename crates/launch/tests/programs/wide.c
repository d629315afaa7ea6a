// A given number of 32-byte copies (AVX), one load and one store each.
#include <stdlib.h>
int main(int argc, char** argv) {
  static char words[64] __attribute__((aligned(32)));
  long n = strtol(argv[argc - 1], 0, 10);
  __asm__ volatile(
      "1: vmovdqa (%1), %%ymm0\n vmovdqa %%ymm0, 32(%1)\n dec %0\n jnz 1b"
      : "+r"(n)
      : "r"(words)
      : "xmm0", "memory", "cc");
  return 0;
}
