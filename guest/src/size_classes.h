// Size classes: which sizes the small-object lists hand out. All tables are made by the compiler,
// so they are there before any constructor runs.
#pragma once

#include "base.h"
#include "config.h"

namespace mallacc {

// Index into the class table: steps of 8 bytes up to 1 KB, of 128 bytes above. The second form
// continues where the first ends.
constexpr size_t kFineLimit = 1024;
ALWAYS_INLINE constexpr uint32_t fine_index(size_t size) {
  return (static_cast<uint32_t>(size) + 7) >> 3;
}
ALWAYS_INLINE constexpr uint32_t coarse_index(size_t size) {
  return (static_cast<uint32_t>(size) + 127 + (120 << 7)) >> 7;
}
ALWAYS_INLINE constexpr uint32_t class_index(size_t size) {
  return size <= kFineLimit ? fine_index(size) : coarse_index(size);
}
constexpr size_t kClassIndexCount = class_index(kMaxSmallSize) + 1;

// The two tables of the fast path lie in one object: one base register serves both loads.
struct ClassTables {
  size_t bytes[kClassCount];           // class -> size it hands out
  uint8_t class_of[kClassIndexCount];  // class_index(size) -> class
};
extern const ClassTables kClasses __attribute__((visibility("hidden")));

// What the slow paths want to know of a class.
struct ClassShape {
  uint16_t batch;       // objects that move between caches at once
  uint16_t span_pages;  // allocator pages of a span of this class
};
struct ShapeTable {
  ClassShape of[kClassCount];
};
extern const ShapeTable kShapes __attribute__((visibility("hidden")));

inline size_t class_bytes(size_t cls) {
  return kClasses.bytes[cls];
}
inline const ClassShape& shape(size_t cls) {
  return kShapes.of[cls];
}
inline size_t class_of(size_t size) {
  return kClasses.class_of[class_index(size)];
}

}  // namespace mallacc
