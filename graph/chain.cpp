#include <keyway/backends/cpu/parallel.h>
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

std::unique_ptr<Chain::Lane> Chain::make_lane() const {
  auto lane = std::make_unique<Lane>();
  for (const Operand& operand : operands_) {
    TensorBase block;
    if (operand.passes) {
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
    if (!operands_[i].passes) lane.blocks[i].impl()->set_storage(operands_[i].whole.storage());
  }
}

void Chain::move_to(Lane& lane, std::int64_t first, std::int64_t count) const {
  std::int64_t sizes[64];
  std::ranges::copy(sizes_, sizes);
  sizes[0] = count;
  constexpr std::int64_t kOne = 1;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    TensorImpl& block = *lane.blocks[i].impl();
    if (!operand.has_rows || (operand.passes && block.sizes()[0] == count)) continue;
    const IntArrayRef strides = operand.passes ? block.strides()
                                : is_flat_     ? IntArrayRef(&kOne, 1)
                                               : operand.whole.strides();
    const std::int64_t offset = operand.passes ? 0 : operand.whole.storage_offset() + first * strides[0];
    const std::vector<std::int64_t> own_strides = strides.vec();
    block.set_geometry(IntArrayRef(sizes, sizes_.size()), own_strides, offset, count * row_elements_);
  }
}

void Chain::run_rows(std::int64_t begin, std::int64_t end) {
  const struct Borrowed {
    Chain& chain;
    std::unique_ptr<Lane> lane;
    ~Borrowed() {
      for (std::size_t i = 0; i < chain.operands_.size(); ++i) {
        if (!chain.operands_[i].passes) lane->blocks[i].impl()->set_storage(chain.nothing_);
      }
      const std::lock_guard lock(chain.mutex_);
      chain.lanes_.push_back(std::move(lane));
    }
  } borrowed{*this, take_lane()};
  Lane& lane = *borrowed.lane;
  place(lane);
  for (std::int64_t row = begin; row < end; row += rows_in_block_) {
    move_to(lane, row, std::min(rows_in_block_, end - row));
    for (std::size_t i = 0; i < lane.calls.size(); ++i) run_named(*lane.calls[i], *ops_[i]);
  }
}

void Chain::run() {
  const std::int64_t grain = std::max(rows_in_block_, kElementGrain / row_elements_);
  parallel_for(0, sizes_[0], grain, [this](std::int64_t begin, std::int64_t end) { run_rows(begin, end); });
}

}  // namespace keyway::inline v1::graph
