/* The pure malloc cache as a C library: golden model of the RTL.
 *
 * Build:  cargo rustc -p mallacc-mcache --features capi --crate-type staticlib --release
 * One call is one operation of the hardware's request port (docs/isa.md). Operands that an
 * operation does not name are ignored; results that it does not name are 0.
 */
#ifndef MALLACC_MCACHE_H
#define MALLACC_MCACHE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcache mcache;

enum mcache_opcode {
  MCACHE_LOOKUP = 0,        /* a = size              -> hit, a = class, b = block size */
  MCACHE_UPDATE = 1,        /* a = size, b = block size, c = class -> violation */
  MCACHE_POP = 2,           /* a = class             -> hit, a = head, b = next; or wait */
  MCACHE_PUSH = 3,          /* a = class, b = object -> hit (kept); or wait, violation */
  MCACHE_PREFETCH_NEXT = 4, /* a = class, b = address -> hit, fill = ticket + 1; or wait */
  MCACHE_PREFETCH_HEAD = 5, /* a = class, b = address -> hit, fill = ticket + 1; or wait */
  MCACHE_INVALIDATE = 6,    /* a = class */
  MCACHE_FLUSH = 7,
  MCACHE_FLUSH_LISTS = 8,
  MCACHE_SQUASH_LIST = 9,      /* a = class */
  MCACHE_SQUASH_PREFETCH = 10, /* a = class */
  MCACHE_SQUASH_UPDATE = 11,   /* a = class */
  MCACHE_RETURN = 12,    /* a = ticket, b = word -> fill = 1 Head, 2 Next, 3 nothing, 0 ignored */
  MCACHE_SAMPLE = 13,    /* a = size -> hit: a sample is due */
  MCACHE_SAMPLE_SET = 14 /* a = period in bytes, 0 = off */
};

typedef struct mcache_result {
  uint64_t a;
  uint64_t b;
  uint8_t hit;
  uint8_t wait;      /* repeat later, nothing changed */
  uint8_t violation; /* the operands break the contract; what they touched is dropped */
  uint8_t fill;
} mcache_result;

/* entries 1..64, index 0 or 1, key_bits 12..20, pointer_bits 16..64; NULL if out of range. */
mcache* mcache_new(uint8_t entries, uint8_t index, uint8_t key_bits, uint8_t pointer_bits);
void mcache_free(mcache* cache);
/* Switches the class index; a change flushes. */
void mcache_set_index(mcache* cache, uint8_t on);
mcache_result mcache_op(mcache* cache, uint8_t code, uint64_t a, uint64_t b, uint64_t c);
/* Fields of an entry: valid, class, block size, lo, hi, head, next, blocked. 0 if not valid. */
uint8_t mcache_entry(const mcache* cache, uint8_t number, uint64_t out[8]);

#ifdef __cplusplus
}
#endif

#endif
