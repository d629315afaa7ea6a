// Replays an operation stream of a real program; the format is that of crates/mcache/src/ops.rs.
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "programs.hpp"

namespace cosim {

namespace {

// Pointers of a 64-bit program are folded to the width of the cache: objects keep their identity
// (16-byte granules), so that a cache for 32-bit pointers replays the same lists.
uint64_t fold(const Lockstep& bench, uint64_t pointer) {
  if (bench.pointer_bits() >= 48) return pointer;
  return (pointer ^ (pointer >> 32) << 4) & 0xffffffffu;
}

struct Stream {
  Lockstep& bench;
  uint64_t word = 0;
  bool found = false, popped = false;
  mcache_result pop{};

  // False if the line is no operation.
  bool line(char* text) {
    uint64_t a = 0, b = 0, c = 0, d = 0;
    text[std::strcspn(text, "#\r\n")] = 0;
    char name[16] = "";
    if (std::sscanf(text, "%15s", name) < 1) return true;
    const char* rest = text + std::strspn(text, " \t") + std::strlen(name);
    const auto is = [&](const char* word, const char* format, int count) {
      return std::strcmp(name, word) == 0 && std::sscanf(rest, format, &a, &b, &c, &d) == count;
    };
    if (is("lookup", "%" SCNu64, 1)) {
      found = bench.execute({MCACHE_LOOKUP, a, 0, 0}).hit;
    } else if (is("update", "%" SCNu64 "%" SCNu64 "%" SCNu64, 3)) {
      if (!found) bench.execute({MCACHE_UPDATE, a, b, c});
    } else if (is("sample", "%" SCNu64, 1)) {
      bench.execute({MCACHE_SAMPLE, a, 0, 0});
    } else if (is("pop", "%" SCNu64, 1)) {
      pop = bench.complete({MCACHE_POP, a, 0, 0});
    } else if (is("popend", "%" SCNx64 "%" SCNx64, 2)) {
      if (pop.hit && (pop.a != fold(bench, a) || pop.b != fold(bench, b))) {
        std::fprintf(stderr,
                     "WRONG POINTER: the list held %" PRIx64 " %" PRIx64 ", the cache said %" PRIx64
                     " %" PRIx64 "\n",
                     fold(bench, a), fold(bench, b), pop.a, pop.b);
        return false;
      }
    } else if (is("push", "%" SCNu64 "%" SCNx64, 2)) {
      bench.complete({MCACHE_PUSH, a, fold(bench, b), 0});
    } else if (is("prefetch", "%" SCNu64 "%" SCNx64 "%" SCNx64 "%" SCNx64, 4)) {
      word = fold(bench, pop.hit ? d : c);
      const uint8_t code = pop.hit ? MCACHE_PREFETCH_NEXT : MCACHE_PREFETCH_HEAD;
      bench.complete({code, a, fold(bench, pop.hit ? c : b), 0});
    } else if (is("invalidate", "%" SCNu64, 1)) {
      bench.execute({MCACHE_INVALIDATE, a, 0, 0});
    } else if (std::strcmp(name, "flush") == 0) {
      bench.execute({MCACHE_FLUSH_LISTS, 0, 0, 0});
    } else {
      return false;
    }
    // The program computes something between its allocator calls.
    if (std::strcmp(name, "prefetch") == 0 || std::strcmp(name, "push") == 0) {
      bench.idle(static_cast<unsigned>(bench.random.below(16)));
    }
    return true;
  }
};

}  // namespace

int run_stream(Lockstep& bench, const char* path) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot read the operation stream %s\n", path);
    return 1;
  }
  char text[256];
  int number = 1;
  int bad = 0;
  Stream stream{bench};
  bench.memory = [&stream](uint64_t) { return stream.word; };
  const bool header = std::fgets(text, sizeof text, file) != nullptr &&
                      std::strncmp(text, "mallacc-ops 1\n", 14) == 0;
  if (!header) bad = 1;
  while (bad == 0 && std::fgets(text, sizeof text, file) != nullptr) {
    number++;
    if (!stream.line(text)) bad = number;
  }
  std::fclose(file);
  if (bad != 0) {
    std::fprintf(stderr, "%s, line %d: %s\n", path, bad,
                 header ? "not an operation of \"mallacc-ops 1\", or a wrong pointer (above)"
                        : "the first line must be \"mallacc-ops 1\"");
  }
  bench.drain();
  return bad;
}

}  // namespace cosim
