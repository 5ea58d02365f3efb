// Cascade: accumulators of blocks, merged pairwise as they come.
#pragma once

#include <keyway/backends/cpu/reduction_loops.h>
#include <keyway/backends/cpu/scratch.h>

#include <bit>
#include <cstdint>

namespace keyway::inline v1::detail {

// Room for so many accumulators, such that every part of it is aligned (AccArray).
constexpr std::int64_t capacity_for(std::int64_t width) { return (width + 15) / 16 * 16; }

using CascadeScratch = Scratch<32 * 1024>;

// Levels hold rows of `width` accumulators, merged like the digits of a binary counter: once n blocks have
// ended, there is a level for each bit of n. Each merge is of equals, so that an element takes part in as few
// as possible.
class Cascade {
 public:
  // `scratch`, aligned to 64, has scratch_bytes() for the number of blocks that will come.
  Cascade(const ReduceOp& op, const void* functor, char* scratch, std::int64_t width)
      : op_(op), functor_(functor), scratch_(scratch), width_(width), capacity_(capacity_for(width)) {}

  static std::size_t scratch_bytes(const ReduceOp& op, std::int64_t width, std::int64_t blocks) {
    return static_cast<std::size_t>(capacity_for(width)) * static_cast<std::size_t>(op.acc_bytes) *
           (static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(blocks))) + 1);
  }
  // Of the arrays that begin_block() and finish() give.
  std::int64_t capacity() const { return capacity_; }

  // Where the accumulators of the next block go; they hold the identity.
  char* begin_block() {
    op_.fill(functor_, level(top_), capacity_, width_);
    return level(top_);
  }
  // The same for two blocks, of which the second one's accumulators stand behind the first's: begin_pair(), then
  // end_block() twice. Where can_begin_pair(): else the first would be merged before the second has its place.
  bool can_begin_pair() const { return (blocks_ & 1) == 0; }
  char* begin_pair() {
    op_.fill(functor_, level(top_), 2 * capacity_, 2 * width_);
    return level(top_);
  }
  void end_block() {
    ++blocks_;
    ++top_;
    for (std::uint64_t n = blocks_; (n & 1) == 0; n >>= 1) merge_top();
  }
  // Merges what is there into one row. Requires: a block has ended.
  char* finish() {
    while (top_ > 1) merge_top();
    return level(0);
  }

 private:
  char* level(int i) { return scratch_ + i * capacity_ * op_.acc_bytes; }
  void merge_top() {
    --top_;
    op_.merge(functor_, level(top_ - 1), level(top_), capacity_, width_);
  }

  const ReduceOp& op_;
  const void* functor_;
  char* scratch_;
  std::int64_t width_;
  std::int64_t capacity_;
  int top_ = 0;  // levels in use
  std::uint64_t blocks_ = 0;
};

}  // namespace keyway::inline v1::detail
