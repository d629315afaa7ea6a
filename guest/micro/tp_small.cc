// Back-to-back malloc and free of 32, 64, 96 and 128 bytes: four size classes, each with a list of
// its own. The fastest fast path.
#include "strided.h"

int main(int argc, char** argv) {
  return micro::throughput("tp_small", micro::parse(argc, argv), 32, 32, 128);
}
