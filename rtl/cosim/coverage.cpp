#include "coverage.hpp"

#include <cstdio>
#include <cstdlib>

namespace cosim {

namespace {

using Entry = std::array<uint64_t, 8>;
enum Field { kValid, kClass, kSize, kLo, kHi, kHead, kNext, kBlocked };

constexpr uint64_t kSizeEnd = 1u << 20;

const char* const kBins[] = {
    "lookup: hit",
    "lookup: hit on a blocked entry",
    "lookup: miss",
    "lookup: hit at the range's lower end",
    "lookup: hit at the range's upper end",
    "lookup: miss one below a range",
    "lookup: miss one above a range",
    "lookup: size above 20 bits",
    "lookup: size without a key",
    "lookup: size 0",
    "lookup: size 1024",
    "lookup: size 1025",
    "lookup: index off",
    "update: into a free slot",
    "update: evicts",
    "update: evicts a blocked entry",
    "update: evicts an entry with a list",
    "update: widens",
    "update: changes nothing",
    "update: another block size",
    "update: another block size drops a list",
    "update: of a blocked entry",
    "update: drops one overlapping entry",
    "update: drops several overlapping entries",
    "update: drops a blocked overlapping entry",
    "update: refused, class",
    "update: refused, size",
    "update: refused, small block",
    "update: refused, inside an index step",
    "update: refused, no key",
    "update: refused and drops the entry",
    "update: index off",
    "pop: hit",
    "pop: miss, no entry",
    "pop: miss, Head only",
    "pop: miss, nothing known",
    "pop: waits",
    "pop: class above 255",
    "push: nothing known",
    "push: Head known",
    "push: both known",
    "push: no entry",
    "push: waits",
    "push: null",
    "push: of Head",
    "push: of Next",
    "push: class above 255",
    "prefetch_next: issued",
    "prefetch_next: no entry",
    "prefetch_next: no Head",
    "prefetch_next: Next known",
    "prefetch_next: other address",
    "prefetch_next: null",
    "prefetch_next: waits, blocked",
    "prefetch_next: waits for a forgotten one",
    "prefetch_head: issued",
    "prefetch_head: no entry",
    "prefetch_head: Head known",
    "prefetch_head: null",
    "prefetch_head: waits, blocked",
    "prefetch_head: waits for a forgotten one",
    "prefetch: class above 255",
    "prefetch: all entries at once",
    "return: Head",
    "return: Next",
    "return: null",
    "return: is Head",
    "return: forgotten",
    "return: forgotten, slot taken over",
    "invalidate: blocked",
    "invalidate: with a list",
    "invalidate: nothing known",
    "invalidate: no entry",
    "flush: with blocked entries",
    "flush: empty",
    "flush_lists: with blocked entries",
    "flush_lists: empty",
    "squash_list: with a list",
    "squash_list: blocked",
    "squash_list: no entry",
    "squash_prefetch: blocked",
    "squash_prefetch: drops Next",
    "squash_prefetch: drops Head",
    "squash_prefetch: nothing known",
    "squash_prefetch: no entry",
    "squash_update: an entry",
    "squash_update: a blocked entry",
    "squash_update: no entry",
    "config: index on",
    "config: index off",
    "config: unchanged",
    "config: with blocked entries",
    "sample: due",
    "sample: not due",
    "sample_set: on",
    "sample_set: off",
    "port: a return goes before a request",
    "port: memory is not ready",
};

// The class's entry, or null.
const Entry* find(const std::vector<Entry>& entries, uint64_t cls) {
  for (const Entry& entry : entries) {
    if (entry[kValid] != 0 && entry[kClass] == cls) return &entry;
  }
  return nullptr;
}

unsigned count_valid(const std::vector<Entry>& entries) {
  unsigned count = 0;
  for (const Entry& entry : entries) count += entry[kValid] != 0;
  return count;
}

bool any_blocked(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    if (entry[kBlocked] != 0) return true;
  }
  return false;
}

// The range key of a size, counted in steps; kSizeEnd if it has none.
uint64_t key_of(const Observation& seen, uint64_t size) {
  if (size >= kSizeEnd) return kSizeEnd;
  if (!seen.index) return size >> seen.key_bits ? kSizeEnd : size;
  const uint64_t key = size <= 1024 ? (size + 7) / 8 : 128 + (size - 1024 + 127) / 128;
  return key < 4096 ? key : kSizeEnd;
}

bool too_wide(const Observation& seen, uint64_t pointer) {
  return pointer >> seen.pointer_bits;
}

}  // namespace

