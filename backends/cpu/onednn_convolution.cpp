#include <keyway/backends/cpu/onednn_cache.h>
#include <keyway/backends/cpu/onednn_convolution.h>

#include <vector>

namespace keyway::inline v1::onednn {

namespace {

using dnnl::memory;
using Dims = memory::dims;

Dims dims(const std::int64_t (&list)[3], int rank, std::int64_t less = 0) {
  Dims result;
  for (int d = 0; d < rank; ++d) result.push_back(list[d] - less);
  return result;
}

// Batch or groups or channels, then the spatial sizes.
Dims shape(std::initializer_list<std::int64_t> first, const std::int64_t (&spatial)[3], int rank) {
  Dims result(first);
  for (int d = 0; d < rank; ++d) result.push_back(spatial[d]);
  return result;
}

int result_of(ConvPass pass) { return pass == ConvPass::Data ? 0 : pass == ConvPass::Weights ? 1 : 2; }

memory::desc of_any_order(const memory::desc& given) {
  return memory::desc(given.dims(), given.data_type(), memory::format_tag::any);
}

// One of x, w and y: as the caller has it, and as the convolution wants it.
struct Operand {
  memory::desc given;
  memory::desc wanted;
  dnnl::reorder reorder;  // to what is wanted, or back if it is the result

  bool same() const { return given == wanted; }
  std::size_t bytes() const { return same() ? 0 : (wanted.get_size() + 63) / 64 * 64; }
};

bool channels_are_last(const ConvKey& key, int which) {
  return key.strides[which][1] == 1 && key.strides[which][2] != 1;
}

}  // namespace

struct Convolution::Parts {
  ConvPass pass;
  Operand operands[3];  // x, w, y
  memory::desc bias;    // empty: none
  dnnl::primitive primitive;
  memory::desc scratchpad;

  int result() const { return result_of(pass); }
};

// The memory objects of a run, of which only the addresses change: making them takes as long as a small convolution.
struct Convolution::Execution {
  explicit Execution(const Parts& parts) {
    static constexpr int kNames[3][3] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                                         {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
                                         {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}};
    for (int i = 0; i < 3; ++i) {
      const Operand& operand = parts.operands[i];
      given[i] = wrap(operand.given, DNNL_MEMORY_NONE);
      wanted[i] = operand.same() ? given[i] : wrap(operand.wanted, DNNL_MEMORY_NONE);
      arguments.push_back({kNames[static_cast<int>(parts.pass)][i], wanted[i].get()});
    }
    scratchpad = wrap(parts.scratchpad, DNNL_MEMORY_NONE);
    arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad.get()});
    if (parts.bias.is_zero()) return;
    bias = wrap(parts.bias, DNNL_MEMORY_NONE);
    arguments.push_back({DNNL_ARG_BIAS, bias.get()});
  }

  memory given[3], wanted[3], bias, scratchpad;
  std::vector<dnnl_exec_arg_t> arguments;
};

namespace {

// x, w and y as the caller has them.
void describe(const ConvKey& key, Operand (&operands)[3]) {
  const ConvProblem& p = key.problem;
  const auto strides = [&](int which, bool grouped) {
    const auto& list = key.strides[which];
    Dims result;
    if (grouped) result.push_back(list[0] * p.out_channels);
    for (int d = 0; d < p.rank + 2; ++d) result.push_back(list[static_cast<std::size_t>(d)]);
    return result;
  };
  const auto strided = [&](int which, const Dims& sizes, const Dims& steps) {
    const bool is_narrow = key.narrow && which != result_of(key.pass);
    return memory::desc(sizes, is_narrow ? memory::data_type::bf16 : memory::data_type::f32, steps);
  };
  const bool grouped = p.groups > 1;
  operands[0].given = strided(0, shape({p.batch, p.groups * p.in_channels}, p.in, p.rank), strides(0, false));
  operands[1].given = strided(1,
                              grouped ? shape({p.groups, p.out_channels, p.in_channels}, p.kernel, p.rank)
                                      : shape({p.out_channels, p.in_channels}, p.kernel, p.rank),
                              strides(1, grouped));
  operands[2].given = strided(2, shape({p.batch, p.groups * p.out_channels}, p.out, p.rank), strides(2, false));
}

memory::desc bias_of(const ConvKey& key) {
  if (!key.bias) return {};
  return memory::desc({key.problem.groups * key.problem.out_channels}, memory::data_type::f32, memory::format_tag::x);
}

dnnl::convolution_forward::primitive_desc forward(const ConvKey& key, const memory::desc& x, const memory::desc& w,
                                                  const memory::desc& y) {
  const ConvProblem& p = key.problem;
  return {dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, x, w,
                                          bias_of(key), y, dims(p.stride, p.rank), dims(p.dilation, p.rank, 1),
                                          dims(p.padding, p.rank), dims(p.padding, p.rank)),
          attributes(), engine()};
}

