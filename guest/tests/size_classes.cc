// The size-class tables against a derivation of its own from TCMalloc's rule: a size may grow by
// its alignment step as long as a span of it wastes at most an eighth; classes that share span
// length and object count are one.
#include "../src/size_classes.h"

#include <malloc.h>
#include <math.h>
#include <stdint.h>

#include "check.h"

namespace {

constexpr int kPage = 8192;
constexpr int kLargest = 262144;

struct Derived {
  int count = 0;
  int bytes[200];
  int pages[200];
  int batch[200];
};

// Straight from the words of the rule, in floating point where it speaks of fractions.
Derived derive() {
  Derived d;
  int size = 8;
  while (size <= kLargest) {
    double move = floor(65536.0 / size);
    if (move < 2) move = 2;
    if (move > 512) move = 512;
    int pages = 1;
    while (true) {
      const double objects = floor(pages * kPage / static_cast<double>(size));
      const double waste = pages * kPage - objects * size;
      if (waste <= pages * kPage / 8.0 && objects >= floor(move / 4)) break;
      ++pages;
    }
    const int last = d.count - 1;
    if (d.count > 0 && d.pages[last] == pages &&
        pages * kPage / d.bytes[last] == pages * kPage / size) {
      d.bytes[last] = size;
      d.batch[last] = static_cast<int>(move);
    } else {
      d.bytes[d.count] = size;
      d.pages[d.count] = pages;
      d.batch[d.count++] = static_cast<int>(move);
    }
    int step = 8;
    if (size >= 16) step = 16;
    if (size >= 128) step = static_cast<int>(exp2(floor(log2(size)))) / 8;
    size += step < kPage ? step : kPage;
  }
  return d;
}

void the_tables_follow_the_rule() {
  const Derived d = derive();
  CHECK(d.count == 87);
  CHECK(mallacc::kClassCount == static_cast<size_t>(d.count) + 1);
  for (int i = 0; i < d.count; ++i) {
    const size_t cls = static_cast<size_t>(i) + 1;
    CHECK(mallacc::class_bytes(cls) == static_cast<size_t>(d.bytes[i]));
    CHECK(mallacc::shape(cls).span_pages == d.pages[i]);
    CHECK(mallacc::shape(cls).batch == d.batch[i]);
  }
}

void known_classes_are_where_the_rule_puts_them() {
  // Class numbers as the TCMalloc of the paper has them.
  const size_t known[][2] = {{8, 1},    {16, 2},    {32, 3},    {48, 4},     {128, 9},
                             {144, 10}, {256, 17},  {288, 18},  {512, 25},   {576, 26},
                             {640, 27}, {1024, 33}, {1152, 34}, {262144, 87}};
  for (const auto& pair : known) {
    CHECK(mallacc::class_of(pair[0]) == pair[1]);
    CHECK(mallacc::class_bytes(pair[1]) == pair[0]);
  }
}

void every_size_gets_the_smallest_class_that_holds_it() {
  const Derived d = derive();
  int cls = 0;
  for (int size = 0; size <= kLargest; ++size) {
    while (d.bytes[cls] < size) ++cls;
    CHECK(mallacc::class_of(static_cast<size_t>(size)) == static_cast<size_t>(cls) + 1);
  }
}

void malloc_hands_out_the_bytes_of_the_class() {
  const Derived d = derive();
  int cls = 0;
  for (int size = 0; size <= kLargest; size += 1 + size / 50) {
    while (d.bytes[cls] < size) ++cls;
    void* p = malloc(static_cast<size_t>(size));
    CHECK(malloc_usable_size(p) == static_cast<size_t>(d.bytes[cls]));
    free(p);
  }
}

void the_index_has_the_published_form_and_length() {
  CHECK(sizeof mallacc::kClasses.class_of == 2169);
  for (uint32_t s = 0; s <= static_cast<uint32_t>(kLargest); ++s) {
    const uint32_t published = s <= 1024 ? (s + 7) >> 3 : (s + 15487) >> 7;
    if (mallacc::class_index(s) != published) {
      CHECK(mallacc::class_index(s) == published);
      return;
    }
  }
}

const check::Test kTests[] = {
    {"the tables follow the rule", the_tables_follow_the_rule},
    {"known classes are where the rule puts them", known_classes_are_where_the_rule_puts_them},
    {"every size gets the smallest class that holds it",
     every_size_gets_the_smallest_class_that_holds_it},
    {"malloc hands out the bytes of the class", malloc_hands_out_the_bytes_of_the_class},
    {"the index has the published form and length", the_index_has_the_published_form_and_length},
};

}  // namespace

int main(int argc, char** argv) {
  return check::run(kTests, argc, argv);
}
