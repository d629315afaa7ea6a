#include "hooks.h"

namespace mallacc {
Hooks g_hooks;
}

extern "C" EXPORT mallacc_new_hook mallacc_set_new_hook(mallacc_new_hook hook) {
  return mallacc::g_hooks.on_new.exchange(hook);
}

extern "C" EXPORT mallacc_delete_hook mallacc_set_delete_hook(mallacc_delete_hook hook) {
  return mallacc::g_hooks.on_delete.exchange(hook);
}
