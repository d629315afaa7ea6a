#include "size_classes.h"

namespace mallacc {
namespace {

constexpr size_t alignment_of(size_t size) {
  if (size < kMinAlign) return 8;
  if (size < 128) return kMinAlign;
  size_t power = 128;
  while (power * 2 <= size) power *= 2;
  return power / 8 < kPageSize ? power / 8 : kPageSize;
}

constexpr size_t batch_of(size_t size) {
  const size_t fit = kBatchBytes / size;
  return fit < kMinBatch ? kMinBatch : fit > kMaxBatch ? kMaxBatch : fit;
}

// The shortest span that wastes at most an eighth and holds a quarter of a batch.
constexpr size_t span_bytes_of(size_t size) {
  size_t bytes = kPageSize;
  while (bytes % size > bytes / 8 || bytes / size < batch_of(size) / 4) bytes += kPageSize;
  return bytes;
}

struct AllTables {
  ClassTables tables{};
  ShapeTable shapes{};
  size_t count = 0;
};

constexpr AllTables make_tables() {
  AllTables all;
  size_t cls = 0;
  for (size_t size = 8; size <= kMaxSmallSize; size += alignment_of(size)) {
    const size_t span_bytes = span_bytes_of(size);
    const size_t pages = span_bytes / kPageSize;
    // As many objects in as many pages as the class before: that class may as well be larger.
    const bool same = cls > 0 && all.shapes.of[cls].span_pages == pages &&
                      span_bytes / all.tables.bytes[cls] == span_bytes / size;
    if (!same) ++cls;
    all.tables.bytes[cls] = size;
    all.shapes.of[cls].span_pages = static_cast<uint16_t>(pages);
    all.shapes.of[cls].batch = static_cast<uint16_t>(batch_of(size));
  }
  all.count = cls + 1;
  size_t next = 0;
  for (size_t c = 1; c <= cls; ++c) {
    for (; next <= all.tables.bytes[c]; next += next < kFineLimit ? 8 : 128) {
      all.tables.class_of[class_index(next)] = static_cast<uint8_t>(c);
    }
  }
  return all;
}

constexpr AllTables kAll = make_tables();
static_assert(kAll.count == kClassCount, "87 usable classes and class 0");
static_assert(kClassIndexCount == 2169, "the index table has 2,169 bytes");
static_assert(sizeof(kAll.tables.class_of) == kClassIndexCount);

}  // namespace

const ClassTables kClasses = kAll.tables;
const ShapeTable kShapes = kAll.shapes;

}  // namespace mallacc
