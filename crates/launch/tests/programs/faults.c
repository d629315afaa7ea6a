// Survives the given number of faults, then dies of one if told to.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static sigjmp_buf back;
static void handle(int number) { siglongjmp(back, number); }
int main(int argc, char** argv) {
  signal(SIGSEGV, handle);
  volatile int caught = 0;
  for (volatile int i = 0; i < atoi(argv[1]); i++) {
    if (sigsetjmp(back, 1) != 0) {
      caught++;
      continue;
    }
    *(volatile int*)8 = 1;
  }
  printf("%d\n", caught);
  fflush(stdout);
  signal(SIGSEGV, SIG_DFL);
  if (argc > 2) *(volatile int*)8 = 1;
  return 0;
}
