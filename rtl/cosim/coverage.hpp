// Functional coverage: the bins are declared in coverage.cpp; a bin nobody declared is an error,
// a declared one that nothing hits fails the run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mcache.h"

namespace cosim {

struct Observation {
  uint8_t code;
  uint64_t a, b, c;
  mcache_result result;
  bool index, is_return, config_changed;
  unsigned entries, pointer_bits, key_bits;
  // The model's entries before and after: valid, class, size, lo, hi, head, next, blocked.
  const std::vector<std::array<uint64_t, 8>>*before, *after;
  const std::vector<bool>* pending_before;
};

class Coverage {
 public:
  // `wide`: operands can hold pointers that do not fit into an entry.
  Coverage(unsigned entries, bool wide);
  void hit(const std::string& bin);
  // Sorts one executed operation into its bins.
  void observe(const Observation& seen);
  // Writes `bin count` lines, sorted; returns how many bins were not hit.
  unsigned report(const std::string& path, const std::string& title) const;
  size_t bins() const { return bins_.size(); }

 private:
  void observe_update(const Observation& seen);
  void observe_list(const Observation& seen);
  void observe_prefetch(const Observation& seen);
  void observe_squash(const Observation& seen);

  std::map<std::string, uint64_t> bins_;
};

// The bins of this process.
Coverage& coverage(unsigned entries = 0, bool wide = false);

}  // namespace cosim
