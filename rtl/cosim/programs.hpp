// The programs that run on the lock-step bench.
#pragma once

#include "lockstep.hpp"

namespace cosim {

// Any operation with any operands.
void run_wild(Lockstep& bench, uint64_t operations);
// One prefetch per entry outstanding at once; then all are evicted.
void run_all_pending(Lockstep& bench);
// An allocator that keeps its promises; every pop hit is checked against its real lists.
void run_allocator(Lockstep& bench, uint64_t operations);
// An operation stream (crates/mcache/src/ops.rs); 0, or the number of the first bad line.
int run_stream(Lockstep& bench, const char* path);

}  // namespace cosim
