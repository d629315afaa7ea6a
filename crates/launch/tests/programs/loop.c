// A loop of four instructions with one load and one store: mov, mov, dec, jnz.
#include <stdlib.h>
int main(int argc, char** argv) {
  static long words[2];
  long n = strtol(argv[argc - 1], 0, 10);
  __asm__ volatile(
      "1: mov (%1), %%rax\n mov %%rax, 8(%1)\n dec %0\n jnz 1b"
      : "+r"(n)
      : "r"(words)
      : "rax", "memory", "cc");
  return 0;
}
