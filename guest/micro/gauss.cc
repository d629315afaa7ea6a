// Allocations of Gaussian sizes, never freed: free lists are of little use.
#include "gaussian.h"

int main(int argc, char** argv) {
  const micro::Options options = micro::parse(argc, argv);
  const micro::GaussianInputs inputs = micro::gaussian_inputs(options, false);
  const uint32_t* sizes = inputs.sizes;
  void** objects = inputs.objects;
  micro::measure(options, [=](size_t i) { objects[i] = malloc(sizes[i]); });
  return micro::finish("gauss", options, inputs.checksum);
}
