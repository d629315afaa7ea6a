// Prints where its stack is.
#include <stdio.h>
int main(void) {
  int local;
  printf("%p\n", (void*)&local);
  return 0;
}
