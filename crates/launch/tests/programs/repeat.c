// Repeats one rep movsb over a given number of bytes a given number of times.
#include <stdlib.h>
static char from[1 << 20], to[1 << 20];
int main(int argc, char** argv) {
  long bytes = strtol(argv[1], 0, 10), times = strtol(argv[2], 0, 10);
  for (long i = 0; i < times; i++) {
    long n = bytes;
    char *s = from, *d = to;
    __asm__ volatile("rep movsb" : "+c"(n), "+S"(s), "+D"(d) : : "memory");
  }
  return argc == 0;
}
