// The page heap: all spans, and the only part that asks the operating system for memory.
//
// Free spans of 1..127 pages are kept in a list per length, longer ones in a best-fit tree; each
// twice, for spans whose memory is present and for spans given back. A freed span merges with free
// neighbours of its own state. Freeing pages drives the release of memory at a steady rate.
#pragma once

#include "metadata.h"
#include "pagemap.h"
#include "span_tree.h"

namespace mallacc {

struct PageHeapStats {
  size_t system_bytes;    // obtained from the operating system
  size_t free_bytes;      // free and present
  size_t returned_bytes;  // free and given back
  size_t large_bytes;     // in large objects
};

class PageHeap {
 public:
  constexpr PageHeap() = default;

  // A span in use, for objects of `cls` (0: one large object), or null without memory. All pages of
  // a span with a class are registered, in the pagemap and in the class cache.
  Span* allocate(size_t pages, size_t cls);
  // The same for one large object whose address is a multiple of `align` pages (a power of two).
  Span* allocate_aligned(size_t pages, size_t align);
  void deallocate(Span* span);

  // The span of an object in use; null for a pointer that is not ours.
  Span* span_of(const void* pointer) const { return map_.get(page_of(pointer)); }

  // Gives back free memory: at least `bytes` if there is as much. Returns how much it was.
  size_t release(size_t bytes);
  PageHeapStats stats();
  Lock& lock() { return lock_; }

 private:
  struct FreeSpans {
    SpanList short_spans[kListedPages];
    SpanTree long_spans;
  };

  Span* take(size_t pages);
  Span* search(size_t pages);
  bool grow(size_t pages);
  Span* new_span(uintptr_t page, size_t pages);
  void carve(Span* span, size_t pages);
  void cut_tail(Span* span, size_t pages);
  void insert_free(Span* span);
  void remove_free(Span* span);
  Span* merge(Span* span);
  void put_free(Span* span);
  void record(Span* span);
  void register_class(Span* span, size_t cls);
  void release_some(size_t freed_pages);
  size_t release_one();
  FreeSpans& spans_of(SpanState state) { return state == SpanState::kNormal ? normal_ : returned_; }
  size_t& bytes_of(SpanState state) {
    return state == SpanState::kNormal ? stats_.free_bytes : stats_.returned_bytes;
  }

  Lock lock_;
  Pagemap map_;
  FreeSpans normal_{};
  FreeSpans returned_{};
  Pool<Span> spans_;
  PageHeapStats stats_{};
  int64_t release_wait_ = 0;  // pages still to be freed before one span is given back
  size_t release_next_ = 1;   // length at which the next release starts to look
};

extern PageHeap g_page_heap __attribute__((visibility("hidden")));

}  // namespace mallacc