Coverage::Coverage(unsigned entries, bool wide) {
  for (const char* bin : kBins) bins_[bin] = 0;
  if (wide) {
    for (const char* name : {"push", "prefetch_head", "return"}) {
      bins_[std::string(name) + ": too wide"] = 0;
    }
  }
  for (unsigned slot = 0; slot < entries; slot++) {
    const std::string number = std::to_string(slot);
    bins_["slot " + number + ": lookup hit"] = 0;
    bins_["slot " + number + ": evicted"] = 0;
    bins_["slot " + number + ": pop hit"] = 0;
    bins_["slot " + number + ": prefetch returns"] = 0;
  }
}

void Coverage::hit(const std::string& bin) {
  const auto found = bins_.find(bin);
  if (found == bins_.end()) {
    std::fprintf(stderr, "coverage bin \"%s\" is not declared in coverage.cpp\n", bin.c_str());
    std::exit(2);
  }
  found->second++;
}

void Coverage::observe(const Observation& seen) {
  const std::vector<Entry>& before = *seen.before;
  switch (seen.code) {
    case MCACHE_LOOKUP: {
      const uint64_t key = key_of(seen, seen.a);
      hit(seen.result.hit ? "lookup: hit" : "lookup: miss");
      if (!seen.index) hit("lookup: index off");
      if (seen.a >= kSizeEnd) hit("lookup: size above 20 bits");
      if (seen.a < kSizeEnd && key == kSizeEnd) hit("lookup: size without a key");
      if (seen.a == 0) hit("lookup: size 0");
      if (seen.a == 1024) hit("lookup: size 1024");
      if (seen.a == 1025) hit("lookup: size 1025");
      for (unsigned slot = 0; slot < seen.entries; slot++) {
        const Entry& entry = before[slot];
        if (entry[kValid] == 0) continue;
        if (seen.result.hit && entry[kClass] == seen.result.a) {
          hit("slot " + std::to_string(slot) + ": lookup hit");
          if (entry[kBlocked] != 0) hit("lookup: hit on a blocked entry");
          if (entry[kLo] == key) hit("lookup: hit at the range's lower end");
          if (entry[kHi] == key) hit("lookup: hit at the range's upper end");
        }
        if (!seen.result.hit && key + 1 == entry[kLo]) hit("lookup: miss one below a range");
        if (!seen.result.hit && key == entry[kHi] + 1) hit("lookup: miss one above a range");
      }
      break;
    }
    case MCACHE_UPDATE:
      observe_update(seen);
      break;
    case MCACHE_POP:
    case MCACHE_PUSH:
      observe_list(seen);
      break;
    case MCACHE_PREFETCH_NEXT:
    case MCACHE_PREFETCH_HEAD:
    case MCACHE_RETURN:
      observe_prefetch(seen);
      break;
    case MCACHE_SAMPLE:
      hit(seen.result.hit ? "sample: due" : "sample: not due");
      break;
    case MCACHE_SAMPLE_SET:
      hit(seen.a != 0 ? "sample_set: on" : "sample_set: off");
      break;
    case MCACHE_FLUSH:
    case MCACHE_FLUSH_LISTS: {
      const std::string name = seen.code == MCACHE_FLUSH ? "flush: " : "flush_lists: ";
      if (any_blocked(before)) hit(name + "with blocked entries");
      if (count_valid(before) == 0) hit(name + "empty");
      break;
    }
    case MCACHE_INVALIDATE:
    case MCACHE_SQUASH_LIST:
    case MCACHE_SQUASH_PREFETCH:
    case MCACHE_SQUASH_UPDATE:
      observe_squash(seen);
      break;
    default:
      if (!seen.config_changed) {
        hit("config: unchanged");
      } else {
        hit(seen.index ? "config: index on" : "config: index off");
        if (any_blocked(before)) hit("config: with blocked entries");
      }
  }
}

