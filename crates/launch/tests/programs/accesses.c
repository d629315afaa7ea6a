// Instructions whose accesses to memory come from within QEMU, are made in several pieces, or are
// repeated: versions of QEMU report them differently.
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 1 << 20 };
static char from[SIZE] __attribute__((aligned(64)));
static char to[SIZE] __attribute__((aligned(64)));

// More iterations than a buffer of the ring has words, and than QEMU runs at a time.
static void repeated(void) {
  void *d = to, *s = from;
  size_t n = 200000;
  __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n)::"memory");
  d = to, s = from, n = 70000;
  __asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(n)::"memory");
  d = to, n = 100000;
  __asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(5L) : "memory");
  s = from, n = 1000;
  __asm__ volatile("rep lodsb" : "+S"(s), "+c"(n)::"rax", "memory");
  memcpy(to, from, SIZE);
  to[150000] ^= 1;
  d = to, s = from, n = SIZE;
  __asm__ volatile("repe cmpsb" : "+D"(d), "+S"(s), "+c"(n)::"memory", "cc");
  printf("%zu\n", SIZE - n);
  d = to, n = SIZE;
  __asm__ volatile("repne scasb" : "+D"(d), "+c"(n) : "a"(0xee) : "memory", "cc");
  d = to, n = 0;
  __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(0xee) : "memory", "cc");
}

static void atomic(char* at) {
  __asm__ volatile(
      "lock cmpxchg16b (%0)\n cmpxchg16b (%0)\n lock cmpxchg8b (%0)\n lock xaddl %%eax, (%0)\n"
      "lock incl (%0)\n lock btsl $3, (%0)\n lock negl (%0)\n lock notl (%0)\n xchgl %%eax, (%0)\n"
      "addl $1, (%0)\n movl $5, %%eax\n btsq %%rax, (%0)\n shldl $3, %%eax, (%0)\n"
      "lock xaddw %%ax, (%0)\n lock orb $1, (%0)\n lock addl %%eax, 3(%0)\n"
      :
      : "r"(at)
      : "rax", "rbx", "rcx", "rdx", "memory", "cc");
}

static void state(char* at) {
  __asm__ volatile(
      "fldt (%0)\n fstpt 16(%0)\n fld1\n fbstp (%0)\n fbld (%0)\n fstp %%st(0)\n"
      "fnstenv 128(%0)\n fldenv 128(%0)\n fnsave 256(%0)\n frstor 256(%0)\n"
      "fnstcw 32(%0)\n fnstsw 34(%0)\n stmxcsr 36(%0)\n ldmxcsr 36(%0)\n"
      "fxsave64 1024(%0)\n fxrstor64 1024(%0)\n"
      :
      : "r"(at)
      : "memory");
  memset(at + 2048, 0, 1024);
  __asm__ volatile("xsave 2048(%0)\n xrstor 2048(%0)\n xsaveopt 2048(%0)\n"
                   :
                   : "r"(at), "a"(7), "d"(0)
                   : "memory");
}

static void scalar(char* at) {
  __asm__ volatile(
      "enter $32, $0\n leave\n pushfq\n popfq\n push (%0)\n pop (%0)\n"
      "movb $3, %%al\n movq %0, %%rbx\n xlatb\n prefetcht0 (%0)\n clflush (%0)\n"
      "movntiq %%rbx, (%0)\n crc32l (%0), %%eax\n movbel (%0), %%eax\n movbel %%eax, (%0)\n"
      "popcntl (%0), %%eax\n bsfl (%0), %%eax\n mulq (%0)\n rdtscp\n nop\n cpuid\n"
      :
      : "r"(at)
      : "rax", "rbx", "rcx", "rdx", "memory", "cc");
}

__attribute__((target("avx2"))) static void vectors(void) {
  __m256i wide = _mm256_loadu_si256((void*)(from + 3));
  _mm256_storeu_si256((void*)(to + 61), wide);
  __m256i mask = _mm256_set_epi32(-1, 0, -1, -1, 0, 0, -1, 0);
  _mm256_maskstore_epi32((int*)(to + 100), mask, wide);
  wide = _mm256_maskload_epi32((int*)(from + 200), mask);
  wide = _mm256_i32gather_epi32((int*)from, _mm256_set_epi32(1, 5, 9, 100, 200, 3, 2, 0), 4);
  _mm256_store_si256((void*)to, wide);
  __m128i half = _mm_loadu_si128((void*)(from + 4090));
  _mm_maskmoveu_si128(half, half, to + 77);
  _mm_stream_si128((void*)(to + 4096), half);
  _mm_storel_epi64((void*)(to + 5), half);
  for (char* at = to + (1 << 19); at < to + SIZE - 8192; at += 4091) {
    _mm_storeu_si128((void*)at, half);
    _mm_storeu_si128((void*)(at + 4088), half);
  }
}

int main(void) {
  for (size_t i = 0; i < SIZE; i++) from[i] = (char)(i * 7 + 1);
  char* volatile at = to;
  repeated();
  atomic(at);
  state(at);
  scalar(at);
  vectors();
  return 0;
}
