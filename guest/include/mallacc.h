/* Markers of the Mallacc instruction interface, for authors of memory allocators.
 *
 * An allocator that includes this file tells a simulated machine which of its steps special
 * hardware could do: the size-class computation, the sampling check, the free-list pop, push and
 * prefetch. A marker computes nothing. It is a multi-byte `nop` (the carrier) and one store below
 * the red zone for each operand (docs/markers.md), so an annotated allocator runs everywhere, needs
 * no thread-local storage, no libc and no memory, and costs about a cycle per marker.
 *
 * x86-64, GNU C or C++ (GCC 9 or newer, Clang 11 or newer), AT&T assembler syntax. Self-contained.
 *
 * How to annotate a fast path:
 *
 *     void* allocate(size_t size) {                       // the entry point
 *       MALLACC_CALL_BEGIN(MALLACC_KIND_MALLOC, size);    // before the first branch
 *       struct cache* cache = my_cache;
 *       MALLACC_TIE(cache);                               // loaded before the region opens
 *       MALLACC_LOOKUP(size);
 *       size_t cls = class_of[(size + 7) / 8], bytes = bytes_of[cls];
 *       MALLACC_UPDATE(size, bytes, cls);
 *       struct list* list = &cache->lists[cls];
 *       MALLACC_POP(cls, list);
 *       void* head = list->head;
 *       if (head == NULL) return refill(cache, cls);      // starts with MALLACC_INVALIDATE(cls)
 *       void* next = *(void**)head;
 *       MALLACC_POP_END(head, next, list);
 *       list->head = next;                                // software keeps its list up to date
 *       MALLACC_PREFETCH(cls, head, next);
 *       MALLACC_CALL_END(head);                           // on every way out
 *       return head;
 *     }
 *
 * Rules
 *   - Operands are lvalues of 8 bytes: integers or pointers. A marker takes them as read-write
 *     operands: the compiler must have computed them before the marker, and whatever uses them
 *     afterwards cannot move in front of it. That, and no "memory" clobber, is what keeps a step
 *     inside its region. MALLACC_TIE(x) does the same for a value that is no operand.
 *   - Arguments called `anchor` are tied and not handed over: the pointer through which the step
 *     loads and stores.
 *   - Whenever a list changes other than by a marked pop or push, MALLACC_INVALIDATE(cls) or
 *     MALLACC_FLUSH() executes before the list is used again.
 *   - A function that is inlined into two entry points is marked once, in its source.
 *
 * Build variants: -DMALLACC_NO_MARKERS leaves the ties and drops the instructions, so that the rest
 * of the code stays as it is. -DMALLACC_TRACE calls mallacc_trace(op, a, b, c), which the program
 * supplies, in place of the instructions.
 */
#ifndef MALLACC_H_
#define MALLACC_H_

#if !defined(__x86_64__) || !defined(__GNUC__)
#error "mallacc.h: markers are x86-64 instructions in GNU inline assembler"
#endif

/* Operations: the low byte of the carrier's displacement. */
#define MALLACC_OP_LOOKUP     0x01
#define MALLACC_OP_UPDATE     0x02
#define MALLACC_OP_SAMPLE     0x03
#define MALLACC_OP_SAMPLE_END 0x04
#define MALLACC_OP_POP        0x05
#define MALLACC_OP_POP_END    0x06
#define MALLACC_OP_PUSH       0x07
#define MALLACC_OP_PREFETCH   0x08
#define MALLACC_OP_INVALIDATE 0x09
#define MALLACC_OP_FLUSH      0x0a
#define MALLACC_OP_ROI_BEGIN  0x10
#define MALLACC_OP_ROI_END    0x11
#define MALLACC_OP_TRASH      0x12
#define MALLACC_OP_CALL_BEGIN 0x20 /* plus a kind */
#define MALLACC_OP_CALL_END   0x30

/* Kinds of MALLACC_CALL_BEGIN; the argument is a size or a pointer. */
#define MALLACC_KIND_MALLOC       0 /* size */
#define MALLACC_KIND_FREE         1 /* pointer */
#define MALLACC_KIND_CALLOC       2 /* total size */
#define MALLACC_KIND_REALLOC      3 /* new size */
#define MALLACC_KIND_NEW          4 /* size */
#define MALLACC_KIND_DELETE       5 /* pointer */
#define MALLACC_KIND_SIZED_DELETE 6 /* pointer */
#define MALLACC_KIND_MEMALIGN     7 /* size */

