// cosim [--seed N] [--ops N] [--coverage FILE] [--stream FILE]...
//
// Without a stream: half the operations are wild, half those of an allocator. Ends with 1 at the
// first mismatch or, with --coverage, if a declared bin was not hit.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "programs.hpp"

int main(int argc, char** argv) {
  uint64_t seed = 1, operations = 100000;
  std::string report, command = argv[0];
  std::vector<const char*> streams;
  for (int i = 1; i < argc; i++) command += std::string(" ") + argv[i];
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (value != nullptr && name == "--seed") {
      seed = std::strtoull(value, nullptr, 0);
    } else if (value != nullptr && name == "--ops") {
      operations = std::strtoull(value, nullptr, 0);
    } else if (value != nullptr && name == "--coverage") {
      report = value;
    } else if (value != nullptr && name == "--stream") {
      streams.push_back(value);
    } else {
      std::fprintf(stderr,
                   "%s: unknown or without a value; use --seed N, --ops N, --coverage FILE, "
                   "--stream FILE\n",
                   argv[i]);
      return 2;
    }
  }

  cosim::Lockstep bench(seed, command);
  for (const char* stream : streams) {
    if (cosim::run_stream(bench, stream) != 0) return 1;
  }
  if (streams.empty()) {
    cosim::run_wild(bench, operations / 2);
    cosim::run_all_pending(bench);
    cosim::run_allocator(bench, operations - operations / 2);
  }
  std::printf("%s: %" PRIu64 " operations in %" PRIu64 " cycles agree (seed %" PRIu64 ")\n",
              bench.config().c_str(), bench.operations(), bench.cycles(), seed);
  if (report.empty()) return 0;
  const unsigned missed = cosim::coverage().report(report, bench.config());
  const size_t bins = cosim::coverage().bins();
  std::printf("coverage: %zu of %zu bins, see %s\n", bins - missed, bins, report.c_str());
  return missed == 0 ? 0 : 1;
}
