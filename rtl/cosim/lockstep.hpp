// Drives the RTL and the model with the same operations and compares every answer and all state.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Vcosim.h"
#include "coverage.hpp"
#include "mcache.h"
#include "random.hpp"

namespace cosim {

// The configuration port is not an operation of the model; its code on the hardware's port.
constexpr uint8_t kConfig = 15;

struct Operation {
  uint8_t code = 0;
  uint64_t a = 0, b = 0, c = 0;
};

// State of one entry: valid, class, size, lo, hi, head, next, blocked.
using Entry = std::array<uint64_t, 8>;

class Lockstep {
 public:
  // `where` is printed with a mismatch: how to run this again.
  Lockstep(uint64_t seed, std::string where);
  ~Lockstep();
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  // Executes one operation; returning words execute as they come.
  mcache_result execute(const Operation& op);
  // As execute(), repeated until it need not wait.
  mcache_result complete(const Operation& op);
  // Lets cycles pass without a request.
  void idle(unsigned cycles);
  // Lets every outstanding word return.
  void drain();

  // What memory holds: called when a load is issued, so in program order.
  std::function<uint64_t(uint64_t address)> memory;
  // Cycles a load takes at most.
  unsigned delay_max = 20;
  // While set, no word returns.
  bool hold_returns = false;

  unsigned entries() const { return entries_; }
  unsigned pointer_bits() const { return pointer_bits_; }
  unsigned key_bits() const { return key_bits_; }
  unsigned xlen() const { return xlen_; }
  bool index() const { return index_; }
  uint64_t operations() const { return operations_; }
  uint64_t cycles() const { return cycle_; }
  const std::vector<Entry>& state() const { return state_; }
  // The entry of a class, or null.
  const Entry* entry_of(uint64_t cls) const;
  size_t outstanding() const { return loads_.size(); }
  std::string config() const;

  Random random;

 private:
  struct Load {
    uint64_t tag, value, due;
  };

  void reset();
  // One clock cycle. True if the current request was accepted in it.
  bool cycle(const Operation* request);
  void execute_in_model();
  void compare_answer(const mcache_result& want);
  void compare_state();
  void read_model_state();
  bool stalled() const { return top_->mem_valid_o && !top_->mem_ready_i; }
  [[noreturn]] void mismatch(const std::string& what, uint64_t want, uint64_t got);

  std::unique_ptr<Vcosim> top_;
  mcache* model_;
  uint64_t seed_;
  std::string where_;
  unsigned entries_, pointer_bits_, key_bits_, xlen_, storage_;
  bool index_ = true;
  uint64_t cycle_ = 0, operations_ = 0;
  std::vector<Load> loads_;
  std::vector<Entry> state_, before_;
  std::vector<bool> pending_;
  Operation current_;       // accepted, not yet executed
  bool is_return_ = false;  // current_ is a returning word
  bool check_state_ = false;
  bool answered_ = false;
  mcache_result answer_{};
};

}  // namespace cosim
