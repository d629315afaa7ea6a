#include "central_list.h"

#include "page_heap.h"

namespace mallacc {

CentralList g_central[kClassCount];

namespace {

void* next_of(void* object) {
  return *static_cast<void**>(object);
}
void set_next(void* object, void* next) {
  *static_cast<void**>(object) = next;
}

// The class whose transfer cache is asked next for a slot.
std::atomic<uint32_t> g_slot_turn{1};

}  // namespace

size_t CentralList::fetch(size_t cls, size_t count, Batch* chain) {
  Locked hold(lock_);
  transfer_.open(cls);
  if (count == shape(cls).batch && transfer_.get(chain)) return count;
  return fetch_from_spans(cls, count, chain);
}

void CentralList::release(size_t cls, size_t count, Batch chain) {
  Locked hold(lock_);
  transfer_.open(cls);
  if (count == shape(cls).batch && make_slot(cls) && transfer_.put(chain)) return;
  release_to_spans(cls, chain.head);
}

size_t CentralList::fetch_from_spans(size_t cls, size_t count, Batch* chain) {
  *chain = Batch{nullptr, nullptr};
  size_t got = 0;
  while (got < count) {
    if (with_free_.empty() && !populate(cls)) break;
    // populate() gives the lock up for a while: another thread may have taken the objects.
    if (with_free_.empty()) continue;
    got += take_from_span(with_free_.first(), count - got, chain);
  }
  if (chain->tail != nullptr) set_next(chain->tail, nullptr);
  return got;
}

// Appends up to `count` objects of the span to the chain.
size_t CentralList::take_from_span(Span* span, size_t count, Batch* chain) {
  size_t taken = 1;
  void* first = span->objects;
  void* last = first;
  while (taken < count && next_of(last) != nullptr) {
    last = next_of(last);
    ++taken;
  }
  span->objects = next_of(last);
  span->in_use += static_cast<uint32_t>(taken);
  if (span->objects == nullptr) {
    SpanList::remove(span);
    without_free_.push(span);
  }
  if (chain->tail == nullptr) {
    chain->head = first;
  } else {
    set_next(chain->tail, first);
  }
  chain->tail = last;
  free_count_ -= taken;
  return taken;
}

// A new span, its objects linked in address order. The lock is given up meanwhile.
bool CentralList::populate(size_t cls) {
  lock_.unlock();
  const size_t bytes = class_bytes(cls);
  Span* span = g_page_heap.allocate(shape(cls).span_pages, cls);
  size_t count = 0;
  if (span != nullptr) {
    char* object = static_cast<char*>(span->start());
    count = span->bytes() / bytes;
    span->objects = object;
    for (size_t i = 1; i < count; ++i, object += bytes) set_next(object, object + bytes);
    set_next(object, nullptr);
  }
  lock_.lock();
  if (span == nullptr) return false;
  with_free_.push(span);
  free_count_ += count;
  return true;
}

void CentralList::release_to_spans(size_t cls, void* head) {
  while (head != nullptr) {
    void* object = head;
    head = next_of(object);
    Span* span = g_page_heap.span_of(object);
    if (UNLIKELY(span == nullptr || span->cls != cls || span->in_use == 0)) {
      os::die("mallacc: free(): this pointer is not from malloc, or was freed twice\n");
    }
    if (span->objects == nullptr) {
      SpanList::remove(span);
      with_free_.push(span);
    }
    set_next(object, span->objects);
    span->objects = object;
    ++free_count_;
    if (--span->in_use == 0) {
      SpanList::remove(span);
      free_count_ -= span->bytes() / class_bytes(cls);
      lock_.unlock();
      g_page_heap.deallocate(span);
      lock_.lock();
    }
  }
}

// Room for one more batch, if need be with a slot taken from another class. The lock is given up
// while the other class's is held, so two classes never wait for each other.
bool CentralList::make_slot(size_t cls) {
  if (!transfer_.full()) return true;
  if (!transfer_.may_grow()) return false;
  uint32_t victim = g_slot_turn.fetch_add(1, std::memory_order_relaxed) % kClassCount;
  if (victim == 0) victim = 1;
  if (victim == cls) return false;
  lock_.unlock();
  const bool gained =
      g_central[victim].give_slot(victim, false) || g_central[victim].give_slot(victim, true);
  lock_.lock();
  if (gained && transfer_.may_grow()) transfer_.add_slot();
  return !transfer_.full();
}

bool CentralList::give_slot(size_t cls, bool force) {
  Locked hold(lock_);
  transfer_.open(cls);
  Batch evicted;
  if (!transfer_.drop_slot(force, &evicted)) return false;
  if (evicted.head != nullptr) release_to_spans(cls, evicted.head);
  return true;
}

size_t CentralList::free_bytes(size_t cls) {
  Locked hold(lock_);
  return (free_count_ + transfer_.batches() * shape(cls).batch) * class_bytes(cls);
}

}  // namespace mallacc
