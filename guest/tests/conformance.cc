// Every entry point of the malloc interface: results, alignment, errno, contents.
#include <errno.h>
#include <malloc.h>
#include <stdint.h>

#include <initializer_list>
#include <new>

#include "check.h"
#include "mallacc_alloc.h"

extern "C" void cfree(void*);

namespace {

constexpr size_t kSizes[] = {
    0,    1,    7,    8,    9,     15,     16,     17,     100,    128,     1000,          1024,
    1025, 4096, 8192, 8193, 40000, 262143, 262144, 262145, 300000, 1 << 20, (1 << 20) + 1, 5000000};
constexpr size_t kTooLarge[] = {SIZE_MAX,
                                SIZE_MAX - 1,
                                SIZE_MAX - 8192,
                                SIZE_MAX / 2 + 1,
                                static_cast<size_t>(PTRDIFF_MAX),
                                size_t{1} << 60};

bool multiple_of(const void* p, size_t align) {
  return reinterpret_cast<uintptr_t>(p) % align == 0;
}

bool all_are(const void* p, int value, size_t bytes) {
  const unsigned char* c = static_cast<const unsigned char*>(p);
  for (size_t i = 0; i < bytes; ++i) {
    if (c[i] != value) return false;
  }
  return true;
}

void malloc_gives_usable_aligned_memory() {
  for (size_t size : kSizes) {
    errno = 77;
    void* p = malloc(size);
    CHECK(p != nullptr);
    CHECK(errno == 77);
    CHECK(malloc_usable_size(p) >= size);
    CHECK(multiple_of(p, size >= 16 ? 16 : 8));
    memset(p, 0xa5, malloc_usable_size(p));
    free(p);
    CHECK(errno == 77);
  }
}

void objects_do_not_overlap() {
  constexpr size_t kCount = 3000;
  static unsigned char* objects[kCount];
  check::Random random(1);
  for (size_t i = 0; i < kCount; ++i) {
    objects[i] = static_cast<unsigned char*>(malloc(1 + i % 700));
    memset(objects[i], static_cast<int>(i % 251), 1 + i % 700);
  }
  for (size_t i = 0; i < kCount; ++i) {
    CHECK(all_are(objects[i], static_cast<int>(i % 251), 1 + i % 700));
    free(objects[i]);
  }
}

void impossible_sizes_fail_with_enomem() {
  for (size_t size : kTooLarge) {
    errno = 0;
    CHECK(malloc(size) == nullptr);
    CHECK(errno == ENOMEM);
    errno = 0;
    CHECK(calloc(1, size) == nullptr && errno == ENOMEM);
    errno = 0;
    CHECK(memalign(64, size) == nullptr && errno == ENOMEM);
    errno = 0;
    CHECK(memalign(1 << 20, size) == nullptr && errno == ENOMEM);
    errno = 0;
    CHECK(valloc(size) == nullptr && errno == ENOMEM);
    errno = 0;
    CHECK(pvalloc(size) == nullptr && errno == ENOMEM);
    void* p = malloc(10);
    memset(p, 3, 10);
    errno = 0;
    CHECK(realloc(p, size) == nullptr && errno == ENOMEM);
    CHECK(all_are(p, 3, 10));
    free(p);
    CHECK(::operator new(size, std::nothrow) == nullptr);
    CHECK(::operator new(size, std::align_val_t(64), std::nothrow) == nullptr);
  }
}

void free_accepts_null() {
  errno = 5;
  free(nullptr);
  cfree(nullptr);
  ::operator delete(nullptr);
  ::operator delete (nullptr, size_t{16});
  ::operator delete(nullptr, std::align_val_t(64));
  CHECK(errno == 5);
  void* p = malloc(24);
  cfree(p);
}

void calloc_zeroes_what_was_used_before() {
  for (size_t size : kSizes) {
    for (int round = 0; round < 3; ++round) {
      void* p = calloc(1, size);
      CHECK(p != nullptr && all_are(p, 0, size));
      memset(p, 0xff, malloc_usable_size(p));
      free(p);
    }
  }
  // A large span in front of used pages, made of fresh and of used parts.
  void* used = malloc(2 << 20);
  memset(used, 0xee, 2 << 20);
  free(used);
  void* p = calloc(1, 6 << 20);
  CHECK(all_are(p, 0, 6 << 20));
  memset(p, 0xee, 6 << 20);
  free(p);
  // And of parts that the operating system had back.
  mallacc_release_memory(SIZE_MAX);
  p = calloc(1, 8 << 20);
  CHECK(all_are(p, 0, 8 << 20));
  free(p);
}

void calloc_overflow_is_an_error() {
  const size_t half = SIZE_MAX / 2 + 1;
  errno = 0;
  CHECK(calloc(half, 2) == nullptr && errno == ENOMEM);
  errno = 0;
  CHECK(calloc(SIZE_MAX / 16 + 1, 16) == nullptr && errno == ENOMEM);
  errno = 0;
  CHECK(reallocarray(nullptr, half, 2) == nullptr && errno == ENOMEM);
  CHECK(calloc(0, 8) != nullptr);
}

void realloc_keeps_contents_and_follows_its_growth_rule() {
  CHECK(malloc_usable_size(realloc(nullptr, 10)) >= 10);
  for (size_t from : kSizes) {
    for (size_t to : kSizes) {
      if (to == 0) continue;
      unsigned char* p = static_cast<unsigned char*>(malloc(from));
      memset(p, 0x5a, from);
      const size_t have = malloc_usable_size(p);
      unsigned char* q = static_cast<unsigned char*>(realloc(p, to));
      CHECK(q != nullptr && all_are(q, 0x5a, from < to ? from : to));
      const size_t now = malloc_usable_size(q);
      if (to <= have && to >= have / 2) CHECK(q == p);
      if (to > have && to < have + have / 4) CHECK(now >= have + have / 4);
      if (to < have / 2) CHECK(now >= to && (now < have || have == 8));
      free(q);
    }
  }
}

void realloc_to_zero_frees() {
  void* p = malloc(1 << 20);
  mallacc_stats before, after;
  mallacc_get_stats(&before);
  CHECK(realloc(p, 0) == nullptr);
  mallacc_get_stats(&after);
  CHECK(before.large_bytes - after.large_bytes == 1 << 20);
  p = reallocarray(nullptr, 10, 10);
  CHECK(malloc_usable_size(p) >= 100);
  p = reallocarray(p, 100, 10);
  CHECK(malloc_usable_size(p) >= 1000);
  free(p);
}

void growing_step_by_step_moves_seldom() {
  char* p = nullptr;
  int moves = 0;
  for (size_t size = 1; size <= 100000; ++size) {
    char* q = static_cast<char*>(realloc(p, size));
    moves += q != p;
    p = q;
  }
  free(p);
  // Each move gains a quarter, so there are at most log(100000) / log(1.25) = 52, and a few more
  // while a quarter is less than the step to the next class.
  CHECK(moves < 60);
}

void aligned_objects_are_aligned() {
  for (size_t align = 1; align <= (1 << 21); align *= 2) {
    for (size_t size : kSizes) {
      void* p = memalign(align, size);
      CHECK(p != nullptr && multiple_of(p, align) && malloc_usable_size(p) >= size);
      memset(p, 1, size);
      void* q = aligned_alloc(align, size);
      CHECK(q != nullptr && multiple_of(q, align) && q != p);
      memset(q, 2, size);
      CHECK(all_are(p, 1, size));
      free(p);
      free(q);
      void* r = ::operator new(size, std::align_val_t(align));
      CHECK(multiple_of(r, align));
      ::operator delete(r, size, std::align_val_t(align));
    }
  }
}

void posix_memalign_checks_its_arguments() {
  void* p = &p;
  errno = 9;
  CHECK(posix_memalign(&p, 0, 8) == EINVAL);
  CHECK(posix_memalign(&p, 4, 8) == EINVAL);
  CHECK(posix_memalign(&p, 24, 8) == EINVAL);
  CHECK(posix_memalign(&p, 64, SIZE_MAX - 100) == ENOMEM);
  CHECK(p == &p);
  CHECK(errno == 9);
  CHECK(posix_memalign(&p, 4096, 100) == 0 && multiple_of(p, 4096));
  free(p);
  errno = 0;
  CHECK(aligned_alloc(24, 48) == nullptr && errno == EINVAL);
  p = memalign(24, 48);  // as in glibc: the next power of two
  CHECK(multiple_of(p, 32));
  free(p);
}

void valloc_and_pvalloc_give_os_pages() {
  for (size_t size : {size_t{1}, size_t{4096}, size_t{4097}, size_t{300000}}) {
    void* p = valloc(size);
    void* q = pvalloc(size);
    CHECK(multiple_of(p, 4096) && multiple_of(q, 4096));
    CHECK(malloc_usable_size(q) >= (size + 4095) / 4096 * 4096);
    free(p);
    free(q);
  }
  void* p = pvalloc(0);
  CHECK(malloc_usable_size(p) >= 4096);
  free(p);
}

void every_form_of_new_and_delete_works() {
  for (size_t n : kSizes) {
    const std::align_val_t a{64};
    ::operator delete(::operator new(n));
    ::operator delete(::operator new(n), n);
    ::operator delete(::operator new(n, std::nothrow), std::nothrow);
    ::operator delete[](::operator new[](n));
    ::operator delete[](::operator new[](n), n);
    ::operator delete[](::operator new[](n, std::nothrow), std::nothrow);
    ::operator delete(::operator new(n, a), a);
    ::operator delete(::operator new(n, a), n, a);
    ::operator delete(::operator new(n, a, std::nothrow), a, std::nothrow);
    ::operator delete[](::operator new[](n, a), a);
    ::operator delete[](::operator new[](n, a), n, a);
    ::operator delete[](::operator new[](n, a, std::nothrow), a, std::nothrow);
    free(::operator new(n));
    ::operator delete(malloc(n));
  }
}

void a_sized_delete_returns_the_object_to_its_class() {
  for (size_t n = 1; n <= 262144; n += 1 + n / 7) {
    void* p = ::operator new(n);
    ::operator delete(p, n);
    CHECK(malloc(n) == p);
    free(p);
  }
}

int g_handler_calls = 0;

void new_throws_and_calls_the_handler() {
  bool thrown = false;
  try {
    ::operator delete(::operator new(SIZE_MAX / 2));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown);
  std::set_new_handler([] {
    if (++g_handler_calls == 3) std::set_new_handler(nullptr);
  });
  thrown = false;
  try {
    ::operator delete(::operator new[](SIZE_MAX / 2, std::align_val_t(64)));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown && g_handler_calls == 3);
  std::set_new_handler([] { throw std::bad_alloc(); });
  CHECK(::operator new(SIZE_MAX / 2, std::nothrow) == nullptr);
  thrown = false;
  try {
    ::operator delete(::operator new(SIZE_MAX / 2));
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown);
  std::set_new_handler(nullptr);
}

const void* g_hooked = nullptr;
size_t g_hooked_size = 0;
int g_hooked_deletes = 0;

void hooks_see_every_allocation() {
  mallacc_set_new_hook([](const void* p, size_t n) { g_hooked = p, g_hooked_size = n; });
  mallacc_set_delete_hook([](const void* p) { g_hooked_deletes += p == g_hooked; });
  void* p = malloc(40);
  CHECK(g_hooked == p && g_hooked_size == 40);
  free(p);
  p = malloc(1 << 20);
  CHECK(g_hooked == p && g_hooked_size == 1 << 20);
  free(p);
  p = memalign(256, 300);
  CHECK(g_hooked == p && g_hooked_size == 300);
  free(p);
  p = ::operator new(50);
  CHECK(g_hooked == p);
  ::operator delete(p, 50);
  CHECK(g_hooked_deletes == 4);
  mallacc_set_new_hook(nullptr);
  mallacc_set_delete_hook(nullptr);
  free(malloc(40));
  CHECK(g_hooked_deletes == 4);
}

void large_memory_is_merged_and_released() {
  constexpr size_t kCount = 64, kSize = 1 << 20;
  mallacc_stats stats;
  char* objects[kCount];
  for (char*& p : objects) {
    p = static_cast<char*>(malloc(kSize));
    memset(p, 1, kSize);
  }
  // The longest run of objects side by side: where the heap lies in several places (QEMU's program
  // break ends early) it is not all of them.
  size_t longest = 0;
  for (char* first : objects) {
    size_t run = 0;
    for (bool found = true; found;) {
      found = false;
      for (char* p : objects) found |= p == first + run * kSize;
      run += found;
    }
    longest = run > longest ? run : longest;
  }
  CHECK(longest >= kCount / 8);
  for (size_t i = 0; i < kCount; i += 2) free(objects[i]);
  for (size_t i = 1; i < kCount; i += 2) free(objects[i]);
  mallacc_get_stats(&stats);
  const size_t free_before = stats.page_free_bytes + stats.page_returned_bytes;
  CHECK(free_before >= kCount * kSize);
  mallacc_release_memory(SIZE_MAX);
  mallacc_get_stats(&stats);
  CHECK(stats.page_free_bytes == 0);
  CHECK(stats.page_returned_bytes == free_before);
  // The neighbours have become one span again, so an object of their length needs no new memory.
  const size_t system = stats.system_bytes;
  void* p = malloc(longest * kSize);
  mallacc_get_stats(&stats);
  CHECK(stats.system_bytes == system);
  free(p);
}

void mallinfo_adds_up() {
  const struct mallinfo2 before = mallinfo2();
  void* p = malloc(10 << 20);
  const struct mallinfo2 after = mallinfo2();
  CHECK(after.uordblks - before.uordblks == 10 << 20);
  CHECK(after.arena == after.uordblks + after.fordblks);
  free(p);
  CHECK(mallopt(M_MMAP_THRESHOLD, 1) == 1);
  malloc_trim(0);
}

const check::Test kTests[] = {
    {"malloc gives usable, aligned memory and leaves errno alone",
     malloc_gives_usable_aligned_memory},
    {"objects do not overlap", objects_do_not_overlap},
    {"impossible sizes fail with ENOMEM and keep the old object",
     impossible_sizes_fail_with_enomem},
    {"free accepts null", free_accepts_null},
    {"calloc zeroes memory that was used before", calloc_zeroes_what_was_used_before},
    {"a product that overflows is an error", calloc_overflow_is_an_error},
    {"realloc keeps contents, grows by a quarter, shrinks in place above half",
     realloc_keeps_contents_and_follows_its_growth_rule},
    {"realloc to zero frees", realloc_to_zero_frees},
    {"an object that grows step by step moves seldom", growing_step_by_step_moves_seldom},
    {"aligned objects are aligned", aligned_objects_are_aligned},
    {"posix_memalign checks its arguments and leaves errno alone",
     posix_memalign_checks_its_arguments},
    {"valloc and pvalloc give whole OS pages", valloc_and_pvalloc_give_os_pages},
    {"every form of new and delete works", every_form_of_new_and_delete_works},
    {"a sized delete returns the object to its class",
     a_sized_delete_returns_the_object_to_its_class},
    {"new calls the new-handler, then throws", new_throws_and_calls_the_handler},
    {"hooks see every allocation and deallocation", hooks_see_every_allocation},
    {"freed neighbours merge and can be given back", large_memory_is_merged_and_released},
    {"mallinfo adds up", mallinfo_adds_up},
};

}  // namespace

int main(int argc, char** argv) {
  return check::run(kTests, argc, argv);
}
