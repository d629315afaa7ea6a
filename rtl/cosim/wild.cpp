// Constrained random operations without regard to any promise of software: every operand near a
// border, classes and pointers from small pools so that they meet.
#include "programs.hpp"

namespace cosim {

namespace {

class Wild {
 public:
  explicit Wild(Lockstep& bench) : bench_(bench), random_(bench.random) {
    // Loads return anything: null, too wide, the cached Head, an ordinary pointer.
    bench_.memory = [this](uint64_t address) { return random_.one_in(4) ? address : pointer(); };
  }

  void step() {
    if (random_.one_in(500)) phase_ = random_.below(4);
    if (random_.one_in(300)) {
      // Now and then slow enough for entries to be evicted while their word is on its way.
      const uint64_t longest = random_.one_in(4) ? 800 : 60;
      bench_.delay_max = 1 + static_cast<unsigned>(random_.below(longest));
    }
    if (random_.one_in(8)) bench_.idle(static_cast<unsigned>(random_.below(6)));
    bench_.execute(operation());
  }

 private:
  uint64_t mask(uint64_t value) const { return bench_.xlen() == 64 ? value : value & 0xffffffffu; }

  // Phases differ in how many classes there are: few fill up lists, many evict.
  uint64_t cls() {
    if (random_.one_in(200)) return mask(random_.next());
    if (random_.one_in(40)) return 250 + random_.below(12);
    static const uint64_t scale[] = {1, 2, 4, 8};
    const uint64_t classes = bench_.entries() * scale[phase_] / 2 + 1;
    return random_.below(classes);
  }

  uint64_t size() {
    switch (random_.below(16)) {
      case 0:
        return 1000 + random_.below(300);
      case 1:
        return 1024 + random_.below(2);
      case 2:
        return 4090 + random_.below(12);
      case 3:
        return 508700 + random_.below(300);
      case 4:
        return (1u << 20) - 4 + random_.below(8);
      case 5:
        return random_.one_in(4) ? mask(random_.next()) : random_.below(1u << 20);
      case 6:
        return 128 * random_.below(64);
      default:
        return random_.below(16 * bench_.entries() * (phase_ + 1));
    }
  }

  uint64_t pointer() {
    if (random_.one_in(30)) return 0;
    if (random_.one_in(30)) return mask(random_.next());
    if (random_.one_in(60)) return mask((uint64_t{1} << 48) - 2 + random_.below(4));
    return 1 + random_.below(6);
  }

  Operation update() {
    const uint64_t c = cls();
    // Mostly an honest mapping, so that entries live long enough to matter.
    if (!random_.one_in(4)) {
      const uint64_t block = 32 * (c + 1);
      return {MCACHE_UPDATE, block - random_.below(32), block, c};
    }
    const uint64_t requested = size();
    const uint64_t step = random_.one_in(2) ? 8 : 128;
    switch (random_.below(4)) {
      case 0:
        return {MCACHE_UPDATE, requested, size(), c};
      case 1:
        return {MCACHE_UPDATE, requested, requested + random_.below(40), c};
      default:
        return {MCACHE_UPDATE, requested, mask((requested / step + random_.below(6)) * step), c};
    }
  }

  Operation lookup() {
    // Near the borders of an entry that exists.
    if (random_.one_in(2)) {
      const Entry& entry = bench_.state()[random_.below(bench_.entries())];
      const uint64_t scale = bench_.index() ? (entry[3] > 128 ? 128 : 8) : 1;
      const uint64_t key = entry[3 + random_.below(2)] + random_.below(3) - 1;
      const uint64_t base = scale == 128 ? (key - 120) * 128 : key * scale;
      return {MCACHE_LOOKUP, mask(base) & 0xfffff, 0, 0};
    }
    return {MCACHE_LOOKUP, random_.one_in(3) ? size() : random_.below(32 * bench_.entries()), 0, 0};
  }

  Operation prefetch() {
    const uint64_t c = cls();
    const Entry* entry = bench_.entry_of(c);
    if (entry != nullptr && !random_.one_in(4)) {
      if ((*entry)[5] != 0) return {MCACHE_PREFETCH_NEXT, c, (*entry)[5], 0};
      return {MCACHE_PREFETCH_HEAD, c, pointer(), 0};
    }
    const uint8_t code = random_.one_in(2) ? MCACHE_PREFETCH_NEXT : MCACHE_PREFETCH_HEAD;
    return {code, c, pointer(), 0};
  }

  Operation rare() {
    const uint64_t c = cls();
    switch (random_.below(40)) {
      case 0:
        return {MCACHE_FLUSH, 0, 0, 0};
      case 1:
        return {MCACHE_FLUSH, random_.next() & 0xff, 0, 0};
      case 2:
        return {MCACHE_FLUSH_LISTS, 0, 0, 0};
      case 3:
        return {kConfig, random_.below(2), 0, 0};
      case 4:
        return {MCACHE_SAMPLE_SET, random_.one_in(3) ? 0 : random_.below(5000), 0, 0};
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
        return {MCACHE_INVALIDATE, c, 0, 0};
      case 10:
      case 11:
      case 12:
      case 13:
        return {MCACHE_SQUASH_LIST, c, 0, 0};
      case 14:
      case 15:
      case 16:
      case 17:
      case 18:
      case 19:
        return {MCACHE_SQUASH_PREFETCH, c, 0, 0};
      case 20:
      case 21:
        return {MCACHE_SQUASH_UPDATE, c, 0, 0};
      default:
        return {MCACHE_SAMPLE, size(), 0, 0};
    }
  }

  Operation operation() {
    const uint64_t kind = random_.below(32);
    if (kind < 4) return update();
    if (kind < 10) return lookup();
    if (kind < 15) return {MCACHE_POP, cls(), 0, 0};
    if (kind < 23) return {MCACHE_PUSH, cls(), pointer(), 0};
    if (kind < 29) return prefetch();
    return rare();
  }

  Lockstep& bench_;
  Random& random_;
  uint64_t phase_ = 1;
};

}  // namespace

void run_wild(Lockstep& bench, uint64_t operations) {
  Wild wild(bench);
  const uint64_t end = bench.operations() + operations;
  // An empty cache is flushed, once of each kind, before anything fills it.
  bench.execute({MCACHE_FLUSH_LISTS, 0, 0, 0});
  bench.execute({MCACHE_FLUSH, 0, 0, 0});
  while (bench.operations() < end) wild.step();
  bench.drain();
}

// Every entry gets a prefetch before the first one returns, and is evicted.
void run_all_pending(Lockstep& bench) {
  bench.execute({kConfig, 1, 0, 0});
  bench.execute({MCACHE_FLUSH, 0, 0, 0});
  bench.drain();
  bench.memory = [](uint64_t address) { return address + 0x10; };
  const unsigned entries = bench.entries();
  bench.hold_returns = true;
  for (uint64_t c = 0; c < entries; c++) {
    bench.execute({MCACHE_UPDATE, 16 * c + 1, 16 * (c + 1), c});
  }
  for (uint64_t c = 0; c < entries; c++) {
    bench.execute({MCACHE_PREFETCH_HEAD, c, 0x1000 + 0x100 * c, 0});
  }
  // As many new classes evict them all while their words are on the way.
  for (uint64_t c = entries; c < 2 * entries; c++) {
    bench.execute({MCACHE_UPDATE, 16 * c + 1, 16 * (c + 1), c});
  }
  bench.hold_returns = false;
  bench.drain();
}

}  // namespace cosim
