// The C++ interface: every replaceable form of operator new and delete (C++17, 21.6.2).
#include <new>

#include "fast_path.h"

using mallacc::OnFailure;

namespace {

template <OnFailure kOnFailure>
ALWAYS_INLINE void* create(size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_NEW, size);
  return mallacc::allocate<kOnFailure, true>(size);
}

template <OnFailure kOnFailure>
ALWAYS_INLINE void* create(size_t size, std::align_val_t align) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_NEW, size);
  void* object = mallacc::allocate_aligned<kOnFailure>(static_cast<size_t>(align), size);
  MALLACC_CALL_END(object);
  return object;
}

ALWAYS_INLINE void destroy(void* object) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_DELETE, object);
  mallacc::deallocate<true>(object);
}

ALWAYS_INLINE void destroy_sized(void* object, size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_SIZED_DELETE, object);
  mallacc::deallocate_sized<true>(object, size);
}

// An aligned object may be of a larger class than its size says, so the page is asked.
ALWAYS_INLINE void destroy_sized_aligned(void* object) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_SIZED_DELETE, object);
  mallacc::deallocate<true>(object);
}

}  // namespace

#define NOTHROW const std::nothrow_t&
#define ALIGN   std::align_val_t

EXPORT void* operator new(size_t n) {
  return create<OnFailure::kThrow>(n);
}
EXPORT void* operator new[](size_t n) {
  return create<OnFailure::kThrow>(n);
}
EXPORT void* operator new(size_t n, NOTHROW) noexcept {
  return create<OnFailure::kNull>(n);
}
EXPORT void* operator new[](size_t n, NOTHROW) noexcept {
  return create<OnFailure::kNull>(n);
}
EXPORT void* operator new(size_t n, ALIGN a) {
  return create<OnFailure::kThrow>(n, a);
}
EXPORT void* operator new[](size_t n, ALIGN a) {
  return create<OnFailure::kThrow>(n, a);
}
EXPORT void* operator new(size_t n, ALIGN a, NOTHROW) noexcept {
  return create<OnFailure::kNull>(n, a);
}
EXPORT void* operator new[](size_t n, ALIGN a, NOTHROW) noexcept {
  return create<OnFailure::kNull>(n, a);
}

EXPORT void operator delete(void* p) noexcept {
  destroy(p);
}
EXPORT void operator delete[](void* p) noexcept {
  destroy(p);
}
EXPORT void operator delete(void* p, NOTHROW) noexcept {
  destroy(p);
}
EXPORT void operator delete[](void* p, NOTHROW) noexcept {
  destroy(p);
}
EXPORT void operator delete(void* p, ALIGN) noexcept {
  destroy(p);
}
EXPORT void operator delete[](void* p, ALIGN) noexcept {
  destroy(p);
}
EXPORT void operator delete(void* p, ALIGN, NOTHROW) noexcept {
  destroy(p);
}
EXPORT void operator delete[](void* p, ALIGN, NOTHROW) noexcept {
  destroy(p);
}
EXPORT void operator delete(void* p, size_t n) noexcept {
  destroy_sized(p, n);
}
EXPORT void operator delete[](void* p, size_t n) noexcept {
  destroy_sized(p, n);
}
EXPORT void operator delete(void* p, size_t, ALIGN) noexcept {
  destroy_sized_aligned(p);
}
EXPORT void operator delete[](void* p, size_t, ALIGN) noexcept {
  destroy_sized_aligned(p);
}
