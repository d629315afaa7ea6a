// Compiler vocabulary shared by all files.
#pragma once

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define SLOW_PATH     __attribute__((noinline, cold))
#define EXPORT        __attribute__((visibility("default")))
#define LIKELY(x)     __builtin_expect(!!(x), 1)
#define UNLIKELY(x)   __builtin_expect(!!(x), 0)
