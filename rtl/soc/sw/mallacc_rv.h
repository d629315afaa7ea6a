/* The malloc cache's instructions on RV32, opcode custom-0 (docs/isa.md, "Encodings"). */
#ifndef MALLACC_RV_H
#define MALLACC_RV_H

#include <stdint.h>

#define MC_OP(funct7, rd, rs1, rs2)                           \
  __asm__ volatile(".insn r 0x0b, 0, " #funct7 ", %0, %1, %2" \
                   : "=r"(rd)                                 \
                   : "r"(rs1), "r"(rs2)                       \
                   : "memory")

static inline uint32_t mcszlookup(uint32_t size) {
  uint32_t found;
  MC_OP(0, found, size, 0);
  return found;
}
static inline void mcszupdate(uint32_t size, uint32_t block, uint32_t cls) {
  uint32_t none;
  MC_OP(1, none, size, block | cls << 20);
}
static inline uint32_t mchdpop(uint32_t cls) {
  uint32_t head;
  MC_OP(2, head, cls, 0);
  return head;
}
static inline uint32_t mcnext(void) {
  uint32_t next;
  MC_OP(15, next, 0, 0);
  return next;
}
static inline void mchdpush(uint32_t cls, void* object) {
  uint32_t none;
  MC_OP(3, none, cls, object);
}
static inline void mcnxtprefetch(uint32_t cls, void* address) {
  uint32_t none;
  MC_OP(4, none, cls, address);
}
static inline void mchdprefetch(uint32_t cls, void* address) {
  uint32_t none;
  MC_OP(5, none, cls, address);
}
static inline void mcinval(uint32_t cls) {
  uint32_t none;
  MC_OP(6, none, cls, 0);
}
static inline void mcflush(void) {
  uint32_t none;
  MC_OP(7, none, 0, 0);
}
static inline uint32_t mcsample(uint32_t size) {
  uint32_t due;
  MC_OP(13, due, size, 0);
  return due;
}
static inline void mcsampleset(uint32_t period) {
  uint32_t none;
  MC_OP(14, none, period, 0);
}

#endif