// Takes orders, memory and primitive from what oneDNN has chosen.
template <typename Primitive, typename Desc>
void adopt(const Desc& made, const memory::desc& x, const memory::desc& w, const memory::desc& y,
           Operand (&operands)[3], memory::desc& scratchpad, dnnl::primitive& primitive) {
  refuse_unfit(made);
  operands[0].wanted = x;
  operands[1].wanted = w;
  operands[2].wanted = y;
  scratchpad = made.scratchpad_desc();
  primitive = Primitive(made);
}

}  // namespace

Convolution::Convolution(const ConvKey& key) {
  auto parts = std::make_unique<Parts>();
  parts->pass = key.pass;
  parts->bias = bias_of(key);
  Operand(&all)[3] = parts->operands;
  describe(key, all);
  const ConvProblem& p = key.problem;
  // Images with their channels last are taken as they are; others it may reorder.
  const bool last = channels_are_last(key, 0) && channels_are_last(key, 2);
  const memory::desc x = last ? all[0].given : of_any_order(all[0].given);
  const memory::desc y = last ? all[2].given : of_any_order(all[2].given);
  const memory::desc w = of_any_order(all[1].given);
  const auto hint = forward(key, x, w, y);
  const Dims stride = dims(p.stride, p.rank), dilation = dims(p.dilation, p.rank, 1), padding = dims(p.padding, p.rank);
  if (key.pass == ConvPass::Forward) {
    adopt<dnnl::convolution_forward>(hint, hint.src_desc(), hint.weights_desc(), hint.dst_desc(), all,
                                     parts->scratchpad, parts->primitive);
  } else if (key.pass == ConvPass::Data) {
    using Pass = dnnl::convolution_backward_data;
    const Pass::primitive_desc made(
        Pass::desc(dnnl::algorithm::convolution_direct, x, w, y, stride, dilation, padding, padding), attributes(),
        engine(), hint);
    adopt<Pass>(made, made.diff_src_desc(), made.weights_desc(), made.diff_dst_desc(), all, parts->scratchpad,
                parts->primitive);
  } else {
    using Pass = dnnl::convolution_backward_weights;
    const Pass::primitive_desc made(
        Pass::desc(dnnl::algorithm::convolution_direct, x, w, y, stride, dilation, padding, padding), attributes(),
        engine(), hint);
    adopt<Pass>(made, made.src_desc(), made.diff_weights_desc(), made.diff_dst_desc(), all, parts->scratchpad,
                parts->primitive);
  }
  for (Operand& operand : all) {
    if (operand.same()) continue;
    const bool back = &operand == &all[parts->result()];
    const auto& from = back ? operand.wanted : operand.given;
    const auto& to = back ? operand.given : operand.wanted;
    operand.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
  }
  parts_ = std::move(parts);
}

std::size_t Convolution::weights_bytes() const {
  return parts_->pass == ConvPass::Weights ? 0 : parts_->operands[1].bytes();
}