/* Carrier displacement without the operation ("MaL" and a zero byte), and the operand slot. */
#define MALLACC_MAGIC 0x4d614c00
#define MALLACC_SLOT  -136

/* ---- How the markers are made; allocator authors need not read on to the end. ---- */

#define MALLACC_STR2_(x) #x
#define MALLACC_STR_(x)  MALLACC_STR2_(x)

/* `inline` tells GCC to count the block as one instruction when it decides about inlining, so the
 * variants with and without markers are inlined alike. */
#define MALLACC_ASM_ __asm__ __inline__ __volatile__

#if defined(MALLACC_NO_MARKERS) || defined(MALLACC_TRACE)
#define MALLACC_WHOLE_(bytes)     ""
#define MALLACC_CARRIER_(op, reg) ""
#define MALLACC_STORE_(reg)       ""
#else
/* A marker must not straddle an OS page, where emulators end a block: when fewer than `bytes` + 1
 * bytes are left of the page, padding fills them. A carrier has up to 8 bytes, a store has 8. */
#define MALLACC_WHOLE_(bytes) ".p2align 12, , " MALLACC_STR_(bytes) "\n\t"
#define MALLACC_CARRIER_(op, reg) \
  "nopl " MALLACC_STR_(MALLACC_MAGIC) "+" MALLACC_STR_(op) "(" reg ")\n\t"
#define MALLACC_STORE_(reg) "movq " reg ", " MALLACC_STR_(MALLACC_SLOT) "(%%rsp)\n\t"
#endif

#ifdef MALLACC_TRACE
#ifdef __cplusplus
extern "C"
#endif
    void
    mallacc_trace(unsigned op, unsigned long a, unsigned long b, unsigned long c);
#define MALLACC_HOOK_(op, a, b, c) \
  mallacc_trace((op), (unsigned long)(a), (unsigned long)(b), (unsigned long)(c))
#else
#define MALLACC_HOOK_(op, a, b, c) ((void)0)
#endif

/* An operand in a 32-bit lvalue would hand over 32 undefined bits: a negative array size says so.
 */
#define MALLACC_WIDE_(x) ((void)sizeof(char[sizeof(x) == 8 ? 1 : -1]))

#define MALLACC_MARK0_(op)                                   \
  do {                                                       \
    MALLACC_ASM_(MALLACC_CARRIER_(op, "%%rax")::: "memory"); \
    MALLACC_HOOK_(op, 0, 0, 0);                              \
  } while (0)

#define MALLACC_MARK1_(op, a)                                                                     \
  do {                                                                                            \
    MALLACC_WIDE_(a);                                                                             \
    MALLACC_ASM_(MALLACC_WHOLE_(15) MALLACC_CARRIER_(op, "%q0") MALLACC_STORE_("%q0") : "+r"(a)); \
    MALLACC_HOOK_(op, a, 0, 0);                                                                   \
  } while (0)

#define MALLACC_MARK1_TIE_(op, a, anchor)                                             \
  do {                                                                                \
    MALLACC_WIDE_(a);                                                                 \
    MALLACC_ASM_(MALLACC_WHOLE_(15) MALLACC_CARRIER_(op, "%q0") MALLACC_STORE_("%q0") \
                 : "+r"(a), "+r"(anchor));                                            \
    MALLACC_HOOK_(op, a, 0, 0);                                                       \
  } while (0)

#define MALLACC_MARK2_(op, a, b)                                                      \
  do {                                                                                \
    MALLACC_WIDE_(a);                                                                 \
    MALLACC_WIDE_(b);                                                                 \
    MALLACC_ASM_(MALLACC_WHOLE_(23) MALLACC_CARRIER_(op, "%q0") MALLACC_STORE_("%q0") \
                     MALLACC_STORE_("%q1")                                            \
                 : "+r"(a), "+r"(b));                                                 \
    MALLACC_HOOK_(op, a, b, 0);                                                       \
  } while (0)

#define MALLACC_MARK2_TIE_(op, a, b, anchor)                                          \
  do {                                                                                \
    MALLACC_WIDE_(a);                                                                 \
    MALLACC_WIDE_(b);                                                                 \
    MALLACC_ASM_(MALLACC_WHOLE_(23) MALLACC_CARRIER_(op, "%q0") MALLACC_STORE_("%q0") \
                     MALLACC_STORE_("%q1")                                            \
                 : "+r"(a), "+r"(b), "+r"(anchor));                                   \
    MALLACC_HOOK_(op, a, b, 0);                                                       \
  } while (0)

