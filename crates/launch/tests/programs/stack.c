// Prints the address of its stack.
#include <stdio.h>
int main(void) {
  int local;
  printf("%p\n", (void*)&local);
  return 0;
}
