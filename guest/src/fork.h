// fork(): the child starts with consistent structures and free locks.
#pragma once

namespace mallacc {

// Registers the handlers.
void prepare_for_fork();

}  // namespace mallacc
