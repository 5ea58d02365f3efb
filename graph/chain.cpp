#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/chain.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

// Elements of a block. Half a dozen tensors of so many floats fit in the second-level cache, most of them in the first.
constexpr std::int64_t kBlock = 4096;
// Of a chain: with fewer, calls cost less than blocks.
constexpr std::int64_t kFewest = 4 * kBlock;

bool is_alike(const TensorBase& a, const TensorBase& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() && a.storage_offset() == b.storage_offset() &&
         a.dtype() == b.dtype();
}

// Whether a tensor broadcasts to the sizes: with rows of their first dimension, or without it.
bool broadcasts(const TensorBase& tensor, IntArrayRef sizes) {
  const IntArrayRef own = tensor.sizes();
  if (own == sizes) return true;
  const std::size_t more = sizes.size() - std::min(own.size(), sizes.size());
  if (own.size() > sizes.size() || (more == 0 && own[0] != 1)) return false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != 1 && own[i] != sizes[i + more]) return false;
  }
  return true;
}

std::vector<TensorBase> tensors_of(const DirectCall& call) {
  std::vector<TensorBase> tensors;
  for (const DirectCall::TensorSlot& slot : const_cast<DirectCall&>(call).tensors()) {
    if (slot.tensor->defined()) tensors.push_back(*slot.tensor);
  }
  return tensors;
}

// Kernels may refuse elements of integers, after others have been written.
bool may_refuse(const TensorBase& tensor) { return is_integral(tensor.dtype(), /*include_bool=*/false); }

// What the calls so far do with memory.
class Uses {
 public:
  explicit Uses(IntArrayRef sizes) : sizes_(sizes) {}

  // False if the call does not fit to those before.
  bool add(const Chain::Call& call) {
    for (const TensorBase& tensor : tensors_of(*call.call)) {
      const bool is_written = std::ranges::any_of(call.written, [&](const TensorBase& w) { return w.is_same(tensor); });
      if (may_refuse(tensor) || !broadcasts(tensor, sizes_) || (is_written && tensor.sizes() != sizes_)) return false;
      for (const auto& [other, other_is_written] : all_) {
        if ((is_written || other_is_written) && other.is_alias_of(tensor) && !is_alike(other, tensor)) return false;
      }
      all_.emplace_back(tensor, is_written);
    }
    return !call.written.empty();
  }

 private:
  IntArrayRef sizes_;
  std::vector<std::pair<TensorBase, bool>> all_;
};

}  // namespace

void run_named(DirectCall& call, const OperatorEntry& op) {
  try {
    call.run();
  } catch (Error& error) {
    error.leave_op(op.short_name());
    throw;
  }
}

bool Chain::may_begin(const Call& call) { return !call.written.empty() && call.written[0].numel() >= kFewest; }

std::size_t Chain::length(const std::vector<Call>& calls) {
  if (calls.empty() || !may_begin(calls[0])) return 0;
  Uses uses(calls[0].written[0].sizes());
  std::size_t count = 0;
  while (count < calls.size() && uses.add(calls[count])) ++count;
  return count;
}

Chain::Chain(const std::vector<Call>& calls, const std::vector<TensorBase>& passing) {
  sizes_ = calls[0].written[0].sizes().vec();
  for (const Call& call : calls) {
    calls_.push_back(call.call->clone());
    ops_.push_back(call.op);
    for (const TensorBase& tensor : tensors_of(*call.call))
      add_operand(tensor, std::ranges::any_of(passing, [&](const TensorBase& p) { return p.is_same(tensor); }));
  }
  choose_rows();
  choose_streams();
  choose_buffers(calls);
}

void Chain::add_operand(const TensorBase& whole, bool passes) {
  if (std::ranges::any_of(operands_, [&](const Operand& operand) { return operand.whole.is_same(whole); })) return;
  operands_.push_back({whole, whole.sizes() == IntArrayRef(sizes_), passes});
}

