#include "lockstep.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace cosim {

namespace {

const char* const kNames[] = {
    "lookup",     "update", "pop",         "push",        "prefetch_next",   "prefetch_head",
    "invalidate", "flush",  "flush_lists", "squash_list", "squash_prefetch", "squash_update",
    "return",     "sample", "sample_set",  "config"};
const char* const kFields[] = {"valid", "class", "size", "lo", "hi", "head", "next", "blocked"};

}  // namespace

Lockstep::Lockstep(uint64_t seed, std::string where)
    : random(seed), top_(new Vcosim), seed_(seed), where_(std::move(where)) {
  reset();
  entries_ = top_->entries_o;
  pointer_bits_ = top_->ptr_width_o;
  key_bits_ = top_->key_width_o;
  xlen_ = top_->xlen_o;
  storage_ = top_->storage_o;
  model_ = mcache_new(static_cast<uint8_t>(entries_), 1, static_cast<uint8_t>(key_bits_),
                      static_cast<uint8_t>(pointer_bits_));
  if (model_ == nullptr) {
    std::fprintf(stderr, "the model refuses %s\n", config().c_str());
    std::exit(2);
  }
  memory = [](uint64_t) { return uint64_t{0}; };
  state_.resize(entries_);
  pending_.resize(entries_);
  read_model_state();
  coverage(entries_, pointer_bits_ < xlen_);
}

Lockstep::~Lockstep() {
  mcache_free(model_);
}

std::string Lockstep::config() const {
  static const char* const storage[] = {"flop", "gated", "latch"};
  return std::to_string(entries_) + " entries, " + std::to_string(pointer_bits_) +
         "-bit pointers, " + std::to_string(key_bits_) + "-bit keys, " + storage[storage_];
}

void Lockstep::reset() {
  top_->rst_ni = 0;
  top_->req_valid_i = 0;
  top_->mem_rsp_valid_i = 0;
  top_->mem_ready_i = 0;
  for (int i = 0; i < 4; i++) {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
  }
  top_->clk_i = 0;
  top_->rst_ni = 1;
  top_->eval();
}

const Entry* Lockstep::entry_of(uint64_t cls) const {
  for (const Entry& entry : state_) {
    if (entry[0] != 0 && entry[1] == cls) return &entry;
  }
  return nullptr;
}

bool Lockstep::cycle(const Operation* request) {
  cycle_++;
  top_->clk_i = 0;
  top_->req_valid_i = request != nullptr;
  if (request != nullptr) {
    top_->req_op_i = request->code;
    top_->req_a_i = request->a;
    top_->req_b_i = request->b;
    top_->req_c_i = request->c;
  }
  // A word whose time has come returns; which one of several is random.
  size_t returning = loads_.size();
  for (size_t i = 0; i < loads_.size(); i++) {
    if (loads_[i].due <= cycle_ && (returning == loads_.size() || random.one_in(2))) returning = i;
  }
  const bool returns = returning < loads_.size() && !hold_returns;
  top_->mem_rsp_valid_i = returns;
  top_->mem_rsp_tag_i = returns ? loads_[returning].tag : random.below(entries_);
  top_->mem_rsp_data_i = returns ? loads_[returning].value : random.next();
  top_->mem_ready_i = !random.one_in(4);
  top_->eval();

  if (check_state_) compare_state();
  if (stalled()) coverage().hit("port: memory is not ready");
  const bool accepted = request != nullptr && top_->req_ready_o;
  if (top_->fire_o) {
    if (top_->mem_valid_o && top_->mem_ready_i) {
      loads_.push_back(
          {top_->mem_tag_o, memory(top_->mem_addr_o), cycle_ + 1 + random.below(delay_max)});
    }
    execute_in_model();
  }
  if (returns && top_->mem_rsp_ready_o) {
    if (request != nullptr) coverage().hit("port: a return goes before a request");
    current_ = {MCACHE_RETURN, loads_[returning].tag, loads_[returning].value, 0};
    is_return_ = true;
    loads_.erase(loads_.begin() + static_cast<std::ptrdiff_t>(returning));
  } else if (accepted) {
    current_ = *request;
    is_return_ = false;
  }
  top_->clk_i = 1;
  top_->eval();
  return accepted;
}

