/* A translation unit in small: a hash table, a sort and a parser. NAME(x) makes names unique. */

struct NAME(entry) {
  const char *key;
  long value;
  struct NAME(entry) * next;
};

struct NAME(table) {
  struct NAME(entry) * buckets[64];
  unsigned long count;
};

static unsigned long NAME(hash)(const char *text) {
  unsigned long h = 14695981039346656037ul;
  while (*text) h = (h ^ (unsigned char)*text++) * 1099511628211ul;
  return h;
}

static int NAME(same)(const char *a, const char *b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

long *NAME(find)(struct NAME(table) * table, struct NAME(entry) * spare, const char *key) {
  struct NAME(entry) **at = &table->buckets[NAME(hash)(key) % 64];
  for (; *at; at = &(*at)->next)
    if (NAME(same)((*at)->key, key)) return &(*at)->value;
  spare->key = key;
  spare->value = 0;
  spare->next = 0;
  *at = spare;
  ++table->count;
  return &spare->value;
}

#if SIZE > 0
void NAME(sort)(long *values, long count) {
  for (long gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
    for (long i = gap; i < count; ++i) {
      long value = values[i], j = i;
      for (; j >= gap && values[j - gap] > value; j -= gap) values[j] = values[j - gap];
      values[j] = value;
    }
}

long NAME(parse)(const char **text) {
  long left = 0, right, sign = 1;
  while (**text == ' ') ++*text;
  if (**text == '-') sign = -1, ++*text;
  if (**text == '(') {
    ++*text;
    left = NAME(parse)(text);
    if (**text == ')') ++*text;
  } else {
    while (**text >= '0' && **text <= '9') left = left * 10 + (*(*text)++ - '0');
  }
  left *= sign;
  while (**text == ' ') ++*text;
  switch (**text) {
    case '+': ++*text; return left + NAME(parse)(text);
    case '-': ++*text; return left - NAME(parse)(text);
    case '*': ++*text; return left * NAME(parse)(text);
    case '/': ++*text; right = NAME(parse)(text); return right ? left / right : 0;
    default: return left;
  }
}

void NAME(multiply)(double *out, const double *a, const double *b, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      out[i * n + j] = sum;
    }
}
#endif