// In one dimension where all tensors lie in rows, or have one element.
void Chain::choose_rows() {
  is_flat_ = std::ranges::all_of(operands_, [](const Operand& operand) {
    return operand.has_rows ? operand.whole.is_contiguous() : operand.whole.numel() == 1;
  });
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes_) elements *= size;
  if (is_flat_) sizes_ = {elements};
  row_elements_ = elements / sizes_[0];
  rows_in_block_ = std::max<std::int64_t>(1, kBlock / row_elements_);
}

void Chain::choose_streams() {
  if (!is_flat_) return;
  for (Operand& operand : operands_) {
    const bool is_long = operand.has_rows && static_cast<std::int64_t>(operand.whole.nbytes()) >= stream_threshold();
    operand.streams = is_long && !operand.passes && is_new(operand);
  }
}

void Chain::choose_buffers(const std::vector<Call>& calls) {
  constexpr std::size_t kNever = ~std::size_t{0};
  std::vector<std::size_t> first(operands_.size(), kNever), last(operands_.size(), 0);
  for (std::size_t c = 0; c < calls.size(); ++c) {
    for (const TensorBase& tensor : tensors_of(*calls_[c])) {
      const auto is_it = [&](const Operand& operand) { return operand.whole.is_same(tensor); };
      const auto i = static_cast<std::size_t>(std::ranges::find_if(operands_, is_it) - operands_.begin());
      first[i] = std::min(first[i], c);
      last[i] = operands_[i].streams ? calls.size() : c;
    }
  }
  std::size_t buffers = 0;
  std::vector<std::size_t> holders;  // of each buffer, the operand
  for (std::size_t c = 0; c < calls.size(); ++c) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (!operands_[i].has_own_memory() || first[i] != c) continue;
      // A call that writes one tensor may write it element on element over one that it reads.
      const auto is_free = [&](std::size_t holder) {
        return operands_[holder].whole.dtype() == operands_[i].whole.dtype() &&
               (last[holder] < c || (last[holder] == c && first[holder] < c && calls[c].written.size() == 1));
      };
      const auto found = std::ranges::find_if(holders, is_free);
      if (found == holders.end()) {
        operands_[i].buffer = buffers++;
        holders.push_back(i);
      } else {
        operands_[i].buffer = operands_[*found].buffer;
        *found = i;
      }
    }
  }
}

bool Chain::is_new(const Operand& operand) const {
  for (const Operand& other : operands_) {
    if (&other != &operand && other.whole.is_alias_of(operand.whole)) return false;
  }
  for (const auto& call : calls_) {
    bool is_used = false, is_read = false;
    for (const DirectCall::TensorSlot& slot : call->tensors()) {
      if (!slot.tensor->defined() || !slot.tensor->is_same(operand.whole)) continue;
      is_used = true;
      is_read = is_read || !slot.is_out;
    }
    if (is_used) return !is_read;
  }
  return false;
}

std::unique_ptr<Chain::Lane> Chain::make_lane() const {
  auto lane = std::make_unique<Lane>();
  for (const Operand& operand : operands_) {
    TensorBase block;
    const auto shares = [&](const Operand& other) { return other.has_own_memory() && other.buffer == operand.buffer; };
    const auto sharer = std::ranges::find_if(operands_, shares);
    if (operand.has_own_memory() && &*sharer != &operand) {
      block = make_view(lane->blocks[static_cast<std::size_t>(sharer - operands_.begin())]);
    } else if (operand.has_own_memory()) {
      std::vector<std::int64_t> sizes = sizes_;
      sizes[0] = std::min(rows_in_block_, sizes[0]);
      block = make_tensor(sizes, operand.whole.dtype(), DeviceType::CPU);
    } else {
      block = make_view(operand.whole);
      if (is_flat_ && !operand.has_rows) block = make_view(operand.whole, {}, {}, operand.whole.storage_offset());
    }
    lane->blocks.push_back(std::move(block));
  }
  for (const auto& call : calls_) {
    lane->calls.push_back(call->clone());
    for (const DirectCall::TensorSlot& slot : lane->calls.back()->tensors()) {
      const auto own = std::ranges::find_if(operands_, [&](const Operand& operand) {
        return slot.tensor->defined() && operand.whole.is_same(*slot.tensor);
      });
      if (own != operands_.end()) *slot.tensor = lane->blocks[static_cast<std::size_t>(own - operands_.begin())];
    }
  }
  return lane;
}

