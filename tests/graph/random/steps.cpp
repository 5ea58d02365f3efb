#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/graph/control_flow.h>
#include <keyway/ops/all.h>
#include <keyway/ops/tensor_literal.h>
#include <keyway/tests/graph/random/steps.h>
#include <keyway/tests/graph/random_program.h>

#include <numeric>

namespace keyway::inline v1::testing {
namespace {

constexpr std::int64_t kMostElements = 1 << 16;

constexpr ScalarType kDtypes[] = {kFloat, kFloat, kFloat, kDouble, kLong, kInt, kBool, kHalf, kBFloat16, kComplexFloat};

ScalarType any_dtype(Step& step) { return kDtypes[step.below(std::size(kDtypes))]; }

// Views that the first generator has, and changes in place.
void add_view(Step& step) { step_of_views(step.random(), step.tensors()); }

void add_wide_view(Step& step) {
  const Tensor x = step.any();
  const std::int64_t dim = step.dimension(x);
  switch (step.below(12)) {
    case 0: {
      std::vector<std::int64_t> sizes = x.sizes().vec();
      sizes.insert(sizes.begin(), 1 + step.below(3));
      return step.give(x.expand(sizes));
    }
    case 1: return step.give(x.unsqueeze(dim).expand_as(keyway::stack({x, x}, dim)));
    case 2: {
      std::vector<std::int64_t> order(static_cast<std::size_t>(x.dim()));
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::ranges::shuffle(order, step.random());
      return step.give(x.permute(order));
    }
    case 3: return step.give(x.view({-1}));
    case 4: return step.give(x.view(x.itemsize() == 4 ? (x.dtype() == kFloat ? kInt : kFloat) : kByte));
    case 5: return step.give(is_complex(x.scalar_type()) ? keyway::view_as_real(x) : keyway::view_as_complex(x));
    case 6: return step.give(step.one_in(2) ? keyway::real(x) : keyway::imag(x));
    case 7: return step.give(x.detach());
    case 8: {
      const std::vector<Tensor> parts = x.chunk(1 + step.below(3), dim);
      for (const Tensor& part : parts) step.give(part);
      return;
    }
    case 9: return step.give(x.slice(dim, -1 - step.below(2), std::nullopt, 1));
    case 10: return step.give(x.as_strided({2, 2}, {1, 1}, x.storage_offset() + step.below(2)));  // overlaps itself
    default: return step.give(x.flatten(0, dim));
  }
}

void add_unary(Step& step) {
  const Tensor x = step.one_in(4) ? step.any() : step.any_floating();
  using Function = Tensor (*)(const Tensor&);
  constexpr Function kFunctions[] = {
      [](const Tensor& a) { return a.relu(); },
      [](const Tensor& a) { return a.sigmoid(); },
      [](const Tensor& a) { return a.tanh(); },
      [](const Tensor& a) { return a.abs(); },
      [](const Tensor& a) { return a.neg(); },
      [](const Tensor& a) { return a.square(); },
      [](const Tensor& a) { return a.sin(); },
      [](const Tensor& a) { return a.floor(); },
      [](const Tensor& a) { return a.sign(); },
      [](const Tensor& a) { return a.exp(); },
      [](const Tensor& a) { return a.sqrt(); },
      [](const Tensor& a) { return a.reciprocal(); },
      [](const Tensor& a) { return a.logical_not(); },
      [](const Tensor& a) { return a.isnan(); },
      [](const Tensor& a) { return keyway::silu(a); },
      [](const Tensor& a) { return keyway::gelu(a); },
      [](const Tensor& a) { return a.clamp(-0.5, 1.0); },
      [](const Tensor& a) { return a.pow(2); },
  };
  step.give(kFunctions[step.below(std::size(kFunctions))](x));
}

void add_binary(Step& step) {
  const Tensor x = step.any(), y = step.one_in(2) ? step.any_like(x) : step.any();
  switch (step.below(15)) {
    case 0: return step.give(x + y);
    case 1: return step.give(keyway::sub(x, y, step.number()));
    case 2: return step.give(x * y);
    case 3: return step.give(x / y);
    case 4: return step.give(keyway::maximum(x, y));
    case 5: return step.give(keyway::atan2(x, y));
    case 6: return step.give(keyway::fmod(x, y.to(kFloat)));
    case 7: return step.give(x.lt(y));
    case 8: return step.give(x.eq(y));
    case 9: return step.give(keyway::where(x.gt(0.25), x, y));
    case 10: return step.give(keyway::addcmul(x, y, x, step.number()));
    case 11: return step.give(keyway::lerp(x, y, 0.25));
    case 12: return step.give(x * step.number() + 0.5);
    case 13: return step.give(keyway::rsub(x, step.below(5)));
    default: return step.give(keyway::logical_and(x, y));
  }
}

// What stands for 0 and 1 lie within each dimension that is not empty.
Tensor indices(Step& step, std::int64_t count, std::int64_t size) {
  const std::int64_t first = step.below(std::max<std::int64_t>(size, 1));
  return (keyway::arange(count, TensorOptions(kLong)) + first).remainder(std::max<std::int64_t>(size, 1));
}

void write(Step& step) {
  const Tensor x = step.any(), y = step.one_in(2) ? step.any_like(x) : step.any();
  const std::int64_t dim = step.dimension(x), size = x.dim() == 0 ? 1 : x.size(dim);
  switch (step.below(24)) {
    case 0: return static_cast<void>(x.add_(y, step.number()));
    case 1: return static_cast<void>(x.mul_(y));
    case 2: return static_cast<void>(x.sub_(y));
    case 3: return static_cast<void>(x.div_(y));
    case 4: return static_cast<void>(x.copy_(y));
    case 5: return static_cast<void>(x.clamp_(-1.0, 1.0));
    case 6: return static_cast<void>(x.neg_());
    case 7: return static_cast<void>(x.relu_());
    case 8: return static_cast<void>(x.sigmoid_());
    case 9: return static_cast<void>(x.masked_fill_(y.gt(0.5), step.number()));
    case 10: return static_cast<void>(x.index_fill_(dim, indices(step, 2, size), step.number()));
    case 11: return static_cast<void>(x.index_add_(dim, indices(step, size, size), y));
    case 12: return static_cast<void>(x.index_copy_(dim, indices(step, size, size), y));
    case 13: return static_cast<void>(x.scatter_(dim, keyway::zeros(x.sizes(), kLong), y));
    case 14: return static_cast<void>(x.scatter_add_(dim, keyway::zeros(x.sizes(), kLong), y));
    case 15: return static_cast<void>(x.addcmul_(y, y, 0.5));
    case 16: return static_cast<void>(x.pow_(2));
    case 17: return static_cast<void>(x.zero_());
    case 18: return static_cast<void>(x.cumsum_(dim));
    case 19: return static_cast<void>(x.tril_());
    case 20: return static_cast<void>(x.put_(indices(step, 2, x.numel()), y.flatten().narrow(0, 0, 2)));
    case 21: return static_cast<void>(x.slice(dim, 0, size, 2).mul_(step.number()));
    case 22: return static_cast<void>(x.detach().add_(1));
    default: {
      const NoGradGuard no_grad;
      return static_cast<void>(x.sub_(y, 0.125));
    }
  }
}

// Into a new tensor, one that the program has, or a view of it.
void write_out(Step& step) {
  const Tensor x = step.any(), y = step.any_like(x);
  const ScalarType dtype = step.one_in(4) ? any_dtype(step) : x.scalar_type();
  Tensor out = step.one_in(2) ? keyway::empty(x.sizes(), dtype) : step.any_like(x);
  switch (step.below(8)) {
    case 0: keyway::add_out(out, x, y, step.number()); break;
    case 1: keyway::mul_out(out, x, y); break;
    case 2: keyway::maximum_out(out, x, y); break;
    case 3: keyway::clamp_out(out, x, -0.5, 0.5); break;
    case 4: keyway::cumsum_out(out, x, step.dimension(x)); break;
    case 5: keyway::exp_out(out, x); break;
    case 6: out = keyway::empty({0}, x.scalar_type()), keyway::cat_out(out, {x, y}, step.dimension(x)); break;
    default: out = keyway::empty({0}, x.scalar_type()), keyway::sum_out(out, x, step.dimension(x));
  }
  step.give(out);
}

void reduce(Step& step) {
  const Tensor x = step.one_in(3) ? step.any() : step.any_floating();
  const std::int64_t dim = step.dimension(x);
  const bool keeps = step.one_in(2);
  switch (step.below(18)) {
    case 0: return step.give(x.sum(dim, keeps));
    case 1: return step.give(x.mean(dim, keeps));
    case 2: return step.give(x.amax(dim, keeps));
    case 3: return step.give(x.argmax(dim, keeps));
    case 4: return step.give(keyway::cumsum(x, dim));
    case 5: return step.give(keyway::softmax(x, dim));
    case 6: return step.give(keyway::log_softmax(x, dim));
    case 7: return step.give(keyway::std(x, dim, true, keeps));
    case 8: return step.give_all(keyway::max(x, dim, keeps));
    case 9: return step.give_all(keyway::sort(x, dim));
    case 10: return step.give_all(keyway::topk(x, 1 + step.below(2), dim));
    case 11: return step.give_all(keyway::aminmax(x));
    case 12: return step.give_all(keyway::var_mean(x, dim));
    case 13: return step.give(keyway::logsumexp(x, {dim}, keeps));
    case 14: return step.give(keyway::prod(x, dim, keeps));
    case 15: return step.give(keyway::any(x, dim, keeps));
    case 16: return step.give(x.sum());
    default: return step.give(keyway::linalg_vector_norm(x));
  }
}

void rearrange(Step& step) {
  const Tensor x = step.any(), y = step.any_like(x);
  const std::int64_t dim = step.dimension(x), size = x.dim() == 0 ? 1 : x.size(dim);
  switch (step.below(14)) {
    case 0: return step.give(keyway::cat({x, y}, dim));
    case 1: return step.give(keyway::stack({x, y, x}, dim));
    case 2:
      for (const Tensor& part : x.split(1 + step.below(2), dim)) step.give(part.clone());
      return;
    case 3: return step.give(x.repeat_interleave(2, dim));
    case 4: return step.give(keyway::flip(x, {dim}));
    case 5: return step.give(keyway::roll(x, {1 + step.below(2)}, {dim}));
    case 6: return step.give(keyway::index_select(x, dim, indices(step, 2, size)));
    case 7: return step.give(keyway::gather(x, dim, keyway::zeros(x.sizes(), kLong)));
    case 8: return step.give(keyway::tril(x, step.below(2)));
    case 9: return step.give(keyway::constant_pad_nd(x, {1, step.below(2)}, step.number()));
    case 10: return step.give(x.contiguous());
    case 11: return step.give(x.clone());
    case 12: return step.give(keyway::tile(x, {2}));
    default: return step.give(x.to(any_dtype(step)));
  }
}

Tensor matrix(Step& step) {
  const Tensor x = step.any_floating();
  return x.dim() < 2 ? x.reshape({1, -1}) : x.flatten(0, x.dim() - 2);
}

void multiply(Step& step) {
  const Tensor x = matrix(step), y = matrix(step);
  switch (step.below(7)) {
    case 0: return step.give(keyway::mm(x, x.t()));
    case 1: return step.give(keyway::matmul(x.t(), x));
    case 2: return step.give(keyway::linear(x, x, x.select(1, 0)));
    case 3: return step.give(keyway::addmm(x.new_ones({1}), x, x.t(), step.number(), 0.5));
    case 4: return step.give(keyway::bmm(x.unsqueeze(0), x.t().unsqueeze(0)));
    case 5: return step.give(keyway::layer_norm(x, {x.size(1)}));
    default: return step.give(keyway::mm(x, y));
  }
}

void make(Step& step) {
  const Tensor x = step.any();
  switch (step.below(9)) {
    case 0: return step.give(keyway::zeros({2, 3}, any_dtype(step)));
    case 1: return step.give(keyway::ones_like(x));
    case 2: return step.give(x.new_full(x.sizes(), step.below(3)));
    case 3: return step.give(keyway::arange(1 + step.below(5), TensorOptions(any_dtype(step))));
    case 4: return step.give(keyway::eye(1 + step.below(3)));
    case 5: return step.give(keyway::tensor({1.5, -2.0, 0.25}));
    case 6: return step.give(keyway::empty_like(x).fill_(1));
    case 7: return step.give(keyway::full({}, step.number()));
    default: return step.give(keyway::linspace(0, 1, 4));
  }
}

void draw(Step& step) {
  const Tensor x = step.any_floating();
  switch (step.below(9)) {
    case 0: return step.give(keyway::rand_like(x));
    case 1: return step.give(keyway::dropout(x, 0.5, true));
    case 2: return step.give(keyway::randn({2, 3}));
    case 3: return step.give(keyway::randint(-3, 4, {3}));
    case 4: return step.give(keyway::randperm(1 + step.below(5)));
    case 5: return static_cast<void>(x.normal_());
    case 6: return static_cast<void>(x.bernoulli_(0.5));
    case 7: return static_cast<void>(x.uniform_());
    default: return step.give(keyway::bernoulli(x.sigmoid()));
  }
}

void branch(Step& step) {
  // Contiguous: what the functions give then lies in the same order, whichever is called. Without a history: the
  // gradient of a cond in a graph is one for all its operands, which eagerly those have that the function used.
  const Tensor x = step.any_floating().detach().clone(MemoryFormat::Contiguous);
  const Tensor y = step.any_like(x).detach().clone(MemoryFormat::Contiguous);
  const auto scaled = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] * 0.5 + in[1], in[1]}; };
  const auto other = [](const std::vector<Tensor>& in) {
    const Tensor copy = (in[0] - in[1]).clone();
    return std::vector<Tensor>{copy.mul_(2), in[1].neg()};
  };
  if (step.one_in(2)) {
    for (const Tensor& result : graph::cond(x.sum().gt(0), scaled, other, {x, y})) step.give(result);
    return;
  }
  const auto is_low = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[1].lt(3)}; };
  const auto next = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] * 0.5, in[1] + 1}; };
  const std::vector<Tensor> results = graph::while_loop([&](const std::vector<Tensor>& in) { return is_low(in); }, next,
                                                        {x, keyway::full({}, step.below(4), kLong)});
  for (const Tensor& result : results) step.give(result);
}

constexpr StepKind kKinds[] = {
    {"view", 8, add_view},     {"wide view", 4, add_wide_view},
    {"unary", 3, add_unary},   {"binary", 4, add_binary},
    {"write", 6, write},       {"out", 2, write_out},
    {"reduce", 3, reduce},     {"rearrange", 3, rearrange},
    {"multiply", 1, multiply}, {"make", 1, make},
    {"draw", 1, draw},         {"branch", 1, branch},
};

}  // namespace

void Step::give(const Tensor& tensor) {
  KEYWAY_CHECK(tensor.numel() <= kMostElements && tensor.dim() <= 6, "the tensor is too large to go on with");
  tensors_.push_back(tensor);
}

void make_step(std::uint32_t number, std::vector<Tensor>& tensors) {
  Step step(number, tensors);
  int sum = 0;
  for (const StepKind& kind : kKinds) sum += kind.weight;
  auto at = static_cast<int>(step.below(sum));
  for (const StepKind& kind : kKinds) {
    at -= kind.weight;
    if (at < 0) return kind.make(step);
  }
}

}  // namespace keyway::inline v1::testing
