#include "fork.h"

#include <pthread.h>

#include "central_list.h"
#include "mallacc.h"
#include "metadata.h"
#include "page_heap.h"
#include "thread_registry.h"

namespace mallacc {
namespace {

// The order in which the allocator itself takes its locks. Two central locks are never held at
// once, except here.
void lock_all() {
  registry::lock().lock();
  for (CentralList& central : g_central) central.lock().lock();
  g_page_heap.lock().lock();
  metadata_lock().lock();
}

void unlock_all() {
  metadata_lock().unlock();
  g_page_heap.lock().unlock();
  for (CentralList& central : g_central) central.lock().unlock();
  registry::lock().unlock();
}

void in_child() {
  unlock_all();
  registry::keep_only(t_state.cache);
  MALLACC_FLUSH();
}

}  // namespace

void prepare_for_fork() {
  pthread_atfork(lock_all, unlock_all, in_child);
}

}  // namespace mallacc
