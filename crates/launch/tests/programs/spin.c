// Works for a while, or forever.
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  volatile long sum = 0;
  for (long i = 0, n = atol(argv[argc - 1]); n < 0 || i < n; i++) sum += i;
  puts("done");
  return 3;
}
