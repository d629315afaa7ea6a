// Functions that a program or tool may set, called on allocation and deallocation.
#pragma once

#include <atomic>

#include "base.h"
#include "mallacc_alloc.h"

namespace mallacc {

struct Hooks {
  std::atomic<mallacc_new_hook> on_new;
  std::atomic<mallacc_delete_hook> on_delete;
};
extern Hooks g_hooks __attribute__((visibility("hidden")));

}  // namespace mallacc
