#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/defined_results.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace keyway::inline v1::tools {

namespace {

enum class Choice : std::uint8_t {
  None,
  Phases,  // of singular vectors, and a basis of what is orthogonal to them
  Order,   // of elements along a dimension
  Mean,    // of infinities: whether it is infinite depends on where they stand, in PyTorch too
  Rank,    // which singular values count, where those do that are errors
};

// The name without overload.
std::string_view base_of(std::string_view name) { return name.substr(0, name.find('.')); }

Choice choice_of(const ConformOperator& op) {
  const std::string name = op.handle().entry().short_name();
  const std::string_view base = base_of(name);
  if (base == "svd" || base == "linalg_svd" || base == "_linalg_svd") return Choice::Phases;
  if (base == "topk") return Choice::Order;
  if (base == "var_mean" || base == "std_mean") return Choice::Mean;
  if (base == "linalg_matrix_rank" || base == "linalg_pinv") return Choice::Rank;
  return Choice::None;
}

// The number of the argument; arguments' count if there is none.
std::size_t argument_named(const ConformOperator& op, std::string_view name, std::size_t count) {
  std::size_t i = 0;
  while (i < count && op.argument_name(i) != name) ++i;
  return i;
}

// Whether a tolerance is no positive number.
bool is_bound_of_nothing(const Value& value) {
  if (value.kind == Value::Kind::Plain) {
    return value.plain.is(ValueTag::Double) && !(value.plain.to_double() > 0);
  }
  return std::any_of(value.tensors.begin(), value.tensors.end(), [](const TensorRecipe& recipe) {
    return recipe.defined && std::any_of(recipe.elements.begin(), recipe.elements.end(), [](const Scalar& element) {
             return element.is_complex() || !(element.to<double>() > 0);
           });
  });
}

Tensor conjugate_transpose(const Tensor& matrices) { return matrices.conj_physical().transpose(-2, -1); }

// With the orthonormal columns of U and V: their products, and the matrix that was taken apart.
std::vector<TensorBase> parts_of_svd(const ConformOperator& op, const std::vector<TensorBase>& results) {
  const std::string name = op.handle().entry().short_name();
  const bool is_any_complex = std::any_of(results.begin(), results.begin() + 3, [](const TensorBase& result) {
    return is_complex(result.dtype());  // out= may be of any dtypes
  });
  const auto wide = [&](const TensorBase& tensor) {
    return Tensor(tensor).to(is_any_complex ? kComplexDouble : kDouble);
  };
  const Tensor U = wide(results[0]), S = wide(results[1]), last = wide(results[2]);
  if (U.numel() == 0 || last.numel() == 0) return {S};  // none are asked for
  const Tensor V = base_of(name) == "svd" ? last : conjugate_transpose(last);
  const std::int64_t rank = S.size(-1);
  const Tensor scaled = U.narrow(-1, 0, rank) * S.unsqueeze(-2);
  return {S, conjugate_transpose(U).matmul(U), conjugate_transpose(V).matmul(V),
          scaled.matmul(conjugate_transpose(V.narrow(-1, 0, rank)))};
}

bool has_infinity(const Value& value) {
  return std::any_of(value.tensors.begin(), value.tensors.end(), [](const TensorRecipe& recipe) {
    if (!is_floating_point(recipe.dtype) && !is_complex(recipe.dtype)) return false;
    constexpr double kMost = 65504;  // of float16; of other dtypes it does no harm to be so careful
    return std::any_of(recipe.elements.begin(), recipe.elements.end(), [](const Scalar& element) {
      return element.is_complex() || !(std::abs(element.to<double>()) <= kMost);
    });
  });
}

// The elements in order, as they were given and as they are where they were said to be.
std::vector<TensorBase> parts_of_topk(const ConformCall& call, const std::vector<TensorBase>& results) {
  const Tensor self(on_cpu(tensors_of(call.arguments)[0])), values(results[0]), indices(results[1]);
  const std::int64_t dim = call.arguments[2].to_int();
  const auto in_order = [&](const Tensor& some) { return std::get<0>(some.sort(/*stable=*/true, dim, false)); };
  return {in_order(values), in_order(self.gather(dim, indices))};
}

}  // namespace

bool has_choice(const ConformOperator& op, const std::vector<Value>& values) {
  switch (choice_of(op)) {
    case Choice::None: return false;
    case Choice::Phases: return true;
    case Choice::Order: {
      const std::size_t sorted = argument_named(op, "sorted", values.size());
      return sorted < values.size() && values[sorted].plain.is(ValueTag::Bool) && !values[sorted].plain.to_bool();
    }
    case Choice::Mean: return has_infinity(values[0]);
    case Choice::Rank: {
      for (const std::string_view name : {"tol", "atol", "rtol", "rcond"}) {
        const std::size_t i = argument_named(op, name, values.size());
        if (i < values.size() && is_bound_of_nothing(values[i])) return true;
      }
    }
  }
  return false;
}

std::vector<TensorBase> defined_parts(const ConformOperator& op, const ConformCall& call) {
  const NoGradGuard no_grad;
  std::vector<TensorBase> results;
  for (const TensorBase& result : tensors_of(call.results)) {
    if (!result.defined()) return {};
    results.push_back(Tensor(on_cpu(result)).detach());
  }
  const Choice choice = choice_of(op);
  if (choice == Choice::Phases && results.size() >= 3) return parts_of_svd(op, results);
  if (choice == Choice::Mean && results.size() == 2) {
    const Tensor mean(results[1]);
    return {results[0], where(mean.isfinite(), mean, std::numeric_limits<double>::quiet_NaN())};
  }
  if (choice == Choice::Order && results.size() == 2) return parts_of_topk(call, results);
  return {};
}

bool has_lost_gradients(const ConformOperator& op, const std::vector<Value>& values) {
  constexpr double kMost = 1e6;  // whose last place in float32 is a tenth
  const std::string name = op.handle().entry().short_name();
  if (base_of(name) != "logcumsumexp" || values[0].tensors.empty()) return false;
  const TensorRecipe& self = values[0].tensors[0];
  return is_complex(self.dtype) && std::any_of(self.elements.begin(), self.elements.end(), [](const Scalar& element) {
           return !element.is_complex() && std::abs(element.to<double>()) > kMost;
         });
}

bool has_default_of_device(const ConformOperator& op, const std::vector<Value>& values) {
  const std::string name = op.handle().entry().short_name();
  const std::size_t driver = argument_named(op, "driver", values.size());
  return base_of(name) == "linalg_lstsq" && driver < values.size() && values[driver].plain.is_none();
}

}  // namespace keyway::inline v1::tools
