// A size-class allocator that keeps the promises of docs/isa.md, on real free lists: the third
// opinion beside RTL and model. A pop that hits must return the list's first two objects.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "programs.hpp"

namespace cosim {

namespace {

class Allocator {
 public:
  explicit Allocator(Lockstep& bench) : bench_(bench), random_(bench.random) {
    lists_.resize(2 * bench.entries());
    // An object's first word is the object below it. A load sees memory as it is in program order.
    bench_.memory = [this](uint64_t address) {
      const std::vector<uint64_t>& list = lists_[loading_];
      for (size_t i = 0; i < list.size(); i++) {
        if (list[i] == address) return i == 0 ? uint64_t{0} : list[i - 1];
      }
      return word_of_popped_;
    };
  }

  void step() {
    if (random_.one_in(400)) {
      bench_.delay_max = 1 + static_cast<unsigned>(random_.below(40));
      used_classes_ = 1 + random_.below(lists_.size());
    }
    if (random_.one_in(200)) release(random_.below(used_classes_));
    if (random_.one_in(2000)) {
      bench_.execute({random_.one_in(2) ? MCACHE_FLUSH : uint8_t{MCACHE_FLUSH_LISTS}, 0, 0, 0});
    }
    if (random_.one_in(60)) wrong_path(random_.below(used_classes_));
    if (objects_.empty() || random_.below(100) < 52) {
      allocate(random_.below(used_classes_));
    } else {
      release_object(random_.below(objects_.size()));
    }
    if (random_.one_in(3)) bench_.idle(static_cast<unsigned>(random_.below(12)));
  }

 private:
  static uint64_t block(uint64_t cls) { return 16 * (cls + 1); }

  void fail(const char* what, uint64_t cls, uint64_t want, uint64_t got) const {
    std::fprintf(stderr,
                 "WRONG POINTER (%s), operation %" PRIu64 ", class %" PRIu64
                 ": %s expected %#" PRIx64 ", got %#" PRIx64 "\n",
                 bench_.config().c_str(), bench_.operations(), cls, what, want, got);
    std::exit(1);
  }

  void allocate(uint64_t cls) {
    const uint64_t size = block(cls) - random_.below(16);
    const mcache_result mapped = bench_.execute({MCACHE_LOOKUP, size, 0, 0});
    if (!mapped.hit) bench_.execute({MCACHE_UPDATE, size, block(cls), cls});
    if (mapped.hit && mapped.a != cls) fail("class", cls, cls, mapped.a);
    if (mapped.hit && mapped.b != block(cls)) fail("block size", cls, block(cls), mapped.b);

    std::vector<uint64_t>& list = lists_[cls];
    const mcache_result popped = bench_.complete({MCACHE_POP, cls, 0, 0});
    if (list.empty()) {
      if (popped.hit) fail("hit on an empty list", cls, 0, popped.a);
      bench_.execute({MCACHE_INVALIDATE, cls, 0, 0});
      const uint64_t count = 1 + random_.below(6);
      for (uint64_t i = 0; i < count; i++) list.push_back(fresh_ += 0x10);
      objects_.push_back({cls, fresh_ += 0x10});
      return;
    }
    const uint64_t head = list.back();
    list.pop_back();
    const uint64_t next = list.empty() ? 0 : list.back();
    if (popped.hit && popped.a != head) fail("head", cls, head, popped.a);
    if (popped.hit && popped.b != next) fail("next", cls, next, popped.b);
    objects_.push_back({cls, head});
    loading_ = cls;
    word_of_popped_ = next;
    if (popped.hit) {
      bench_.complete({MCACHE_PREFETCH_NEXT, cls, next, 0});
    } else {
      bench_.complete({MCACHE_PREFETCH_HEAD, cls, head, 0});
    }
  }

  void release_object(size_t which) {
    const Object object = objects_[which];
    objects_[which] = objects_.back();
    objects_.pop_back();
    bench_.complete({MCACHE_PUSH, object.cls, object.address, 0});
    lists_[object.cls].push_back(object.address);
  }

  // The slow path gives objects back to the central list.
  void release(uint64_t cls) {
    std::vector<uint64_t>& list = lists_[cls];
    const uint64_t count = random_.below(list.size() + 1);
    list.resize(list.size() - count);
    bench_.execute({MCACHE_INVALIDATE, cls, 0, 0});
  }

  // Operations of a wrong path, squashed youngest first.
  void wrong_path(uint64_t cls) {
    loading_ = cls;
    word_of_popped_ = 0xbad0;
    const bool popped = !bench_.execute({MCACHE_POP, cls, 0, 0}).wait;
    const bool pushed = random_.one_in(2) && !bench_.execute({MCACHE_PUSH, cls, 0xbad00, 0}).wait;
    const bool loaded =
        random_.one_in(2) && bench_.execute({MCACHE_PREFETCH_HEAD, cls, 0xbad10, 0}).hit;
    const uint64_t other = random_.below(used_classes_);
    const bool updated = random_.one_in(4);
    if (updated) bench_.execute({MCACHE_UPDATE, 24, 48, other});
    if (random_.one_in(2)) bench_.idle(static_cast<unsigned>(random_.below(30)));
    if (updated) bench_.execute({MCACHE_SQUASH_UPDATE, other, 0, 0});
    if (loaded) bench_.execute({MCACHE_SQUASH_PREFETCH, cls, 0, 0});
    if (pushed) bench_.execute({MCACHE_SQUASH_LIST, cls, 0, 0});
    if (popped) bench_.execute({MCACHE_SQUASH_LIST, cls, 0, 0});
  }

  struct Object {
    uint64_t cls, address;
  };

  Lockstep& bench_;
  Random& random_;
  std::vector<std::vector<uint64_t>> lists_;  // the last one is the head
  std::vector<Object> objects_;
  uint64_t fresh_ = 0x10000, used_classes_ = 4, loading_ = 0, word_of_popped_ = 0;
};

}  // namespace

void run_allocator(Lockstep& bench, uint64_t operations) {
  bench.execute({kConfig, 1, 0, 0});
  bench.execute({MCACHE_FLUSH, 0, 0, 0});
  bench.drain();
  Allocator allocator(bench);
  const uint64_t end = bench.operations() + operations;
  while (bench.operations() < end) allocator.step();
  bench.drain();
}

}  // namespace cosim
