#include "os.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config.h"

namespace mallacc::os {
namespace {

// A system call that returns -errno instead of setting errno (System V ABI, appendix A.2.1).
long call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

void unmap(uintptr_t start, size_t bytes) {
  if (bytes != 0) call(SYS_munmap, static_cast<long>(start), static_cast<long>(bytes), 0, 0, 0, 0);
}

// Extends the program break so that an aligned piece of `bytes` fits. Others may move it too.
void* grow_break(size_t bytes) {
  const int saved_errno = errno;
  void* result = nullptr;
  void* current = sbrk(0);
  if (current != reinterpret_cast<void*>(-1)) {
    const size_t gap = -reinterpret_cast<uintptr_t>(current) & (kPageSize - 1);
    const size_t total = bytes + gap;
    if (total <= static_cast<size_t>(PTRDIFF_MAX)) {
      void* got = sbrk(static_cast<intptr_t>(total));
      // Another caller of sbrk may have come between the two calls: align what was received.
      if (got != reinterpret_cast<void*>(-1)) {
        const uintptr_t start = reinterpret_cast<uintptr_t>(got);
        const uintptr_t aligned = (start + kPageSize - 1) & ~(kPageSize - 1);
        if (aligned + bytes <= start + total) result = reinterpret_cast<void*>(aligned);
      }
    }
  }
  errno = saved_errno;
  return result;
}

}  // namespace

void* map(size_t bytes) {
  const long result = call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return result < 0 && result > -4096 ? nullptr : reinterpret_cast<void*>(result);
}

void* grow_heap(size_t bytes) {
  if (void* start = grow_break(bytes)) return start;
  // mmap aligns to the OS page only. Where the first mapping is aligned those next to it are too.
  void* raw = map(bytes);
  if (raw == nullptr || reinterpret_cast<uintptr_t>(raw) % kPageSize == 0) return raw;
  unmap(reinterpret_cast<uintptr_t>(raw), bytes);
  // Map one allocator page more and cut the ends off.
  raw = map(bytes + kPageSize);
  if (raw == nullptr) return nullptr;
  const uintptr_t start = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t aligned = (start + kPageSize - 1) & ~(kPageSize - 1);
  unmap(start, aligned - start);
  unmap(aligned + bytes, start + kPageSize - aligned);
  return reinterpret_cast<void*>(aligned);
}

bool release(void* start, size_t bytes) {
  return call(SYS_madvise, reinterpret_cast<long>(start), static_cast<long>(bytes), MADV_DONTNEED,
              0, 0, 0) == 0;
}

void futex_wait(const void* word, uint32_t value) {
  call(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

void futex_wake(const void* word) {
  call(SYS_futex, reinterpret_cast<long>(word), FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

void die(const char* sentence) {
  call(SYS_write, 2, reinterpret_cast<long>(sentence), static_cast<long>(strlen(sentence)), 0, 0,
       0);
  abort();
}

}  // namespace mallacc::os