std::size_t Convolution::scratch_bytes() const {
  std::size_t bytes = (parts_->scratchpad.get_size() + 63) / 64 * 64;
  for (int i = 0; i < 3; ++i) {
    if (i != 1 || parts_->pass == ConvPass::Weights) bytes += parts_->operands[i].bytes();
  }
  return bytes;
}

namespace {

void place(const memory& object, const void* data) { object.set_data_handle(const_cast<void*>(data)); }

void execute(const dnnl::primitive& primitive, const dnnl_exec_arg_t* arguments, std::size_t count) {
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive.get(), stream().get(), static_cast<int>(count), arguments),
                          "it does not run");
}

void reorder(const Operand& operand, const memory& from, const memory& to) {
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
  execute(operand.reorder, arguments, 2);
}

}  // namespace

// An execution that no other thread uses.
class Convolution::Borrowed {
 public:
  explicit Borrowed(const Convolution& from) : from_(from) {
    for (std::atomic<Execution*>& spare : from.spare_) {
      own_.reset(spare.exchange(nullptr, std::memory_order_acquire));
      if (own_ != nullptr) return;
    }
    own_ = std::make_unique<Execution>(*from.parts_);
  }
  ~Borrowed() {
    for (std::atomic<Execution*>& spare : from_.spare_) {
      Execution* none = nullptr;
      if (!spare.compare_exchange_strong(none, own_.get(), std::memory_order_release)) continue;
      static_cast<void>(own_.release());
      return;
    }
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  const Execution* operator->() const { return own_.get(); }

 private:
  const Convolution& from_;
  std::unique_ptr<Execution> own_;
};

Convolution::~Convolution() {
  for (std::atomic<Execution*>& spare : spare_) delete spare.load(std::memory_order_relaxed);
}

void Convolution::order_weights(const void* w, void* ordered) const {
  call("reorder", [&] {
    const Borrowed own(*this);
    place(own->given[1], w);
    place(own->wanted[1], ordered);
    reorder(parts_->operands[1], own->given[1], own->wanted[1]);
  });
}

void Convolution::run(const void* x, const void* w, const void* y, const float* bias, void* scratch) const {
  const Parts& parts = *parts_;
  const int result = parts.result();
  const void* const given[3] = {x, w, y};
  call("convolution", [&] {
    const Borrowed own(*this);
    char* rest = static_cast<char*>(scratch);
    for (int i = 0; i < 3; ++i) {
      const Operand& operand = parts.operands[i];
      const bool ordered = i == 1 && result != 1;  // by order_weights
      if (operand.same() || ordered) {
        place(own->wanted[i], given[i]);
        continue;
      }
      place(own->given[i], given[i]);
      place(own->wanted[i], rest);
      rest += operand.bytes();
      if (i != result) reorder(operand, own->given[i], own->wanted[i]);
    }
    place(own->scratchpad, rest);
    if (!parts.bias.is_zero()) place(own->bias, bias);
    execute(parts.primitive, own->arguments.data(), own->arguments.size());
    const Operand& out = parts.operands[result];
    if (!out.same()) reorder(out, own->wanted[result], own->given[result]);
  });
}

std::size_t ConvKey::hash() const {
  const ConvProblem& p = problem;
  PlanHash all;
  all.add(static_cast<std::int64_t>(pass) * 4 + (bias ? 2 : 0) + (narrow ? 1 : 0));
  all.add_all(std::array{p.batch, p.groups, p.in_channels, p.out_channels});
  for (int d = 0; d < p.rank; ++d) {
    all.add_all(std::array{p.in[d], p.out[d], p.kernel[d], p.stride[d], p.padding[d], p.dilation[d]});
  }
  for (const auto& list : strides) all.add_all(list);
  return all.value();
}

std::shared_ptr<const Convolution> Convolution::get(const ConvKey& key) {
  return cached<Convolution>(key, "convolution");
}

}  // namespace keyway::inline v1::onednn
