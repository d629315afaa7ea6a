#include "out_of_memory.h"

#include <dlfcn.h>
#include <errno.h>

#include "mallacc.h"
#include "os.h"

// The catch block below refers to the C++ runtime. In a program without one nothing throws.
__asm__(
    ".weak __gxx_personality_v0\n"
    ".weak __cxa_begin_catch\n"
    ".weak __cxa_end_catch\n"
    ".weak __cxa_rethrow\n"
    ".weak _Unwind_Resume\n");

namespace mallacc {
namespace {

// A function of the C++ runtime, whether it came with the program or with a plugin.
void* runtime_function(const char* mangled) {
  if (void* found = dlsym(RTLD_DEFAULT, mangled)) return found;
  void* library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, mangled);
}

}  // namespace

void set_enomem() {
  errno = ENOMEM;
}

NewHandler new_handler() {
  // std::get_new_handler()
  void* get = runtime_function("_ZSt15get_new_handlerv");
  return get == nullptr ? nullptr : reinterpret_cast<NewHandler (*)()>(get)();
}

bool call_new_handler(OnFailure on_failure, NewHandler handler) {
  try {
    handler();
    return true;
  } catch (...) {
    if (on_failure == OnFailure::kThrow) {
      void* none = nullptr;
      MALLACC_CALL_END(none);
      throw;
    }
    return false;
  }
}

void throw_bad_alloc() {
  // std::__throw_bad_alloc()
  void* raise = runtime_function("_ZSt17__throw_bad_allocv");
  if (raise == nullptr) os::die("mallacc: out of memory, and no C++ runtime to throw bad_alloc\n");
  void* none = nullptr;
  MALLACC_CALL_END(none);
  reinterpret_cast<void (*)()>(raise)();
  __builtin_unreachable();
}

}  // namespace mallacc
