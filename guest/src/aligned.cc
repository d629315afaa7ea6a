// The C interface, continued: objects at a stated alignment.
#include <errno.h>
#include <stdlib.h>

#include "mallacc.h"
#include "slow_path.h"

using mallacc::OnFailure;

namespace {

constexpr size_t kOsPage = 4096;

bool power_of_two(size_t x) {
  return x != 0 && (x & (x - 1)) == 0;
}

// memalign() takes any alignment: the next power of two serves. 0 if there is none.
size_t round_up_to_power(size_t x) {
  if (x <= 1) return 1;
  const int bits = 64 - __builtin_clzll(x - 1);
  return bits > 63 ? 0 : size_t{1} << bits;
}

void* aligned(size_t align, size_t size) {
  if (align == 0) {
    errno = EINVAL;
    return nullptr;
  }
  return mallacc::allocate_aligned<OnFailure::kErrno>(align, size);
}

}  // namespace

extern "C" {

EXPORT void* memalign(size_t align, size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_MEMALIGN, size);
  void* object = aligned(round_up_to_power(align), size);
  MALLACC_CALL_END(object);
  return object;
}

EXPORT void* aligned_alloc(size_t align, size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_MEMALIGN, size);
  void* object = aligned(power_of_two(align) ? align : 0, size);
  MALLACC_CALL_END(object);
  return object;
}

// Reports by its result and leaves errno alone.
EXPORT int posix_memalign(void** result, size_t align, size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_MEMALIGN, size);
  const int saved_errno = errno;
  void* object = nullptr;
  int error = EINVAL;
  if (power_of_two(align) && align % sizeof(void*) == 0) {
    object = mallacc::allocate_aligned<OnFailure::kErrno>(align, size);
    error = object == nullptr ? ENOMEM : 0;
  }
  if (error == 0) *result = object;
  errno = saved_errno;
  MALLACC_CALL_END(object);
  return error;
}

EXPORT void* valloc(size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_MEMALIGN, size);
  void* object = aligned(kOsPage, size);
  MALLACC_CALL_END(object);
  return object;
}

// Whole OS pages, at least one.
EXPORT void* pvalloc(size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_MEMALIGN, size);
  const size_t whole = size == 0 ? kOsPage : (size + kOsPage - 1) & ~(kOsPage - 1);
  void* object = aligned(kOsPage, whole < size ? SIZE_MAX : whole);
  MALLACC_CALL_END(object);
  return object;
}

}  // extern "C"
