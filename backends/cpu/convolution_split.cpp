// Convolutions by oneDNN on several threads: which parts one is cut into. That follows from its shape alone, so
// the result does not depend on how many threads there are.
#include <keyway/backends/cpu/convolution.h>
#include <keyway/backends/cpu/onednn_convolution.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scratch.h>

#include <algorithm>
#include <array>
#include <memory>

namespace keyway::inline v1 {

namespace {

using onednn::ConvKey;
using onednn::Convolution;

// Multiplications in a part that is worth a thread; and how many parts there are at most.
constexpr double kWorkOfPart = 4e6;
constexpr std::int64_t kMaxParts = 64;
// Channels in a part: what oneDNN's loops take at a time.
constexpr std::int64_t kChannelUnit = 16;
// Bytes for gradients of weights from parts of the batch.
constexpr std::int64_t kPartialBytes = 16 << 20;

// The dimension that is cut.
enum class Cut : std::uint8_t { Images, Groups, OutChannels, InChannels };

struct Operands {
  char* x;
  char* w;
  char* y;
  const float* bias;
};

class SplitConvolution {
 public:
  SplitConvolution(ConvPass pass, const ConvProblem& problem, const TensorBase& x, const TensorBase& w,
                   const TensorBase& y, const float* bias)
      : key_{pass, bias != nullptr, x.dtype() == kBFloat16 || w.dtype() == kBFloat16, problem, {}},
        all_{static_cast<char*>(x.data_ptr()), static_cast<char*>(w.data_ptr()), static_cast<char*>(y.data_ptr()),
             bias} {
    const TensorBase* const tensors[3] = {&x, &w, &y};
    for (std::size_t i = 0; i < 3; ++i) {
      const IntArrayRef strides = tensors[i]->strides();
      std::copy(strides.begin(), strides.end(), key_.strides[i].begin());
      for (std::size_t d = 0; d < strides.size(); ++d) bytes_[i][d] = strides[d] * tensors[i]->itemsize();
    }
    choose_cut(static_cast<std::int64_t>(w.nbytes()));
  }

  // False if oneDNN cannot.
  bool run() {
    part_ = make(length_);
    const std::int64_t tail = total_ % length_;
    tail_ = tail == 0 ? part_ : make(tail);
    if (part_ == nullptr || tail_ == nullptr) return false;
    if (cut_ == Cut::Images && key_.pass == ConvPass::Weights && parts() > 1) {
      sum_partial_weights();
      return true;
    }
    order_shared_weights();
    parallel_for(0, parts(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) run_part(i, all_);
    });
    return true;
  }

 private:
  std::int64_t parts() const { return (total_ + length_ - 1) / length_; }
  const Convolution& part(std::int64_t i) const { return (i + 1) * length_ <= total_ ? *part_ : *tail_; }

  void choose_cut(std::int64_t weight_bytes) {
    const ConvProblem& p = key_.problem;
    const auto wanted =
        static_cast<std::int64_t>(std::clamp(p.work() / kWorkOfPart, 1.0, static_cast<double>(kMaxParts)));
    const bool few_images = p.batch < wanted && p.batch < 8;
    const bool too_heavy = key_.pass == ConvPass::Weights && weight_bytes * wanted > kPartialBytes;
    if (wanted == 1 || !(few_images || too_heavy)) {
      cut_ = Cut::Images;
      total_ = p.batch;
    } else if (p.groups > 1) {
      cut_ = Cut::Groups;
      total_ = p.groups;
    } else {
      cut_ = key_.pass == ConvPass::Data ? Cut::InChannels : Cut::OutChannels;
      total_ = cut_ == Cut::InChannels ? p.in_channels : p.out_channels;
    }
    length_ = (total_ + wanted - 1) / wanted;
    if (key_.pass == ConvPass::Weights && cut_ == Cut::Images) {
      const std::int64_t fit = std::max<std::int64_t>(1, kPartialBytes / weight_bytes);
      length_ = std::max(length_, (total_ + fit - 1) / fit);
    }
    if (cut_ != Cut::Images) {
      length_ = std::min(total_, (length_ + kChannelUnit - 1) / kChannelUnit * kChannelUnit);
    }
  }

  std::shared_ptr<const Convolution> make(std::int64_t length) const {
    ConvKey key = key_;
    switch (cut_) {
      case Cut::Images: key.problem.batch = length; break;
      case Cut::Groups: key.problem.groups = length; break;
      case Cut::OutChannels: key.problem.out_channels = length; break;
      case Cut::InChannels: key.problem.in_channels = length; break;
    }
    return Convolution::get(key);
  }

