// Free spans that are too long for a list of their own, ordered by length and then by address, so
// that the best fit is the first one not shorter than the request. A treap: a search tree in span
// order, a heap in priority order. Priorities come from a fixed generator, so runs repeat.
#pragma once

#include "span.h"

namespace mallacc {

class SpanTree {
 public:
  constexpr SpanTree() = default;

  void insert(Span* span);
  void remove(Span* span);
  // The shortest span of at least `pages`, the lowest address among equals; null if there is none.
  Span* best_fit(size_t pages) const;
  // The longest span, or null.
  Span* longest() const;

 private:
  static bool before(const Span* a, const Span* b) {
    return a->pages != b->pages ? a->pages < b->pages : a->page < b->page;
  }

  Span* root_ = nullptr;
  uint32_t seed_ = 1;
};

}  // namespace mallacc
