// Constants of the allocator. Values are those of TCMalloc as gperftools 2.4 ships it (the version
// the Mallacc paper annotated), so that what a machine gains here it gains there.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mallacc {

// Allocator pages (not OS pages): spans are runs of them.
constexpr size_t kPageShift = 13;
constexpr size_t kPageSize = size_t{1} << kPageShift;

// Requests above this are large objects: whole spans, no size class.
constexpr size_t kMaxSmallSize = 256 * 1024;
// Class 0 means "large"; 1..87 are usable.
constexpr size_t kClassCount = 88;
constexpr size_t kMinAlign = 16;

// A batch is what moves between a thread cache and a central list at once.
constexpr size_t kBatchBytes = 64 * 1024;
constexpr size_t kMinBatch = 2;
constexpr size_t kMaxBatch = 512;

// Thread caches.
constexpr size_t kOverallCacheBytes = 32 * 1024 * 1024;
constexpr size_t kMinCacheBytes = 2 * kMaxSmallSize;
constexpr size_t kCacheStep = 64 * 1024;  // by which a cache's limit grows, or is taken from others
constexpr int kStealTries = 10;
constexpr uint32_t kMaxListLength = 8192;
constexpr uint32_t kMaxOverages = 3;

// Transfer caches.
constexpr size_t kMaxTransferSlots = 64;
constexpr size_t kInitialTransferSlots = 16;
constexpr size_t kMaxTransferBytes = 1024 * 1024;

// The page heap.
constexpr size_t kListedPages = 128;  // spans of 1..127 pages have a list per length
constexpr size_t kMinGrowPages = (1024 * 1024) >> kPageShift;
constexpr int64_t kReleaseWaitPerPage = 1000;          // release rate 1.0
constexpr int64_t kReleaseWaitMax = int64_t{1} << 20;  // pages
constexpr int64_t kReleaseWaitIdle = int64_t{1} << 18;

// x86-64 user addresses have 47 bits; the pagemap covers 48.
constexpr size_t kAddressBits = 48;

constexpr size_t pages_for(size_t bytes) {
  return (bytes >> kPageShift) + ((bytes & (kPageSize - 1)) != 0);
}

}  // namespace mallacc