#define MALLACC_MARK3_(op, a, b, c)                                                   \
  do {                                                                                \
    MALLACC_WIDE_(a);                                                                 \
    MALLACC_WIDE_(b);                                                                 \
    MALLACC_WIDE_(c);                                                                 \
    MALLACC_ASM_(MALLACC_WHOLE_(31) MALLACC_CARRIER_(op, "%q0") MALLACC_STORE_("%q0") \
                     MALLACC_STORE_("%q1") MALLACC_STORE_("%q2")                      \
                 : "+r"(a), "+r"(b), "+r"(c));                                        \
    MALLACC_HOOK_(op, a, b, c);                                                       \
  } while (0)

/* ---- The markers. ---- */

/* Not a marker, no instruction: x is computed before this point, and what is computed from x
 * afterwards comes after it. */
#define MALLACC_TIE(x) MALLACC_ASM_("" : "+r"(x))

/* Opens the size-class computation for a requested size. */
#define MALLACC_LOOKUP(size) MALLACC_MARK1_(MALLACC_OP_LOOKUP, size)
/* Closes it: the size as requested, the bytes that its class hands out, and the class. */
#define MALLACC_UPDATE(size, alloc_size, cls) \
  MALLACC_MARK3_(MALLACC_OP_UPDATE, size, alloc_size, cls)

/* Opens the sampling check for an allocation of `size` bytes; anchor: where the counter is. */
#define MALLACC_SAMPLE(size, anchor) MALLACC_MARK1_TIE_(MALLACC_OP_SAMPLE, size, anchor)
/* Closes it. `counter` is the lvalue in memory that the step has updated. */
#define MALLACC_SAMPLE_END(counter)                                                 \
  do {                                                                              \
    MALLACC_ASM_(MALLACC_CARRIER_(MALLACC_OP_SAMPLE_END, "%%rax") : "+m"(counter)); \
    MALLACC_HOOK_(MALLACC_OP_SAMPLE_END, 0, 0, 0);                                  \
  } while (0)

/* Opens the pop of a class's list; anchor: the list. The step is two loads and the empty check. */
#define MALLACC_POP(cls, anchor) MALLACC_MARK1_TIE_(MALLACC_OP_POP, cls, anchor)
/* Closes it: the popped object and the new head of the list, which may be null. */
#define MALLACC_POP_END(head, next, anchor) \
  MALLACC_MARK2_TIE_(MALLACC_OP_POP_END, head, next, anchor)

/* ptr (never null) is about to be pushed on the list of its class. */
#define MALLACC_PUSH(cls, ptr) MALLACC_MARK2_(MALLACC_OP_PUSH, cls, ptr)
/* After a pop, with the values of its MALLACC_POP_END. */
#define MALLACC_PREFETCH(cls, head, next) MALLACC_MARK3_(MALLACC_OP_PREFETCH, cls, head, next)

/* The list of a class changes in a way that no marked pop or push describes. */
#define MALLACC_INVALIDATE(cls) MALLACC_MARK1_(MALLACC_OP_INVALIDATE, cls)
/* All lists change, or other lists take their place. */
#define MALLACC_FLUSH() MALLACC_MARK0_(MALLACC_OP_FLUSH)

/* The region of interest of a program; statistics count inside it. */
#define MALLACC_ROI_BEGIN() MALLACC_MARK0_(MALLACC_OP_ROI_BEGIN)
#define MALLACC_ROI_END()   MALLACC_MARK0_(MALLACC_OP_ROI_END)
/* The less recently used half of each L1D and L2 set becomes invalid. */
#define MALLACC_TRASH() MALLACC_MARK0_(MALLACC_OP_TRASH)

/* First thing in an entry point, before any branch. kind: a MALLACC_KIND_ macro. */
#define MALLACC_CALL_BEGIN(kind, argument) MALLACC_MARK1_(MALLACC_OP_CALL_BEGIN + kind, argument)
/* The entry point is about to return or to throw: the result; a free passes its argument. */
#define MALLACC_CALL_END(result) MALLACC_MARK1_(MALLACC_OP_CALL_END, result)

#endif /* MALLACC_H_ */
