// soc IMAGE.bin [CYCLES]: runs a program on the test system; its console goes to stdout, its exit
// code is ours. 3 = the core trapped, 4 = too many cycles, 5 = a promise to the cache was broken.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "Vsoc.h"
#include "Vsoc___024root.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s IMAGE.bin [CYCLES]\n", argv[0]);
    return 2;
  }
  const unsigned long long limit = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 200000000ull;
  const std::unique_ptr<Vsoc> top(new Vsoc);
  auto& memory = top->rootp->soc_top__DOT__u_memory__DOT__memory;
  std::FILE* file = std::fopen(argv[1], "rb");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot read the image %s\n", argv[1]);
    return 2;
  }
  unsigned char word[4];
  size_t at = 0;
  for (size_t got; (got = std::fread(word, 1, 4, file)) > 0; at++) {
    for (size_t i = got; i < 4; i++) word[i] = 0;
    memory[at] = word[0] | word[1] << 8 | word[2] << 16 | static_cast<unsigned>(word[3]) << 24;
  }
  std::fclose(file);

  for (unsigned long long cycle = 0; cycle < limit; cycle++) {
    top->rst_ni = cycle >= 8;
    top->clk_i = 0;
    top->eval();
    if (top->console_valid_o) std::putchar(top->console_data_o);
    if (top->exit_valid_o) return static_cast<int>(top->exit_code_o);
    if (cycle >= 8 && top->trap_o) {
      std::fprintf(stderr, "the core trapped in cycle %llu\n", cycle);
      return 3;
    }
    if (cycle >= 8 && top->violation_o) {
      std::fprintf(stderr, "a promise to the malloc cache was broken in cycle %llu\n", cycle);
      return 5;
    }
    top->clk_i = 1;
    top->eval();
  }
  std::fprintf(stderr, "no exit after %llu cycles\n", limit);
  return 4;
}
