// A lock of one word: spins briefly, then sleeps. Constant-initialised and usable before any
// constructor has run; fork() resets it in the child.
#pragma once

#include <atomic>

#include "base.h"
#include "os.h"

namespace mallacc {

class Lock {
 public:
  constexpr Lock() = default;

  void lock() {
    uint32_t expected = kFree;
    if (LIKELY(word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire))) return;
    lock_contended();
  }

  void unlock() {
    if (UNLIKELY(word_.exchange(kFree, std::memory_order_release) == kContended)) {
      os::futex_wake(&word_);
    }
  }

 private:
  static constexpr uint32_t kFree = 0, kHeld = 1, kContended = 2;
  static constexpr int kSpins = 100;  // a central list is held for about as many cycles

  SLOW_PATH void lock_contended() {
    for (int i = 0; i < kSpins; ++i) {
      uint32_t expected = kFree;
      if (word_.load(std::memory_order_relaxed) == kFree &&
          word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire)) {
        return;
      }
      __builtin_ia32_pause();
    }
    while (word_.exchange(kContended, std::memory_order_acquire) != kFree) {
      os::futex_wait(&word_, kContended);
    }
  }

  std::atomic<uint32_t> word_{kFree};
};

class Locked {
 public:
  explicit Locked(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock& lock_;
};

}  // namespace mallacc
