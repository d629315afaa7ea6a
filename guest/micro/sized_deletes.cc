// Back-to-back operator new and sized operator delete, sizes 16..128 in steps of 16: eight size
// classes.
#include <new>

#include "strided.h"

int main(int argc, char** argv) {
  const micro::Options options = micro::parse(argc, argv);
  micro::Checksum checksum;
  const uint32_t* sizes = micro::strided_sizes(options, 16, 16, 128, &checksum);
  micro::fill_lists(16, 16, 128);
  micro::measure(options, [sizes](size_t i) {
    const size_t size = sizes[i];
    ::operator delete(::operator new(size), size);
  });
  return micro::finish("sized_deletes", options, checksum);
}