  Operands slice(std::int64_t i, Operands from) const {
    const std::int64_t at = i * length_;
    const auto& [x, w, y] = bytes_;
    switch (cut_) {
      case Cut::Images: return {from.x + at * x[0], from.w, from.y + at * y[0], from.bias};
      case Cut::Groups: {
        const std::int64_t in = at * key_.problem.in_channels, out = at * key_.problem.out_channels;
        return {from.x + in * x[1], from.w + out * w[0], from.y + out * y[1], from.bias ? from.bias + out : nullptr};
      }
      case Cut::OutChannels:
        return {from.x, from.w + at * w[0], from.y + at * y[1], from.bias ? from.bias + at : nullptr};
      default: return {from.x + at * x[1], from.w + at * w[1], from.y, from.bias};
    }
  }

  // Parts of the batch have the weights in common; of the two kinds of parts each may want its own order.
  void order_shared_weights() {
    if (cut_ != Cut::Images) return;
    const auto order = [&](const Convolution& convolution, DataPtr& ordered) {
      const std::size_t bytes = convolution.weights_bytes();
      if (bytes == 0) return;
      ordered = host_allocator().allocate(bytes);
      convolution.order_weights(all_.w, ordered.get());
    };
    order(*part_, shared_);
    if (tail_ != part_) order(*tail_, tail_shared_);
  }

  void run_part(std::int64_t i, const Operands& all) const {
    const Convolution& convolution = part(i);
    const Operands own = slice(i, all);
    const void* w = own.w;
    const std::size_t bytes = convolution.weights_bytes();
    Scratch<64> scratch((cut_ == Cut::Images ? 0 : bytes) + convolution.scratch_bytes());
    if (bytes != 0 && cut_ == Cut::Images) {
      w = (&convolution == part_.get() ? shared_ : tail_shared_).get();
    } else if (bytes != 0) {
      char* const ordered = scratch.take<char>(static_cast<std::int64_t>(bytes));
      convolution.order_weights(own.w, ordered);
      w = ordered;
    }
    convolution.run(own.x, w, own.y, own.bias, scratch.take<char>(0));
  }

  // Every part of the batch has a gradient of the weights; they are added up in the order of the batch.
  void sum_partial_weights() const {
    const ConvProblem& p = key_.problem;
    std::int64_t size = p.groups * p.out_channels * p.in_channels;
    for (int d = 0; d < p.rank; ++d) size *= p.kernel[d];
    const DataPtr partial = host_allocator().allocate(static_cast<std::size_t>(size * (parts() - 1)) * sizeof(float));
    float *const others = static_cast<float*>(partial.get()), *const sum = reinterpret_cast<float*>(all_.w);
    parallel_for(0, parts(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        char* const w = i == 0 ? all_.w : reinterpret_cast<char*>(others + (i - 1) * size);
        run_part(i, {all_.x, w, all_.y, nullptr});
      }
    });
    parallel_for(0, size, 8192, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 0; i + 1 < parts(); ++i) {
        const float* const other = others + i * size;
        for (std::int64_t j = begin; j < end; ++j) sum[j] += other[j];
      }
    });
  }

  ConvKey key_;
  Operands all_;
  std::array<std::int64_t, 5> bytes_[3] = {};  // strides of x, w and y
  Cut cut_ = Cut::Images;
  std::int64_t total_ = 0;   // of the dimension that is cut
  std::int64_t length_ = 0;  // of a part of it
  std::shared_ptr<const Convolution> part_;
  std::shared_ptr<const Convolution> tail_;  // the last part, if it is shorter
  DataPtr shared_;
  DataPtr tail_shared_;
};

// oneDNN computes in 32-bit integers in places, and derives the size of the output.
bool is_for_onednn(const ConvProblem& problem) {
  constexpr std::int64_t kMost = 1 << 24;
  for (int d = 0; d < problem.rank; ++d) {
    for (const std::int64_t size : {problem.in[d], problem.out[d], problem.kernel[d], problem.stride[d],
                                    problem.padding[d], problem.dilation[d]}) {
      if (size >= kMost) return false;
    }
    const std::int64_t reach = (problem.kernel[d] - 1) * problem.dilation[d];
    const std::int64_t room = problem.in[d] + 2 * problem.padding[d] - reach - 1;
    if (room < 0 || room / problem.stride[d] + 1 != problem.out[d]) return false;
  }
  return problem.in_channels < kMost && problem.out_channels < kMost && problem.groups < kMost;
}

}  // namespace

bool onednn_convolution(ConvPass pass, const ConvProblem& problem, const TensorBase& x, const TensorBase& w,
                        const TensorBase& y, const float* bias) {
  return is_for_onednn(problem) && SplitConvolution(pass, problem, x, w, y, bias).run();
}

}  // namespace keyway::inline v1
