// Back-to-back malloc and free, sizes 16..512 in steps of 16: 24 size classes.
#include "strided.h"

int main(int argc, char** argv) {
  return micro::throughput("tp", micro::parse(argc, argv), 16, 16, 512);
}
