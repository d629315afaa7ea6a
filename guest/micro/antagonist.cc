// gauss_free beside an application that thrashes the caches: after every step the less recently
// used half of L1D and L2 is gone. On a real machine the marker does nothing.
#include "gaussian.h"

int main(int argc, char** argv) {
  const micro::Options options = micro::parse(argc, argv);
  const micro::GaussianInputs inputs = micro::gaussian_inputs(options, true);
  micro::allocate_and_free(options, inputs, [] { MALLACC_TRASH(); });
  return micro::finish("antagonist", options, inputs.checksum);
}
