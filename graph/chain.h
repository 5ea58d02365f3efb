// Chain: pointwise calls that follow one another, made for a block of their elements at a time, which stays in the
// cache from one call to the next. The calls are those of the operators' own functions, on tensors that are a block.
#pragma once

#include <keyway/dispatch/call/direct_call.h>
#include <keyway/dispatch/call/operator_entry.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace keyway::inline v1::graph {

// Makes a call of an operator's function; errors get the operator's name.
void run_named(DirectCall& call, const OperatorEntry& op);

class Chain {
 public:
  struct Call {
    const DirectCall* call;
    const OperatorEntry* op;
    std::vector<TensorBase> written;  // of its tensors
  };
  // Of calls in one chain; more of them are several.
  static constexpr std::size_t kMost = 64;
  // Whether a chain may begin with the call: it writes enough elements.
  static bool may_begin(const Call& call);
  // How many of the calls, from the first on, can be one chain: what each writes has one shape, all it reads broadcasts
  // to that, and memory that is written is used by one tensor alone, or by equal ones.
  static std::size_t length(const std::vector<Call>& calls);
  // Of calls of which length() is their number. `passing` are the tensors that are written and read in the chain alone:
  // they get memory for a block.
  Chain(const std::vector<Call>& calls, const std::vector<TensorBase>& passing);

  // Makes the calls, for what their tensors hold now. One run at a time.
  void run();

 private:
  // A tensor of the calls, and what of it is in a block: rows of its first dimension, or, if it has none of the
  // chain's, all of it.
  struct Operand {
    TensorBase whole;
    bool has_rows;
    bool passes;
    bool streams = false;    // written from a block's own memory past the caches, as it is too long for them
    std::size_t buffer = 0;  // of those of a lane; of one that has its own memory
    bool has_own_memory() const { return passes || streams; }
  };
  // What one thread works with: the calls, on its own tensors.
  struct Lane {
    std::vector<TensorBase> blocks;  // one for each operand
    std::vector<std::unique_ptr<DirectCall>> calls;
  };

  void add_operand(const TensorBase& whole, bool passes);
  void choose_rows();
  void choose_streams();
  // A tensor of a block gives its memory to a later one of its dtype, so that few blocks have to fit in the cache.
  void choose_buffers(const std::vector<Call>& calls);
  // Whether the calls write the tensor before they read it, and no other one lies in its memory.
  bool is_new(const Operand& operand) const;
  std::unique_ptr<Lane> make_lane() const;
  std::unique_ptr<Lane> take_lane();
  void place(Lane& lane) const;
  void move_to(Lane& lane, std::int64_t first, std::int64_t count) const;
  void run_rows(std::int64_t begin, std::int64_t end);

  std::vector<Operand> operands_;
  std::vector<std::unique_ptr<DirectCall>> calls_;  // on the whole tensors
  std::vector<const OperatorEntry*> ops_;           // of the calls
  std::vector<std::int64_t> sizes_;                 // of the chain: its shape, or one dimension of all elements
  bool is_flat_ = false;
  std::int64_t row_elements_ = 1, rows_in_block_ = 1;
  Storage nothing_ = make_storage(0, DeviceType::CPU);  // where blocks lie between runs
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // that no thread uses
};

}  // namespace keyway::inline v1::graph
