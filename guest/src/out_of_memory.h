// What happens when there is no memory. C programs have no C++ runtime, so the library does not
// link one: bad_alloc and the new-handler are looked up in the program's, if it has one.
#pragma once

#include "slow_path.h"

namespace mallacc {

using NewHandler = void (*)();
// The program's std::get_new_handler(), or null when it has no C++ runtime or no handler.
NewHandler new_handler();
// Calls the handler. If it throws: the exception passes on (kThrow), or false (kNull).
bool call_new_handler(OnFailure on_failure, NewHandler handler);
// Ends the call and throws std::bad_alloc.
[[noreturn]] void throw_bad_alloc();
void set_enomem();

// `retry` is called after each new-handler.
template <typename Retry>
void* out_of_memory(OnFailure on_failure, Retry retry) {
  if (on_failure == OnFailure::kErrno) {
    set_enomem();
    return nullptr;
  }
  for (;;) {
    const NewHandler handler = new_handler();
    if (handler == nullptr) {
      if (on_failure == OnFailure::kThrow) throw_bad_alloc();
      return nullptr;
    }
    if (!call_new_handler(on_failure, handler)) return nullptr;
    if (void* object = retry()) return object;
  }
}

}  // namespace mallacc
