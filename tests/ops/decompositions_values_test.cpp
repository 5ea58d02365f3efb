// Decompositions beside their operators where numbers are hard: NaN, infinities, both zeros, numbers whose squares
// overflow or vanish, of every dtype of floats; bools; and tensors without elements.
#include <keyway/core/keys/thread_state.h>
#include <keyway/graph/run.h>
#include <keyway/ops/all.h>
#include <keyway/tests/ops/decomposed.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr ScalarType kFloats[] = {kFloat, kDouble, kBFloat16, kHalf};

struct Limits {
  double epsilon, smallest;  // the smallest number above 0
  double huge, tiny;         // whose squares the dtype does not have; of float64 those of float32
};

Limits limits_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return {0x1p-52, 0x1p-1074, 1e30, 1e-30};
    case kBFloat16: return {0x1p-7, 0x1p-133, 1e30, 1e-30};
    case kHalf: return {0x1p-10, 0x1p-24, 3e4, 1e-6};
    default: return {0x1p-23, 0x1p-149, 1e30, 1e-30};
  }
}

// Numbers that a call has among its elements.
std::vector<std::vector<double>> sets_of(ScalarType dtype) {
  const auto [epsilon, smallest, huge, tiny] = limits_of(dtype);
  return {{kNaN, kInf, -kInf, 0.0, -0.0, huge, -huge, tiny, -tiny, 1, -0.5, 2.5, 200, -8},
          {tiny, 2 * tiny, -3 * tiny, tiny},
          {huge, -huge, huge, 2 * huge},
          {0.0, -0.0},
          {0.5, -1.5, 1, kNaN, 2},
          {0.5, kInf, -1.5, 1, 2},
          {0.5, -kInf, -1.5, 1, 2},
          {-kInf}};
}

Tensor filled(const Tensor& like, const auto& value_at) {
  const NoGradGuard no_grad;
  const Tensor values = keyway::empty(like.sizes(), TensorOptions().dtype(kDouble));
  for (std::int64_t i = 0; i < values.numel(); ++i)
    values.data_ptr<double>()[i] = value_at(static_cast<std::size_t>(i));
  return values.to(like.dtype());
}

// The tensors of a call with numbers of a set in the place of floats, each tensor beginning at another one.
std::vector<Tensor> with_numbers(const Sample& sample, const std::vector<double>& numbers, std::size_t first) {
  std::vector<Tensor> inputs;
  for (const Tensor& input : inputs_of(sample)) {
    const std::size_t begin = first + 3 * inputs.size();
    const auto number = [&](std::size_t i) { return numbers[(begin + i) % numbers.size()]; };
    inputs.push_back(input.is_floating_point() ? filled(input, number) : input);
  }
  return inputs;
}

// The same with each number beside each other one.
std::vector<Tensor> with_combinations(const Sample& sample, const std::vector<double>& numbers) {
  std::vector<Tensor> inputs;
  std::size_t step = 1;
  for (const Tensor& input : inputs_of(sample)) {
    const auto number = [&](std::size_t i) { return numbers[i / step % numbers.size()]; };
    inputs.push_back(input.is_floating_point() ? filled(input, number) : input);
    if (input.is_floating_point()) step *= numbers.size();
  }
  return inputs;
}

// The call with its floats in that dtype; none if it has none, or the operator refuses it.
std::optional<Sample> in_dtype(const Sample& sample, ScalarType dtype) {
  bool has_floats = false;
  Sample made{sample.entry, sample.text + " in " + std::string(to_string(dtype)), sample.arguments};
  made.arguments = map_tensors(sample.arguments, [&](const Tensor& tensor) {
    has_floats = has_floats || tensor.is_floating_point();
    return tensor.is_floating_point() ? tensor.to(dtype) : tensor;
  });
  if (!has_floats || !call(sample.entry->op, made.arguments).error.empty()) return std::nullopt;
  return made;
}

// With tensors of one dimension, long enough for all combinations of three numbers; none if the result is longer.
std::optional<Sample> in_a_row(const Sample& sample, std::size_t numbers) {
  Sample made{sample.entry, sample.text + " in a row", sample.arguments};
  std::size_t first = 0;
  const auto count = static_cast<std::int64_t>(numbers * numbers * numbers);
  for (const Slot slot : slots_of(sample.arguments)) made.arguments = resized(made, slot, {count}, first);
  const Outcome outcome = call(sample.entry->op, made.arguments);
  for (const Tensor& result : tensors_in(outcome.results)) {
    if (result.defined() && result.numel() > count) return std::nullopt;
  }
  return outcome.error.empty() ? std::optional(made) : std::nullopt;
}

