// The C interface: malloc() and its relatives. Each entry point is marked as one call.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fast_path.h"

using mallacc::OnFailure;

namespace {

// realloc() grows by a quarter at least, so that growing step by step costs linear time.
constexpr size_t kGrowDivisor = 4;
// And it moves an object only when less than half of it is left.
constexpr size_t kShrinkDivisor = 2;

bool multiply(size_t count, size_t size, size_t* total) {
  return !__builtin_mul_overflow(count, size, total);
}

void* reallocate(void* old, size_t size) {
  if (old == nullptr) return mallacc::allocate<OnFailure::kErrno, false>(size);
  if (size == 0) {
    mallacc::deallocate<false>(old);
    return nullptr;
  }
  const size_t have = mallacc::usable_size(old);
  if (size <= have && size >= have / kShrinkDivisor) return old;
  void* fresh = nullptr;
  const size_t grown = have + have / kGrowDivisor;
  if (size > have && size < grown) {
    const int saved_errno = errno;
    fresh = mallacc::allocate<OnFailure::kErrno, false>(grown);
    if (fresh == nullptr) errno = saved_errno;
  }
  if (fresh == nullptr) fresh = mallacc::allocate<OnFailure::kErrno, false>(size);
  if (fresh == nullptr) return nullptr;
  memcpy(fresh, old, have < size ? have : size);
  mallacc::deallocate<false>(old);
  return fresh;
}

}  // namespace

extern "C" {

EXPORT void* malloc(size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_MALLOC, size);
  return mallacc::allocate<OnFailure::kErrno, true>(size);
}

EXPORT void free(void* object) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_FREE, object);
  mallacc::deallocate<true>(object);
}

EXPORT void cfree(void* object) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_FREE, object);
  mallacc::deallocate<true>(object);
}

EXPORT void* calloc(size_t count, size_t size) {
  size_t total = count * size;
  MALLACC_CALL_BEGIN(MALLACC_KIND_CALLOC, total);
  void* object;
  if (UNLIKELY(!multiply(count, size, &total))) {
    errno = ENOMEM;
    object = nullptr;
  } else if (UNLIKELY(total > mallacc::kMaxSmallSize)) {
    object = mallacc::allocate_zeroed_large(total);
  } else {
    object = mallacc::allocate<OnFailure::kErrno, false>(total);
    if (LIKELY(object != nullptr)) memset(object, 0, total);
  }
  MALLACC_CALL_END(object);
  return object;
}

EXPORT void* realloc(void* old, size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_REALLOC, size);
  void* object = reallocate(old, size);
  MALLACC_CALL_END(object);
  return object;
}

EXPORT void* reallocarray(void* old, size_t count, size_t size) {
  size_t total = count * size;
  MALLACC_CALL_BEGIN(MALLACC_KIND_REALLOC, total);
  void* object = nullptr;
  if (UNLIKELY(!multiply(count, size, &total))) {
    errno = ENOMEM;
  } else {
    object = reallocate(old, total);
  }
  MALLACC_CALL_END(object);
  return object;
}

EXPORT size_t malloc_usable_size(void* object) {
  return mallacc::usable_size(object);
}

}  // extern "C"
