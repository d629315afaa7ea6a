// Questions about the heap, and requests to tidy it: glibc's interface and our own.
#include <malloc.h>

#include "central_list.h"
#include "hooks.h"
#include "metadata.h"
#include "page_heap.h"
#include "sampler.h"
#include "thread_registry.h"

namespace {

int saturate(size_t bytes) {
  return bytes > static_cast<size_t>(INT32_MAX) ? INT32_MAX : static_cast<int>(bytes);
}

size_t used_bytes(const mallacc_stats& stats) {
  return stats.system_bytes - stats.page_free_bytes - stats.page_returned_bytes -
         stats.central_bytes - stats.cached_bytes;
}

}  // namespace

extern "C" {

EXPORT void mallacc_get_stats(struct mallacc_stats* stats) {
  const mallacc::PageHeapStats heap = mallacc::g_page_heap.stats();
  *stats = {};
  stats->system_bytes = heap.system_bytes;
  stats->metadata_bytes = mallacc::metadata_bytes();
  stats->page_free_bytes = heap.free_bytes;
  stats->page_returned_bytes = heap.returned_bytes;
  stats->large_bytes = heap.large_bytes;
  for (size_t cls = 1; cls < mallacc::kClassCount; ++cls) {
    stats->central_bytes += mallacc::g_central[cls].free_bytes(cls);
  }
  stats->cached_bytes = mallacc::registry::cached_bytes();
  stats->samples = mallacc::g_samples.count.load(std::memory_order_relaxed);
  stats->sampled_bytes = mallacc::g_samples.bytes.load(std::memory_order_relaxed);
}

EXPORT size_t mallacc_release_memory(size_t bytes) {
  return mallacc::g_page_heap.release(bytes);
}

EXPORT struct mallinfo2 mallinfo2() {
  mallacc_stats stats;
  mallacc_get_stats(&stats);
  struct mallinfo2 info = {};
  info.arena = stats.system_bytes;
  info.hblkhd = stats.large_bytes;
  info.fsmblks = stats.cached_bytes + stats.central_bytes;
  info.uordblks = used_bytes(stats);
  info.fordblks = stats.system_bytes - info.uordblks;
  info.keepcost = stats.page_free_bytes;
  return info;
}

EXPORT struct mallinfo mallinfo() {
  const struct mallinfo2 wide = mallinfo2();
  struct mallinfo info = {};
  info.arena = saturate(wide.arena);
  info.hblkhd = saturate(wide.hblkhd);
  info.fsmblks = saturate(wide.fsmblks);
  info.uordblks = saturate(wide.uordblks);
  info.fordblks = saturate(wide.fordblks);
  info.keepcost = saturate(wide.keepcost);
  return info;
}

// No parameter of glibc's has a meaning here; 1 says that the value was accepted.
EXPORT int mallopt(int, int) {
  return 1;
}

EXPORT int malloc_trim(size_t) {
  return mallacc::g_page_heap.release(SIZE_MAX) > 0 ? 1 : 0;
}

}  // extern "C"
