// A span: a run of allocator pages that is free, one large object, or cut into objects of one
// class.
#pragma once

#include "config.h"

namespace mallacc {

enum class SpanState : uint8_t {
  kInUse,
  kNormal,    // free, its memory is present
  kReturned,  // free, its memory was given back to the operating system
};

struct Span {
  // Neighbours in a circular list (page heap list, or the central list of the class).
  Span* next;
  Span* prev;
  uintptr_t page;  // first page id: address >> kPageShift
  size_t pages;
  union {
    // In use by a size class.
    struct {
      void* objects;    // free objects, linked through their first word
      uint32_t in_use;  // objects that are with thread and transfer caches or the program
    };
    // Free and long: node of the best-fit tree.
    struct {
      Span* left;
      Span* right;
    };
  };
  uint32_t priority;  // of the tree node
  uint8_t cls;        // 0: large object, or free
  SpanState state;
  bool zeroed;  // free, and every byte reads as zero

  void* start() const { return reinterpret_cast<void*>(page << kPageShift); }
  size_t bytes() const { return pages << kPageShift; }
};

// A circular list with a sentinel that links to itself. A zeroed list is an empty one.
class SpanList {
 public:
  constexpr SpanList() = default;

  bool empty() const { return head_.next == nullptr || head_.next == &head_; }
  Span* first() { return head_.next; }
  Span* last() { return head_.prev; }

  void push(Span* span) {
    if (head_.next == nullptr) head_.next = head_.prev = &head_;
    span->prev = &head_;
    span->next = head_.next;
    head_.next->prev = span;
    head_.next = span;
  }

  static void remove(Span* span) {
    span->prev->next = span->next;
    span->next->prev = span->prev;
    span->next = span->prev = nullptr;
  }

 private:
  Span head_{};
};

}  // namespace mallacc