// With 0 in the place of a size, wherever tensors have it.
std::vector<Sample> without_elements(const Sample& sample) {
  std::set<std::int64_t> sizes;
  for (const Tensor& input : inputs_of(sample)) sizes.insert(input.sizes().begin(), input.sizes().end());
  std::vector<Sample> samples;
  for (const std::int64_t size : sizes) {
    Sample made{sample.entry, sample.text + " with 0 for size " + std::to_string(size), {}};
    made.arguments = map_tensors(sample.arguments, [&](const Tensor& tensor) {
      DimVector changed(tensor.sizes());
      std::replace(changed.begin(), changed.end(), size, std::int64_t{0});
      return IntArrayRef(changed) == tensor.sizes() ? tensor : keyway::zeros(changed, tensor.options());
    });
    if (call(sample.entry->op, made.arguments).error.empty()) samples.push_back(std::move(made));
  }
  return samples;
}

std::string words(const auto&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

std::string numbers_of(const Tensor& tensor) {
  std::string text = describe(tensor);
  if (tensor.is_complex()) return text;
  const Tensor numbers = tensor.to(kDouble).contiguous();
  for (std::int64_t i = 0; i < std::min<std::int64_t>(numbers.numel(), 16); ++i)
    text += words(" ", numbers.data_ptr<double>()[i]);
  return text;
}

// Where numbers differ by more than what rounding does; empty if nowhere.
std::string far_apart(const Tensor& given, const Tensor& expected) {
  if (given.defined() != expected.defined()) return "only one is defined";
  if (!given.defined()) return {};
  if (describe(given) != describe(expected)) return describe(given) + ", not " + describe(expected);
  if (is_complex(given.dtype())) return far_apart(keyway::view_as_real(given), keyway::view_as_real(expected));
  const Tensor a = given.detach().to(kDouble).contiguous(), b = expected.detach().to(kDouble).contiguous();
  const auto [epsilon, smallest, huge, tiny] = limits_of(given.dtype());
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data_ptr<double>()[i], y = b.data_ptr<double>()[i];
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y && std::signbit(x) == std::signbit(y)) continue;
    if (x != y && std::abs(x - y) <= 16 * (epsilon * std::abs(y) + smallest)) continue;
    return words("element ", i, " is ", x, ", not ", y);
  }
  return {};
}

using Differences = std::map<std::string, std::string>;  // by operator, the first

// A call and its graph of both levels.
class Compared {
 public:
  Compared(const Sample& sample, Differences& differences) : sample_(sample), differences_(differences) {
    for (const graph::Level level : {graph::Level::Executed, graph::Level::Program}) {
      INFO(sample.entry->op << ": " << sample.text);
      std::optional<graph::Graph> made = decomposed(program_of(sample), inputs_of(sample), level);
      if (!made) continue;
      made->level = graph::Level::Executed;
      if (graphs_.empty() || graph::to_string(*made) != graph::to_string(graphs_[0]))
        graphs_.push_back(std::move(*made));
    }
  }

  void run(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> expected;
    manual_seed(7);
    if (!error_in([&] { expected = program_of(sample_)(copies_of(inputs)); }).empty()) return;
    for (const graph::Graph& graph : graphs_) note(difference_of(graph, inputs, expected), graph, inputs);
    runs_ += graphs_.size();
  }
  std::size_t runs() const { return runs_; }

 private:
  static std::string difference_of(const graph::Graph& graph, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& expected) {
    std::vector<Tensor> given;
    manual_seed(7);
    const std::string error = error_in([&] { given = graph::run(graph, copies_of(inputs)); });
    if (!error.empty()) return error;
    if (given.size() != expected.size()) return "another number of results";
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string difference = far_apart(given[i], expected[i]);
      if (!difference.empty()) return words("result ", i, ": ", difference);
    }
    return {};
  }

  void note(const std::string& difference, const graph::Graph& graph, const std::vector<Tensor>& inputs) {
    if (difference.empty()) return;
    std::string& known = differences_[operator_named(sample_.entry->op).entry().short_name()];
    if (!known.empty()) return;
    known = words(sample_.text, "\n  ", difference, "\n");
    for (const Tensor& input : inputs) known += "  " + numbers_of(input) + "\n";
    known += graph::to_string(graph);
  }

  const Sample& sample_;
  Differences& differences_;
  std::vector<graph::Graph> graphs_;
  std::size_t runs_ = 0;
};

