/* The same unit SIZE times under other names: something to compile without any header. With SIZE 0
   it is a small part of one. */
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME(x) JOIN(x, UNIT)

#define UNIT _one
#include "unit.h"
#undef UNIT
#if SIZE >= 2
#define UNIT _two
#include "unit.h"
#undef UNIT
#endif
#if SIZE >= 3
#define UNIT _three
#include "unit.h"
#undef UNIT
#endif
#if SIZE >= 4
#define UNIT _four
#include "unit.h"
#undef UNIT
#endif
#if SIZE >= 5
#define UNIT _five
#include "unit.h"
#undef UNIT
#endif
#if SIZE >= 6
#define UNIT _six
#include "unit.h"
#undef UNIT
#endif
