#include "large.h"

#include "page_heap.h"

namespace mallacc::large {
namespace {

// Pointer differences inside an object must fit in ptrdiff_t (C17 6.5.6).
bool possible(size_t size) {
  return size <= static_cast<size_t>(PTRDIFF_MAX) - kPageSize;
}

}  // namespace

void* allocate(size_t size, bool* zeroed) {
  if (!possible(size)) return nullptr;
  Span* span = g_page_heap.allocate(pages_for(size), 0);
  if (span == nullptr) return nullptr;
  if (zeroed != nullptr) *zeroed = span->zeroed;
  return span->start();
}

void* allocate_aligned(size_t size, size_t align) {
  if (!possible(size) || !possible(align) || !possible(size + align)) return nullptr;
  const size_t pages = size == 0 ? 1 : pages_for(size);
  Span* span = g_page_heap.allocate_aligned(pages, align >> kPageShift);
  return span == nullptr ? nullptr : span->start();
}

void deallocate(Span* span, void* object) {
  if (span->state != SpanState::kInUse || span->start() != object) {
    os::die("mallacc: free(): this pointer is not the start of an object, or was freed twice\n");
  }
  g_page_heap.deallocate(span);
}

}  // namespace mallacc::large