std::vector<Sample> bases_of(const OpCases& entry) {
  std::vector<Sample> samples;
  for (const Sample& sample : written_samples(entry)) {
    std::optional<Sample> doubles = in_double(sample);
    samples.push_back(doubles ? std::move(*doubles) : sample);
  }
  return samples;
}

bool has_decomposition(const OpCases& entry) {
  return has_values(entry) && default_table().find(operator_named(entry.op).entry()) != nullptr;
}

// The operators that differ, and how; of those that the list has, nothing.
std::string unexpected(Differences differences, const auto& list) {
  std::string text;
  for (const auto& [op, reason] : list) {
    if (differences.erase(op) == 0) text += words(op, " does not differ\n");
  }
  for (const auto& [op, difference] : differences) text += words(op, ": ", difference, "\n");
  return text;
}

// What decompositions give otherwise, and why.
constexpr std::pair<const char*, const char*> kHardNumbers[] = {
    {"_batch_norm_forward", "sums of numbers that cancel, which are added up in another order"},
    {"_cross_entropy_forward", "beside NaN, the numbers that it keeps for a backward are others"},
    {"_scaled_dot_product_attention_backward", "a product of 0 and NaN is NaN, and the kernel leaves out unseen keys"},
    {"gelu_backward", "erf + 1 has the last bits of 1 where little is left of it, and no core operator is erfc"},
    {"linalg_svdvals", "gradients need vectors, of which an algorithm of its own gives the values"},
    {"var_mean", "as var_mean.correction"},
    {"var_mean.correction", "its mean is from deviations, which are NaN beside an infinity that comes first"},
    {"var_mean.dim", "as var_mean.correction"},
};

}  // namespace

TEST_CASE("decompositions give what operators give for NaN, infinities, zeros and numbers at the ends of dtypes") {
  Differences differences;
  std::size_t runs = 0;
  for (const OpCases& entry : kOpCases) {
    if (!has_decomposition(entry)) continue;
    for (const Sample& base : bases_of(entry)) {
      const std::optional<Sample> row = in_a_row(base, sets_of(kDouble)[0].size());
      for (const ScalarType dtype : kFloats) {
        const std::vector<std::vector<double>> sets = sets_of(dtype);
        if (const std::optional<Sample> sample = in_dtype(base, dtype)) {
          Compared compared(*sample, differences);
          for (const std::vector<double>& numbers : sets) {
            const std::size_t count = &numbers == &sets[0] ? numbers.size() : std::min<std::size_t>(2, numbers.size());
            for (std::size_t first = 0; first < count; first += dtype == kFloat ? 1 : 4)
              compared.run(with_numbers(*sample, numbers, first));
          }
          runs += compared.runs();
        }
        if (const std::optional<Sample> sample = row ? in_dtype(*row, dtype) : std::nullopt) {
          Compared compared(*sample, differences);
          compared.run(with_combinations(*sample, sets[0]));
          runs += compared.runs();
        }
      }
    }
  }
  CHECK(runs >= 50000);
  CHECK(unexpected(differences, kHardNumbers) == "");
}

TEST_CASE("decompositions give what operators give for bools and for tensors without elements") {
  Differences differences;
  std::size_t runs = 0;
  const auto compare = [&](const Sample& sample) {
    Compared compared(sample, differences);
    compared.run(inputs_of(sample));
    runs += compared.runs();
  };
  for (const OpCases& entry : kOpCases) {
    if (!has_decomposition(entry)) continue;
    for (const Sample& base : bases_of(entry)) {
      for (const Sample& sample : without_elements(base)) compare(sample);
      const std::optional<Sample> bools = in_dtype(base, kBool);
      if (bools) compare(*bools);
    }
  }
  CHECK(runs >= 1000);
  CHECK(unexpected(differences, std::map<std::string, std::string>()) == "");
}
