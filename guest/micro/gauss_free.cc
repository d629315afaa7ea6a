// Allocations as in gauss; half of the steps also free an object.
#include "gaussian.h"

int main(int argc, char** argv) {
  const micro::Options options = micro::parse(argc, argv);
  const micro::GaussianInputs inputs = micro::gaussian_inputs(options, true);
  micro::allocate_and_free(options, inputs, [] {});
  return micro::finish("gauss_free", options, inputs.checksum);
}