void Coverage::observe_update(const Observation& seen) {
  const std::vector<Entry>&before = *seen.before, &after = *seen.after;
  const Entry* old = find(before, seen.c);
  if (!seen.index) hit("update: index off");
  if (seen.result.violation) {
    const uint64_t step = seen.b <= 1024 ? 8 : 128;
    if (seen.c > 255) hit("update: refused, class");
    if (seen.a >= kSizeEnd || seen.b >= kSizeEnd) {
      hit("update: refused, size");
    } else if (seen.b < seen.a) {
      hit("update: refused, small block");
    } else if (key_of(seen, seen.b) == kSizeEnd) {
      hit("update: refused, no key");
    } else if (seen.index && seen.b % step != 0) {
      hit("update: refused, inside an index step");
    }
    if (old != nullptr && find(after, seen.c) == nullptr) {
      hit("update: refused and drops the entry");
    }
    return;
  }
  unsigned overlaps = 0;
  const uint64_t lo = key_of(seen, seen.a), hi = key_of(seen, seen.b);
  for (const Entry& entry : before) {
    if (entry[kValid] == 0 || entry[kClass] == seen.c) continue;
    if (entry[kLo] > hi || lo > entry[kHi]) continue;
    overlaps++;
    if (entry[kBlocked] != 0) hit("update: drops a blocked overlapping entry");
  }
  if (overlaps == 1) hit("update: drops one overlapping entry");
  if (overlaps > 1) hit("update: drops several overlapping entries");
  if (old != nullptr) {
    const Entry* now = find(after, seen.c);
    if (old->at(kBlocked) != 0) hit("update: of a blocked entry");
    if (old->at(kSize) != seen.b) {
      hit("update: another block size");
      if (old->at(kHead) != 0) hit("update: another block size drops a list");
    } else {
      hit(now->at(kLo) < old->at(kLo) ? "update: widens" : "update: changes nothing");
    }
    return;
  }
  if (overlaps != 0 || count_valid(before) < seen.entries) {
    hit("update: into a free slot");
    return;
  }
  hit("update: evicts");
  for (unsigned slot = 0; slot < seen.entries; slot++) {
    if (after[slot][kClass] == before[slot][kClass]) continue;
    hit("slot " + std::to_string(slot) + ": evicted");
    if (before[slot][kBlocked] != 0) hit("update: evicts a blocked entry");
    if (before[slot][kHead] != 0) hit("update: evicts an entry with a list");
  }
}

void Coverage::observe_list(const Observation& seen) {
  const Entry* entry = find(*seen.before, seen.a);
  const bool pop = seen.code == MCACHE_POP;
  const std::string name = pop ? "pop: " : "push: ";
  if (seen.a > 255) return hit(name + "class above 255");
  if (entry == nullptr) return hit(pop ? "pop: miss, no entry" : "push: no entry");
  if (seen.result.wait) return hit(name + "waits");
  const uint64_t head = entry->at(kHead), next = entry->at(kNext);
  if (pop) {
    if (head == 0) return hit("pop: miss, nothing known");
    if (next == 0) return hit("pop: miss, Head only");
    const auto slot = static_cast<unsigned>(entry - seen.before->data());
    hit("slot " + std::to_string(slot) + ": pop hit");
    return hit("pop: hit");
  }
  if (seen.b == 0) return hit("push: null");
  if (too_wide(seen, seen.b)) return hit("push: too wide");
  if (seen.b == head) return hit("push: of Head");
  if (seen.b == next) hit("push: of Next");
  if (head == 0) return hit("push: nothing known");
  hit(next == 0 ? "push: Head known" : "push: both known");
}

