// What is left to do at load time. Nothing that an allocation needs: the dynamic loader and other
// libraries' constructors may call malloc() before this runs, so all state is constant-initialised
// and a thread's cache is made by its first allocation.
#include "fork.h"
#include "thread_cache.h"

namespace mallacc {
namespace {

__attribute__((constructor)) void at_load() {
  Sampler::read_parameter();
  if (t_state.cache != nullptr) t_state.cache->bytes_until_sample = t_state.cache->sampler.draw();
  prepare_for_fork();
}

}  // namespace
}  // namespace mallacc
