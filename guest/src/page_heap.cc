#include "page_heap.h"

namespace mallacc {

PageHeap g_page_heap;

Span* PageHeap::allocate(size_t pages, size_t cls) {
  Locked hold(lock_);
  Span* span = take(pages);
  if (span != nullptr) register_class(span, cls);
  return span;
}

Span* PageHeap::allocate_aligned(size_t pages, size_t align) {
  if (pages + align < pages) return nullptr;
  Locked hold(lock_);
  Span* span = take(pages + align - 1);
  if (span == nullptr) return nullptr;
  const size_t front = -span->page & (align - 1);
  if (front != 0) {
    Span* rest = new_span(span->page + front, span->pages - front);
    rest->zeroed = span->zeroed;
    span->pages = front;
    record(span);
    record(rest);
    put_free(span);
    span = rest;
  }
  cut_tail(span, pages);
  register_class(span, 0);
  return span;
}

void PageHeap::deallocate(Span* span) {
  Locked hold(lock_);
  if (span->cls == 0) stats_.large_bytes -= span->bytes();
  const size_t pages = span->pages;
  span->zeroed = false;
  put_free(span);
  release_some(pages);
}

void PageHeap::register_class(Span* span, size_t cls) {
  span->cls = static_cast<uint8_t>(cls);
  span->objects = nullptr;
  span->in_use = 0;
  if (cls == 0) {
    // Only its first page is ever asked for; an older entry there may name a class.
    cache_class(span->page, 0);
    stats_.large_bytes += span->bytes();
    return;
  }
  for (size_t i = 0; i < span->pages; ++i) {
    map_.set(span->page + i, span);
    cache_class(span->page + i, cls);
  }
}

// A span in use of exactly `pages`, without a class.
Span* PageHeap::take(size_t pages) {
  Span* span = search(pages);
  if (span == nullptr && grow(pages)) span = search(pages);
  if (span != nullptr) carve(span, pages);
  return span;
}

// The free span to carve from. It stays where it is.
Span* PageHeap::search(size_t pages) {
  for (size_t n = pages; n < kListedPages; ++n) {
    if (!normal_.short_spans[n].empty()) return normal_.short_spans[n].first();
    if (!returned_.short_spans[n].empty()) return returned_.short_spans[n].first();
  }
  Span* normal = normal_.long_spans.best_fit(pages);
  Span* returned = returned_.long_spans.best_fit(pages);
  if (normal == nullptr || returned == nullptr) return normal != nullptr ? normal : returned;
  if (normal->pages != returned->pages) return normal->pages < returned->pages ? normal : returned;
  return normal->page < returned->page ? normal : returned;
}

// Takes a free span into use and returns what exceeds `pages` to the free spans.
void PageHeap::carve(Span* span, size_t pages) {
  remove_free(span);
  const SpanState state = span->state;
  span->state = SpanState::kInUse;
  if (span->pages > pages) {
    Span* rest = new_span(span->page + pages, span->pages - pages);
    rest->zeroed = span->zeroed;
    rest->state = state;
    span->pages = pages;
    record(rest);
    insert_free(rest);
    record(span);
  }
}

// The same for a span in use.
void PageHeap::cut_tail(Span* span, size_t pages) {
  if (span->pages == pages) return;
  Span* rest = new_span(span->page + pages, span->pages - pages);
  rest->zeroed = span->zeroed;
  span->pages = pages;
  record(span);
  record(rest);
  put_free(rest);
}

bool PageHeap::grow(size_t pages) {
  size_t ask = pages > kMinGrowPages ? pages : kMinGrowPages;
  // A span has a page at least: with one description for each page, none is missing later, when
  // memory has run out and what was freed is to be used again.
  if (!spans_.reserve(ask)) return false;
  void* memory = os::grow_heap(ask << kPageShift);
  if (memory == nullptr && ask > pages) {
    ask = pages;
    memory = os::grow_heap(ask << kPageShift);
  }
  if (memory == nullptr) return false;
  stats_.system_bytes += ask << kPageShift;
  const uintptr_t page = page_of(memory);
  // The pages next to it are looked up when spans merge.
  if (!map_.reserve(page - 1, ask + 2)) return false;
  Span* span = new_span(page, ask);
  span->zeroed = true;
  record(span);
  put_free(span);
  return true;
}

Span* PageHeap::new_span(uintptr_t page, size_t pages) {
  Span* span = spans_.take();  // reserved when the heap grew
  span->page = page;
  span->pages = pages;
  return span;
}

// First and last page: what merging looks at.
void PageHeap::record(Span* span) {
  map_.set(span->page, span);
  map_.set(span->page + span->pages - 1, span);
}

void PageHeap::insert_free(Span* span) {
  span->cls = 0;
  FreeSpans& spans = spans_of(span->state);
  if (span->pages < kListedPages) {
    spans.short_spans[span->pages].push(span);
  } else {
    spans.long_spans.insert(span);
  }
  bytes_of(span->state) += span->bytes();
}

void PageHeap::remove_free(Span* span) {
  if (span->pages < kListedPages) {
    SpanList::remove(span);
  } else {
    spans_of(span->state).long_spans.remove(span);
  }
  bytes_of(span->state) -= span->bytes();
}

// Joins a span that is in no list with its free neighbours of the same state.
Span* PageHeap::merge(Span* span) {
  Span* before = map_.get(span->page - 1);
  if (before != nullptr && before->state == span->state) {
    remove_free(before);
    span->page = before->page;
    span->pages += before->pages;
    span->zeroed &= before->zeroed;
    spans_.give(before);
  }
  Span* after = map_.get(span->page + span->pages);
  if (after != nullptr && after->state == span->state) {
    remove_free(after);
    span->pages += after->pages;
    span->zeroed &= after->zeroed;
    spans_.give(after);
  }
  record(span);
  return span;
}

void PageHeap::put_free(Span* span) {
  span->state = SpanState::kNormal;
  insert_free(merge(span));
}

void PageHeap::release_some(size_t freed_pages) {
  release_wait_ -= static_cast<int64_t>(freed_pages);
  if (release_wait_ >= 0) return;
  const size_t released = release_one() >> kPageShift;
  const int64_t wait =
      released == 0 ? kReleaseWaitIdle : kReleaseWaitPerPage * static_cast<int64_t>(released);
  release_wait_ = wait < kReleaseWaitMax ? wait : kReleaseWaitMax;
}

// Gives one span back: lengths take turns, in a list the span that has been there longest goes.
size_t PageHeap::release_one() {
  for (size_t i = 0; i < kListedPages; ++i) {
    const size_t length = release_next_;
    release_next_ = release_next_ == kListedPages ? 1 : release_next_ + 1;
    Span* span = nullptr;
    if (length == kListedPages) {
      span = normal_.long_spans.longest();
    } else if (!normal_.short_spans[length].empty()) {
      span = normal_.short_spans[length].last();
    }
    if (span == nullptr) continue;
    remove_free(span);
    if (os::release(span->start(), span->bytes())) {
      // It reads as zero now, but emulators may ignore the advice: `zeroed` stays as it is.
      span->state = SpanState::kReturned;
      const size_t bytes = span->bytes();
      insert_free(merge(span));
      return bytes;
    }
    insert_free(span);
    return 0;
  }
  return 0;
}

size_t PageHeap::release(size_t bytes) {
  Locked hold(lock_);
  size_t total = 0;
  while (total < bytes) {
    const size_t released = release_one();
    if (released == 0) break;
    total += released;
  }
  return total;
}

PageHeapStats PageHeap::stats() {
  Locked hold(lock_);
  return stats_;
}

}  // namespace mallacc