void Lockstep::execute_in_model() {
  before_ = state_;
  const std::vector<bool> pending_before = pending_;
  mcache_result want{};
  bool changed = false;
  if (current_.code == kConfig) {
    changed = index_ != ((current_.a & 1) != 0);
    index_ = (current_.a & 1) != 0;
    mcache_set_index(model_, index_);
  } else {
    want = mcache_op(model_, current_.code, current_.a, current_.b, current_.c);
  }
  if (top_->fire_op_o != current_.code)
    mismatch("operation executed", current_.code, top_->fire_op_o);
  if (!is_return_) compare_answer(want);
  if (is_return_) pending_[current_.a] = false;
  if (want.hit &&
      (current_.code == MCACHE_PREFETCH_NEXT || current_.code == MCACHE_PREFETCH_HEAD)) {
    pending_[want.fill - 1] = true;
  }
  read_model_state();
  coverage().observe({current_.code, current_.a, current_.b, current_.c, want, index_, is_return_,
                      changed, entries_, pointer_bits_, key_bits_, &before_, &state_,
                      &pending_before});
  check_state_ = true;
  if (!is_return_) {
    operations_++;
    answer_ = want;
    answered_ = true;
  }
}

void Lockstep::compare_answer(const mcache_result& want) {
  if (!top_->rsp_valid_o) mismatch("answer", 1, 0);
  if (top_->rsp_hit_o != want.hit) mismatch("hit", want.hit, top_->rsp_hit_o);
  if (top_->rsp_wait_o != want.wait) mismatch("wait", want.wait, top_->rsp_wait_o);
  if (top_->rsp_violation_o != want.violation) {
    mismatch("violation", want.violation, top_->rsp_violation_o);
  }
  if (top_->rsp_first_o != want.a) mismatch("first result", want.a, top_->rsp_first_o);
  if (top_->rsp_second_o != want.b) mismatch("second result", want.b, top_->rsp_second_o);
  const bool prefetch =
      current_.code == MCACHE_PREFETCH_NEXT || current_.code == MCACHE_PREFETCH_HEAD;
  const bool issued = prefetch && want.hit;
  if (top_->mem_valid_o != issued) mismatch("load", issued, top_->mem_valid_o);
  if (issued) {
    if (top_->mem_tag_o != want.fill - 1) mismatch("load's tag", want.fill - 1u, top_->mem_tag_o);
    if (top_->mem_addr_o != current_.b) mismatch("load's address", current_.b, top_->mem_addr_o);
  }
}

void Lockstep::read_model_state() {
  for (unsigned i = 0; i < entries_; i++) {
    state_[i].fill(0);
    mcache_entry(model_, static_cast<uint8_t>(i), state_[i].data());
  }
}

void Lockstep::compare_state() {
  check_state_ = false;
  for (unsigned i = 0; i < entries_; i++) {
    const bool valid = (top_->entry_valid_o >> i & 1) != 0;
    const bool blocked = (top_->entry_blocked_o >> i & 1) != 0;
    Entry got{valid,
              top_->entry_class_o[i],
              top_->entry_size_o[i],
              top_->entry_lo_o[i],
              top_->entry_hi_o[i],
              top_->entry_head_o[i],
              top_->entry_next_o[i],
              blocked};
    if (!valid) got = {};
    for (size_t field = 0; field < got.size(); field++) {
      if (got[field] != state_[i][field]) {
        mismatch("entry " + std::to_string(i) + ", " + kFields[field], state_[i][field],
                 got[field]);
      }
    }
    const bool pending = (top_->entry_pending_o >> i & 1) != 0;
    if (pending != pending_[i])
      mismatch("entry " + std::to_string(i) + ", pending", !pending, pending);
  }
}

mcache_result Lockstep::execute(const Operation& op) {
  answered_ = false;
  while (!cycle(&op)) {
  }
  while (!answered_) cycle(nullptr);
  return answer_;
}

mcache_result Lockstep::complete(const Operation& op) {
  for (int tries = 0;; tries++) {
    const mcache_result result = execute(op);
    if (!result.wait) return result;
    // G6: a wait ends when memory answers.
    if (tries > 10000) mismatch("an end of waiting", 0, 1);
  }
}

void Lockstep::idle(unsigned cycles) {
  for (unsigned i = 0; i < cycles; i++) cycle(nullptr);
}

void Lockstep::drain() {
  while (!loads_.empty()) cycle(nullptr);
  idle(3);
}

void Lockstep::mismatch(const std::string& what, uint64_t want, uint64_t got) {
  std::fprintf(stderr,
               "MISMATCH (%s)\n  cycle %" PRIu64 ", operation %" PRIu64 ": %s a=%#" PRIx64
               " b=%#" PRIx64 " c=%#" PRIx64 "\n  %s: expected %#" PRIx64 ", got %#" PRIx64
               "\n  seed %" PRIu64 "\n  run again: %s\n",
               config().c_str(), cycle_, operations_, kNames[current_.code], current_.a, current_.b,
               current_.c, what.c_str(), want, got, seed_, where_.c_str());
  std::exit(1);
}

}  // namespace cosim
