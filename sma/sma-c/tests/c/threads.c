/* Four threads on one `fine` heap, each with a pool; frees may come from another thread. */
#define SMA_KIND fine
#include "sma.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, BYTES = 16384, SLOTS = 32, STEPS = 50000 };

static _Alignas(128) unsigned char region[BYTES];
static uint32_t state[128];
static sma_heap heap;
static int broken[THREADS];

/* A place where a thread leaves an allocation for the next one to take. */
static pthread_mutex_t market_lock = PTHREAD_MUTEX_INITIALIZER;
static sma_ref market;

static sma_ref swap(sma_ref mine) {
  pthread_mutex_lock(&market_lock);
  sma_ref theirs = market;
  market = mine;
  pthread_mutex_unlock(&market_lock);
  return theirs;
}

static void *work(void *argument) {
  int me = *(int *)argument;
  uint32_t seed = 77u + (uint32_t)me;
  sma_ref live[SLOTS] = {0};
  sma_pool pool;
  int pooled = me % 2 == 0 && sma_pool_init(&pool, &heap) == SMA_OK;
  for (int step = 0; step < STEPS; step++) {
    seed = seed * 1664525u + 1013904223u;
    int slot = (int)(seed >> 16) % SLOTS;
    if (live[slot] && seed >> 30 == 0) {
      live[slot] = swap(live[slot]);
    } else if (live[slot]) {
      unsigned char *bytes = SMA_PTR(&heap, unsigned char, live[slot]);
      unsigned char mark = (unsigned char)SMA_SIZE_CODE(live[slot]);
      if (bytes[0] != mark || bytes[7] != mark) broken[me]++;
      int status = pooled ? sma_pool_free(&pool, live[slot]) : sma_free(&heap, live[slot]);
      if (status != SMA_OK) broken[me]++;
      live[slot] = 0;
    } else {
      size_t bytes = 8 + (seed >> 8) % 200;
      live[slot] = pooled ? sma_pool_alloc(&pool, bytes) : sma_alloc(&heap, bytes);
      if (live[slot])
        memset(SMA_PTR(&heap, void, live[slot]), (int)SMA_SIZE_CODE(live[slot]) & 255, bytes);
    }
  }
  for (int slot = 0; slot < SLOTS; slot++)
    if (live[slot]) sma_free(&heap, live[slot]);
  if (pooled) sma_pool_flush(&pool);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  int numbers[THREADS], failures = 0;
  if (sma_init(&heap, region, BYTES, state, sma_state_words(BYTES)) != SMA_OK) return 1;
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) return 1;
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    failures += broken[i];
  }
  if (market) sma_free(&heap, market);
  if (sma_check(&heap) != SMA_OK || sma_free_bytes(&heap) != BYTES) failures++;
  puts(failures ? "broken" : "ok");
  return failures != 0;
}