std::unique_ptr<Chain::Lane> Chain::take_lane() {
  {
    const std::lock_guard lock(mutex_);
    if (!lanes_.empty()) {
      std::unique_ptr<Lane> lane = std::move(lanes_.back());
      lanes_.pop_back();
      return lane;
    }
  }
  return make_lane();
}

// Where the whole tensors lie now.
void Chain::place(Lane& lane) const {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!operands_[i].has_own_memory()) lane.blocks[i].impl()->set_storage(operands_[i].whole.storage());
  }
}

void Chain::move_to(Lane& lane, std::int64_t first, std::int64_t count) const {
  std::int64_t sizes[kMaxDims];
  std::ranges::copy(sizes_, sizes);
  sizes[0] = count;
  constexpr std::int64_t kOne = 1;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    TensorImpl& block = *lane.blocks[i].impl();
    if (!operand.has_rows || (operand.has_own_memory() && block.sizes()[0] == count)) continue;
    const IntArrayRef strides = operand.has_own_memory() ? block.strides()
                                : is_flat_               ? IntArrayRef(&kOne, 1)
                                                         : operand.whole.strides();
    const std::int64_t offset = operand.has_own_memory() ? 0 : operand.whole.storage_offset() + first * strides[0];
    std::int64_t own_strides[kMaxDims];  // the block's are overwritten
    std::ranges::copy(strides, own_strides);
    block.set_geometry(IntArrayRef(sizes, sizes_.size()), IntArrayRef(own_strides, sizes_.size()), offset,
                       count * row_elements_);
    static_cast<void>(block.is_contiguous());  // kernels take the short way where that is known
  }
}

void Chain::run_rows(std::int64_t begin, std::int64_t end) {
  const struct Borrowed {
    Chain& chain;
    std::unique_ptr<Lane> lane;
    ~Borrowed() {
      for (std::size_t i = 0; i < chain.operands_.size(); ++i) {
        if (!chain.operands_[i].has_own_memory()) lane->blocks[i].impl()->set_storage(chain.nothing_);
      }
      const std::lock_guard lock(chain.mutex_);
      chain.lanes_.push_back(std::move(lane));
    }
  } borrowed{*this, take_lane()};
  Lane& lane = *borrowed.lane;
  place(lane);
  for (std::int64_t row = begin; row < end; row += rows_in_block_) {
    const std::int64_t count = std::min(rows_in_block_, end - row);
    move_to(lane, row, count);
    for (std::size_t i = 0; i < lane.calls.size(); ++i) run_named(*lane.calls[i], *ops_[i]);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (!operands_[i].streams) continue;
      const TensorBase& whole = operands_[i].whole;
      const auto item = static_cast<std::int64_t>(whole.itemsize());
      stream_bytes(static_cast<char*>(whole.data_ptr()) + row * item, static_cast<char*>(lane.blocks[i].data_ptr()),
                   count * item);
    }
  }
  if (std::ranges::any_of(operands_, &Operand::streams)) stream_fence();
}

void Chain::run() {
  const std::int64_t grain = std::max(rows_in_block_, kElementGrain / row_elements_);
  parallel_for(0, sizes_[0], grain, [this](std::int64_t begin, std::int64_t end) { run_rows(begin, end); });
}

}  // namespace keyway::inline v1::graph
