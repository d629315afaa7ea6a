/* A small allocator with markers, and a program that uses it. The macros MISTAKE_… each break one
 * rule of docs/markers.md; without them, it keeps all.
 *
 * Blocks of up to 1 KB come from free lists, one for each multiple of 16 bytes; a header of 16
 * bytes in front of a block holds its class. Larger blocks have class 0 and are never used again.
 * One thread only. With LIBRARY, the allocator alone, to be preloaded. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "mallacc.h"

/* Not inlined: an entry point begins a call of its own. */
#define EXPORT   __attribute__((visibility("default"), noinline, noclone))
#define NOINLINE __attribute__((noinline))

enum { STEP = 16, LARGEST = 1024, CLASSES = LARGEST / STEP + 1, BATCH = 8, CHUNK = 1 << 24 };

struct list {
  void* head;
};

static struct list lists[CLASSES];
static char *chunk, *chunk_end;

/* Fresh memory with a header that says `cls`. */
static NOINLINE void* fresh(size_t bytes, size_t cls) {
  bytes = (bytes + 2 * STEP - 1) / STEP * STEP;
  if (bytes > (size_t)(chunk_end - chunk)) {
    size_t length = bytes > CHUNK ? bytes : CHUNK;
    chunk = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) return NULL;
    chunk_end = chunk + length;
  }
  *(size_t*)chunk = cls;
  void* object = chunk + STEP;
  chunk += bytes;
  return object;
}

static size_t* header(void* object) {
  return (size_t*)((char*)object - STEP);
}

/* Fills an empty list and takes one object for the caller. */
static NOINLINE void* refill(size_t cls) {
#ifndef MISTAKE_INVALIDATE
  MALLACC_INVALIDATE(cls);
#endif
  for (int i = 0; i < BATCH; i++) {
    void* object = fresh(cls * STEP, cls);
    if (!object) return NULL;
    *(void**)object = lists[cls].head;
    lists[cls].head = object;
  }
  return fresh(cls * STEP, cls);
}

/* Takes an object off a list, and tells nobody. */
NOINLINE void steal_quietly(size_t cls) {
  void* object = lists[cls].head;
  if (object) lists[cls].head = *(void**)object;
}

/* Puts an object on a list, and tells nobody. */
NOINLINE void stash_quietly(size_t cls) {
  void* object = fresh(cls * STEP, cls);
  *(void**)object = lists[cls].head;
  lists[cls].head = object;
}

static void* large(size_t size) {
  void* object = fresh(size, 0);
  MALLACC_CALL_END(object);
  return object;
}

#ifdef MISTAKE_TWICE
static void* last;
NOINLINE void* hand_out_again(void) {
  void* object = last;
  MALLACC_CALL_END(object);
  return object;
}
#endif

EXPORT void* malloc(size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_MALLOC, size);
#ifdef MISTAKE_TWICE
  if (size == 1000) return hand_out_again();
#endif
  if (size > LARGEST) return large(size);
  MALLACC_LOOKUP(size);
  size_t cls = size ? (size + STEP - 1) / STEP : 1;
#ifndef MISTAKE_UPDATE
  size_t bytes = cls * STEP;
#ifdef MISTAKE_SIZE
  bytes -= STEP;
#elif defined MISTAKE_OVERLAP
  bytes += 2 * STEP;
#endif
  MALLACC_UPDATE(size, bytes, cls);
#endif
  struct list* list = &lists[cls];
  MALLACC_POP(cls, list);
  void* head = list->head;
  if (!head) {
    head = refill(cls);
  } else {
    void* next = *(void**)head;
    MALLACC_POP_END(head, next, list);
    list->head = next;
    MALLACC_PREFETCH(cls, head, next);
  }
#ifdef MISTAKE_TWICE
  last = head;
#endif
  MALLACC_CALL_END(head);
  return head;
}

/* Large blocks are not used again. The compiler must turn the call into a jump (-O2): CALL_END in a
 * function that returns to the entry point would end the call too early. */
static NOINLINE void free_large(void* object) {
  __asm__ volatile("" : : "r"(object));
#ifndef MISTAKE_END
  MALLACC_CALL_END(object);
#endif
}

EXPORT void free(void* object) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_FREE, object);
  size_t cls = object ? *header(object) : 0;
  if (cls == 0) {
    free_large(object);
    return;
  }
  MALLACC_PUSH(cls, object);
  struct list* list = &lists[cls];
  *(void**)object = list->head;
  list->head = object;
  MALLACC_CALL_END(object);
}

EXPORT void* calloc(size_t count, size_t size) {
  size_t total = count * size;
  MALLACC_CALL_BEGIN(MALLACC_KIND_CALLOC, total);
  void* object = malloc(total);
  if (object) memset(object, 0, total);
  MALLACC_CALL_END(object);
  return object;
}

EXPORT void* realloc(void* old, size_t size) {
  MALLACC_CALL_BEGIN(MALLACC_KIND_REALLOC, size);
  void* object = malloc(size);
  if (object && old) {
    size_t have = *header(old) * STEP;
    memcpy(object, old, have && have < size ? have : size);
    free(old);
  }
  MALLACC_CALL_END(object);
  return object;
}

#ifndef LIBRARY
static void* volatile held[100];

int main(void) {
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 100; i++) {
      size_t size = 16 + i % 5 * 24;
      held[i] = malloc(size);
      *(char*)held[i] = 1;
    }
    for (int i = 0; i < 100; i++) free(held[i]);
#ifdef MISTAKE_POP
    steal_quietly(1);
#endif
#ifdef MISTAKE_PUSH
    stash_quietly(1);
#endif
    held[0] = malloc(5000);
    free(held[0]);
    held[0] = realloc(malloc(40), 400);
    free(held[0]);
#ifdef MISTAKE_TWICE
    held[0] = malloc(64);
    held[1] = malloc(1000);
    free(held[0]);
#endif
  }
  return 0;
}
#endif
