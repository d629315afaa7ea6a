// The central free list of a size class, shared by all threads: a transfer cache of whole batches,
// and the spans whose objects are free or partly free.
#pragma once

#include "lock.h"
#include "span.h"
#include "transfer_cache.h"

namespace mallacc {

class alignas(64) CentralList {
 public:
  constexpr CentralList() = default;

  // Takes up to `count` objects as a chain; the last one links to null. Returns how many: fewer
  // than asked for when memory runs out.
  size_t fetch(size_t cls, size_t count, Batch* chain);
  // Takes a chain of `count` objects back; the last one links to null.
  void release(size_t cls, size_t count, Batch chain);

  // Bytes of free objects that lie here.
  size_t free_bytes(size_t cls);
  Lock& lock() { return lock_; }

 private:
  size_t fetch_from_spans(size_t cls, size_t count, Batch* chain);
  size_t take_from_span(Span* span, size_t count, Batch* chain);
  bool populate(size_t cls);
  void release_to_spans(size_t cls, void* head);
  bool make_slot(size_t cls);
  bool give_slot(size_t cls, bool force);

  Lock lock_;
  TransferCache transfer_;
  SpanList with_free_;  // spans with a free object
  SpanList without_free_;
  size_t free_count_ = 0;  // free objects in spans
};

extern CentralList g_central[kClassCount] __attribute__((visibility("hidden")));

}  // namespace mallacc
