// The transfer cache of a size class: whole batches on their way from one thread cache to another,
// so that they need not be taken apart into spans. The owner (a central list) holds the lock.
#pragma once

#include "size_classes.h"

namespace mallacc {

// A chain of objects linked through their first word.
struct Batch {
  void* head;
  void* tail;
};

class TransferCache {
 public:
  constexpr TransferCache() = default;

  // How many slots a class may have at most: many for small batches, few for large ones.
  static size_t max_slots(size_t cls) {
    const size_t fit = kMaxTransferBytes / (class_bytes(cls) * shape(cls).batch);
    return fit < 1 ? 1 : fit > kMaxTransferSlots ? kMaxTransferSlots : fit;
  }

  // Must come first. Later calls do nothing.
  void open(size_t cls) {
    if (max_ != 0) return;
    max_ = max_slots(cls);
    slots_ = max_ < kInitialTransferSlots ? max_ : kInitialTransferSlots;
  }

  bool full() const { return used_ == slots_; }
  bool may_grow() const { return slots_ < max_; }
  void add_slot() { ++slots_; }

  bool put(Batch batch) {
    if (full()) return false;
    batches_[used_++] = batch;
    return true;
  }

  bool get(Batch* batch) {
    if (used_ == 0) return false;
    *batch = batches_[--used_];
    return true;
  }

  // Gives up a slot to another class. If the slot held a batch, it goes to `evicted`, which is only
  // allowed with `force`. False if there is no slot to give.
  bool drop_slot(bool force, Batch* evicted) {
    evicted->head = nullptr;
    if (slots_ == 0 || (full() && !force)) return false;
    if (full()) get(evicted);
    --slots_;
    return true;
  }

  size_t batches() const { return used_; }

 private:
  size_t used_ = 0;
  size_t slots_ = 0;
  size_t max_ = 0;
  Batch batches_[kMaxTransferSlots]{};
};

}  // namespace mallacc
