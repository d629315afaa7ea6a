// The protocol of the markers, proved against a malloc cache in software.
//
// The library under test is the trace build: each marker calls mallacc_trace(). The model below is
// told what hardware would be told and keeps a Head and a Next per size class. At every pop the
// true values are at hand, so a list that changed behind the cache's back is found at once.
// Hardware may forget entries; this model never does, which is the hardest case.
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>

#include <new>

#include "../src/size_classes.h"
#include "check.h"
#include "mallacc.h"

namespace {

enum class Region { kNone, kLookup, kSample, kPop };

// One malloc cache per thread: threads that share a core flush it when they alternate.
struct Model {
  struct Entry {
    uintptr_t head, next;
  };
  Entry entries[mallacc::kClassCount];
  Region region;
  bool in_call, hit, prefetch_due, ended;
  uintptr_t lookup_size, popped_class, head, next;  // operands of the markers before
  uintptr_t result;
  uint64_t pops, hits, pushes, invalidations, flushes, samples, calls;
};
__thread Model t_model;

void fail(const char* what) {
  check::report(false, __FILE__, __LINE__, what);
}

void expect(bool ok, const char* what) {
  if (!ok) fail(what);
}

void open_region(Model& m, Region region) {
  expect(m.in_call, "regions open inside a call");
  expect(!m.prefetch_due, "a prefetch follows its pop before any other region");
  m.region = region;
}

void close_region(Model& m, Region region) {
  expect(m.region == region, "a region is closed by its own marker");
  m.region = Region::kNone;
}

void update(Model& m, uintptr_t size, uintptr_t bytes, uintptr_t cls) {
  close_region(m, Region::kLookup);
  expect(size == m.lookup_size, "UPDATE names the size of its LOOKUP");
  expect(cls >= 1 && cls < mallacc::kClassCount && bytes == mallacc::class_bytes(cls),
         "UPDATE names a class and its bytes");
  expect(bytes >= size && (cls == 1 || mallacc::class_bytes(cls - 1) < size),
         "UPDATE names the smallest class that holds the size");
}

void pop_end(Model& m, uintptr_t head, uintptr_t next) {
  close_region(m, Region::kPop);
  Model::Entry& entry = m.entries[m.popped_class];
  expect(head != 0 && next == *reinterpret_cast<uintptr_t*>(head), "next is the word at head");
  expect(entry.head == 0 || entry.head == head, "a cached Head is the list's head");
  expect(entry.next == 0 || entry.next == next, "a cached Next is the word at the head");
  ++m.pops;
  m.hit = entry.head != 0 && entry.next != 0;
  m.hits += m.hit;
  // A hit moves Next up; a miss drops a lone Head too.
  entry = m.hit ? Model::Entry{entry.next, 0} : Model::Entry{0, 0};
  m.head = head;
  m.next = next;
  m.prefetch_due = true;
}

void prefetch(Model& m, uintptr_t cls, uintptr_t head, uintptr_t next) {
  expect(m.prefetch_due && cls == m.popped_class && head == m.head && next == m.next,
         "PREFETCH has the values of its pop");
  m.prefetch_due = false;
  if (next == 0) {
    // The list is empty now; after a hit the new Head would be null, which is no Head.
    return;
  }
  Model::Entry& entry = m.entries[cls];
  if (m.hit) {
    entry.next = *reinterpret_cast<uintptr_t*>(next);
  } else {
    entry.head = next;
  }
}

void push(Model& m, uintptr_t cls, uintptr_t object) {
  expect(m.in_call, "pushes are part of a call");
  expect(object != 0 && cls >= 1 && cls < mallacc::kClassCount, "PUSH names a class and an object");
  m.entries[cls] = Model::Entry{object, m.entries[cls].head};
  ++m.pushes;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void mallacc_trace(unsigned op, unsigned long a,
                                                                     unsigned long b,
                                                                     unsigned long c) {
  Model& m = t_model;
  switch (op) {
    case MALLACC_OP_LOOKUP:
      open_region(m, Region::kLookup);
      m.lookup_size = a;
      break;
    case MALLACC_OP_UPDATE:
      update(m, a, b, c);
      break;
    case MALLACC_OP_SAMPLE:
      open_region(m, Region::kSample);
      break;
    case MALLACC_OP_SAMPLE_END:
      close_region(m, Region::kSample);
      ++m.samples;
      break;
    case MALLACC_OP_POP:
      open_region(m, Region::kPop);
      m.popped_class = a;
      break;
    case MALLACC_OP_POP_END:
      pop_end(m, a, b);
      break;
    case MALLACC_OP_PUSH:
      push(m, a, b);
      break;
    case MALLACC_OP_PREFETCH:
      prefetch(m, a, b, c);
      break;
    case MALLACC_OP_INVALIDATE:
      m.entries[a] = Model::Entry{0, 0};
      m.region = Region::kNone;
      ++m.invalidations;
      break;
    case MALLACC_OP_FLUSH:
      memset(m.entries, 0, sizeof m.entries);
      m.region = Region::kNone;
      ++m.flushes;
      break;
    case MALLACC_OP_CALL_END:
      expect(m.in_call, "CALL_END ends a call");
      expect(!m.prefetch_due, "a pop is followed by its prefetch inside the call");
      m.in_call = false;
      m.ended = true;
      m.region = Region::kNone;
      m.result = a;
      break;
    default:
      if (op < MALLACC_OP_CALL_BEGIN || op > MALLACC_OP_CALL_BEGIN + MALLACC_KIND_MEMALIGN) {
        fail("the operation is known");
      }
      expect(!m.in_call, "entry points do not nest");
      m.in_call = true;
      ++m.calls;
      break;
  }
}

namespace {

struct Object {
  void* memory;
  size_t size;
  size_t align;  // 0: from malloc and its like
};

size_t random_size(check::Random& random) {
  const uint64_t kind = random.below(1000);
  if (kind < 700) return random.below(257);
  if (kind < 950) return random.below(4096);
  if (kind < 998) return random.below(65536);
  return random.below(600000);
}

// One call, and that it was marked as one.
template <typename Call>
void* marked(Call call) {
  Model& m = t_model;
  m.ended = false;
  void* result = call();
  expect(!m.in_call && m.ended, "an entry point begins and ends a call");
  return result;
}

void allocate(check::Random& random, Object& slot) {
  const size_t size = random_size(random);
  slot = {nullptr, size, 0};
  switch (random.below(8)) {
    case 0:
      slot.memory = marked([&] { return calloc(1, size); });
      break;
    case 1:
      slot.memory = marked([&] { return ::operator new(size); });
      break;
    case 2:
      slot.memory = marked([&] { return ::operator new[](size, std::nothrow); });
      break;
    case 3:
      slot.align = size_t{8} << random.below(random.below(20) == 0 ? 12 : 7);
      slot.memory = marked([&] { return memalign(slot.align, size); });
      break;
    default:
      slot.memory = marked([&] { return malloc(size); });
      break;
  }
  expect(slot.memory != nullptr && t_model.result == reinterpret_cast<uintptr_t>(slot.memory),
         "CALL_END has the result");
  if (size != 0) memset(slot.memory, 0xff, size < 64 ? size : 64);
}

void release(check::Random& random, Object& slot) {
  auto done = [](auto call) { marked([&]() -> void* { return call(), nullptr; }); };
  switch (random.below(4)) {
    case 0:
      done([&] { free(slot.memory); });
      break;
    case 1:
      done([&] { ::operator delete(slot.memory); });
      break;
    default:
      if (slot.align != 0) {
        done([&] { ::operator delete(slot.memory, slot.size, std::align_val_t(slot.align)); });
      } else {
        done([&] { ::operator delete(slot.memory, slot.size); });
      }
      break;
  }
  slot.memory = nullptr;
}

void resize(check::Random& random, Object& slot) {
  const size_t size = random_size(random) + 1;
  slot.memory = marked([&] { return realloc(slot.memory, size); });
  // Its class may be larger than its size says.
  slot.align = 1;
  slot.size = size;
}

void churn(uint64_t seed, uint64_t operations, size_t slots) {
  Object* objects = static_cast<Object*>(calloc(slots, sizeof(Object)));
  check::Random random(seed);
  for (uint64_t i = 0; i < operations; ++i) {
    Object& slot = objects[random.below(slots)];
    if (slot.memory == nullptr) {
      allocate(random, slot);
    } else if (random.below(16) == 0) {
      resize(random, slot);
    } else {
      release(random, slot);
    }
  }
  for (size_t i = 0; i < slots; ++i) {
    if (objects[i].memory != nullptr) release(random, objects[i]);
  }
  free(objects);
}

void show(const char* what) {
  const Model& m = t_model;
  printf("     %s: %llu calls, %llu pops (%llu hits), %llu pushes, %llu invalidations\n", what,
         static_cast<unsigned long long>(m.calls), static_cast<unsigned long long>(m.pops),
         static_cast<unsigned long long>(m.hits), static_cast<unsigned long long>(m.pushes),
         static_cast<unsigned long long>(m.invalidations));
}

// Operations in the main test; the command line may ask for more.
uint64_t g_operations = 24000000;

void the_cache_is_right_at_every_pop() {
  churn(1, g_operations / 2, 20000);
  churn(2, g_operations / 4, 300);
  churn(3, g_operations / 4, 200000);
  show("one thread");
  const Model& m = t_model;
  CHECK(m.calls >= g_operations);
  // The cases that matter have happened, and often.
  CHECK(m.pops > g_operations / 4 && m.pushes > g_operations / 4);
  CHECK(m.hits > m.pops / 4 && m.hits < m.pops);
  CHECK(m.invalidations > 10000);
  CHECK(m.samples >= m.pops);
}

void the_cache_is_right_in_every_thread() {
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; ++i) {
    pthread_create(
        &threads[i], nullptr,
        [](void* argument) -> void* {
          churn(reinterpret_cast<uintptr_t>(argument) + 10, 300000, 2000);
          CHECK(t_model.flushes >= 1);
          return nullptr;
        },
        reinterpret_cast<void*>(i));
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

void calls_end_before_bad_alloc_is_thrown() {
  for (int i = 0; i < 3; ++i) {
    t_model.ended = false;
    try {
      ::operator delete(::operator new(SIZE_MAX / 2));
    } catch (const std::bad_alloc&) {
      // The runtime allocates the exception itself after the call has ended.
      expect(!t_model.in_call && t_model.ended, "a throwing call has ended");
      continue;
    }
    fail("bad_alloc is thrown");
  }
}

void freeing_null_is_a_call() {
  const uint64_t before = t_model.calls;
  free(nullptr);
  ::operator delete(nullptr);
  ::operator delete (nullptr, size_t{8});
  CHECK(t_model.calls == before + 3 && !t_model.in_call);
}

const check::Test kTests[] = {
    {"a cached Head and Next are right at every pop", the_cache_is_right_at_every_pop},
    {"and in every thread", the_cache_is_right_in_every_thread},
    {"calls end before bad_alloc is thrown", calls_end_before_bad_alloc_is_thrown},
    {"freeing null is a call", freeing_null_is_a_call},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) g_operations = strtoull(argv[1], nullptr, 10);
  return check::run(kTests, 1, argv);
}