void Coverage::observe_prefetch(const Observation& seen) {
  const std::vector<Entry>& before = *seen.before;
  if (seen.code == MCACHE_RETURN) {
    const Entry& entry = before[seen.a];
    const uint64_t head = entry[kHead];
    hit("slot " + std::to_string(seen.a) + ": prefetch returns");
    if (entry[kBlocked] == 0) {
      return hit(entry[kValid] ? "return: forgotten, slot taken over" : "return: forgotten");
    }
    if (seen.b == 0) return hit("return: null");
    if (too_wide(seen, seen.b)) return hit("return: too wide");
    if (seen.b == head) return hit("return: is Head");
    return hit(head == 0 ? "return: Head" : "return: Next");
  }
  const bool next = seen.code == MCACHE_PREFETCH_NEXT;
  const std::string name = next ? "prefetch_next: " : "prefetch_head: ";
  if (seen.a > 255) return hit("prefetch: class above 255");
  const Entry* entry = find(before, seen.a);
  if (entry == nullptr) return hit(name + "no entry");
  if (seen.result.wait) {
    return hit(name + (entry->at(kBlocked) ? "waits, blocked" : "waits for a forgotten one"));
  }
  if (seen.result.hit) {
    unsigned out = 1;
    for (const bool pending : *seen.pending_before) out += pending;
    if (out == seen.entries) hit("prefetch: all entries at once");
    return hit(name + "issued");
  }
  if (seen.b == 0) return hit(name + "null");
  if (!next)
    return hit(too_wide(seen, seen.b) ? "prefetch_head: too wide" : "prefetch_head: Head known");
  if (entry->at(kHead) == 0) return hit("prefetch_next: no Head");
  hit(entry->at(kHead) != seen.b ? "prefetch_next: other address" : "prefetch_next: Next known");
}

void Coverage::observe_squash(const Observation& seen) {
  const Entry* entry = find(*seen.before, seen.a);
  const bool blocked = entry != nullptr && entry->at(kBlocked) != 0;
  const bool list = entry != nullptr && entry->at(kHead) != 0;
  switch (seen.code) {
    case MCACHE_INVALIDATE:
      if (entry == nullptr) return hit("invalidate: no entry");
      if (blocked) return hit("invalidate: blocked");
      return hit(list ? "invalidate: with a list" : "invalidate: nothing known");
    case MCACHE_SQUASH_LIST:
      if (entry == nullptr) return hit("squash_list: no entry");
      if (blocked) return hit("squash_list: blocked");
      if (list) hit("squash_list: with a list");
      return;
    case MCACHE_SQUASH_UPDATE:
      if (entry == nullptr) return hit("squash_update: no entry");
      return hit(blocked ? "squash_update: a blocked entry" : "squash_update: an entry");
    default:
      if (entry == nullptr) return hit("squash_prefetch: no entry");
      if (blocked) return hit("squash_prefetch: blocked");
      if (entry->at(kNext) != 0) return hit("squash_prefetch: drops Next");
      hit(list ? "squash_prefetch: drops Head" : "squash_prefetch: nothing known");
  }
}

unsigned Coverage::report(const std::string& path, const std::string& title) const {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "cannot write the coverage report %s; does its folder exist?\n",
                 path.c_str());
    std::exit(2);
  }
  unsigned missed = 0;
  std::fprintf(file, "# %s\n", title.c_str());
  for (const auto& [bin, count] : bins_) {
    std::fprintf(file, "%12llu  %s\n", static_cast<unsigned long long>(count), bin.c_str());
    missed += count == 0;
    if (count == 0) std::printf("not covered: %s\n", bin.c_str());
  }
  std::fprintf(file, "# %zu of %zu bins\n", bins_.size() - missed, bins_.size());
  std::fclose(file);
  return missed;
}

Coverage& coverage(unsigned entries, bool wide) {
  static Coverage instance(entries, wide);
  return instance;
}

}  // namespace cosim
