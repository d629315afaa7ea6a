#include "metadata.h"

namespace mallacc {
namespace {

constexpr size_t kRegion = 256 * 1024;
constexpr size_t kLine = 64;

Lock g_lock;
char* g_region = nullptr;
size_t g_left = 0;
size_t g_total = 0;

}  // namespace

void* metadata_alloc(size_t bytes) {
  bytes = (bytes + kLine - 1) & ~(kLine - 1);
  Locked hold(g_lock);
  if (bytes > g_left) {
    if (bytes > kRegion / 4) {
      void* own = os::map(bytes);
      if (own != nullptr) g_total += bytes;
      return own;
    }
    char* fresh = static_cast<char*>(os::map(kRegion));
    if (fresh == nullptr) return nullptr;
    g_region = fresh;
    g_left = kRegion;
  }
  void* result = g_region;
  g_region += bytes;
  g_left -= bytes;
  g_total += bytes;
  return result;
}

size_t metadata_bytes() {
  Locked hold(g_lock);
  return g_total;
}

Lock& metadata_lock() {
  return g_lock;
}

}  // namespace mallacc
