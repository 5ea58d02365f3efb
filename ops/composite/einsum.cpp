// einsum. Every index gets a number; every operand a diagonal for each index it repeats, and a dimension for each
// index of the equation, of size 1 where it has not got it. Operands are then multiplied two by two, each time summed
// over the indices that no later operand and not the output have: as one batched product of matrices.
#include <keyway/ops/all.h>
#include <keyway/ops/linalg_composites.h>
#include <keyway/ops/rules/broadcast.h>
#include <keyway/ops/rules/promotion.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::composite {

namespace {

constexpr std::string_view kDots = "...";

// One operand's or the output's indices: letters, and where among them the ellipsis stands.
struct Subscripts {
  std::string letters;
  std::optional<std::size_t> dots;
};

Subscripts parse_subscripts(std::string_view text) {
  Subscripts out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    if (text.substr(i, 3) == kDots) {
      KEYWAY_CHECK(!out.dots, "'{}' has more than one ellipsis", text);
      out.dots = out.letters.size();
      i += 2;
      continue;
    }
    KEYWAY_CHECK(std::isalpha(static_cast<unsigned char>(c)), "'{}' is no index: indices are letters, and '...'",
                 std::string_view(&text[i], 1));
    out.letters += c;
  }
  return out;
}

struct Equation {
  std::vector<Subscripts> operands;
  std::optional<Subscripts> output;
};

Equation parse_equation(std::string_view text) {
  Equation equation;
  const std::size_t arrow = text.find("->");
  std::string_view inputs = text.substr(0, arrow);
  if (arrow != std::string_view::npos) equation.output = parse_subscripts(text.substr(arrow + 2));
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = inputs.find(',');
    equation.operands.push_back(parse_subscripts(inputs.substr(0, comma)));
    if (comma != std::string_view::npos) inputs.remove_prefix(comma + 1);
  }
  return equation;
}

// Numbers of indices: the output's first, then those that are summed over. An ellipsis has as many as the most
// dimensions it stands for, of which an operand has the last ones.
class Plan {
 public:
  Plan(const Equation& equation, ArrayRef<Tensor> tensors) {
    number_.fill(-1);
    KEYWAY_CHECK(equation.operands.size() == tensors.size(), "the equation has {} operand{}, but {} tensor{} given",
                 equation.operands.size(), equation.operands.size() == 1 ? "" : "s", tensors.size(),
                 tensors.size() == 1 ? " is" : "s are");
    for (std::size_t i = 0; i < tensors.size(); ++i) measure(equation.operands[i], tensors[i], i);
    number_output(equation);
    for (const Subscripts& operand : equation.operands) {
      for (const char c : operand.letters) {
        if (number(c) < 0) number(c) = count_++;
      }
    }
    if (!dots_) {  // named by no output: summed over
      dots_ = count_;
      count_ += dots_size_;
    }
  }

  std::int64_t outputs() const { return outputs_; }
  std::int64_t count() const { return count_; }

  // A view of the operand with one dimension for each index, in order.
  Tensor aligned(const Subscripts& operand, Tensor tensor) const {
    std::vector<std::int64_t> numbers = numbers_of(operand, tensor.dim());
    for (std::size_t i = 0; i < numbers.size(); ++i) {  // repeated indices: diagonals, which come last
      for (std::size_t j = i + 1; j < numbers.size();) {
        if (numbers[j] != numbers[i]) {
          ++j;
          continue;
        }
        KEYWAY_CHECK(tensor.sizes()[i] == tensor.sizes()[j], "an index that is repeated has sizes {} and {}",
                     tensor.sizes()[i], tensor.sizes()[j]);
        tensor = tensor.diagonal(0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)).movedim(-1, i);
        numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(j));
      }
    }
    DimVector order;
    for (std::int64_t index = 0; index < count_; ++index) {
      const auto found = std::find(numbers.begin(), numbers.end(), index);
      if (found != numbers.end()) order.push_back(found - numbers.begin());
    }
    tensor = tensor.permute(order);
    for (std::int64_t index = 0; index < count_; ++index) {
      if (std::find(numbers.begin(), numbers.end(), index) == numbers.end()) tensor = tensor.unsqueeze(index);
    }
    return tensor;
  }

 private:
  std::int64_t& number(char letter) { return number_[static_cast<unsigned char>(letter)]; }
  std::int64_t number(char letter) const { return number_[static_cast<unsigned char>(letter)]; }

  void measure(const Subscripts& operand, const Tensor& tensor, std::size_t i) {
    const auto letters = static_cast<std::int64_t>(operand.letters.size());
    KEYWAY_CHECK(operand.dots ? tensor.dim() >= letters : tensor.dim() == letters,
                 "operand {} has {} dimensions, but its subscripts name {}", i, tensor.dim(), letters);
    if (operand.dots) dots_size_ = std::max(dots_size_, tensor.dim() - letters);
  }

  void number_output(const Equation& equation) {
    std::string all;
    for (const Subscripts& operand : equation.operands) all += operand.letters;
    Subscripts output = equation.output.value_or(Subscripts());
    if (!equation.output) {  // what stands there once, sorted, after the ellipsis
      output.dots = 0;
      std::sort(all.begin(), all.end());
      for (const char c : all) {
        if (std::count(all.begin(), all.end(), c) == 1) output.letters += c;
      }
    }
    for (std::size_t i = 0; i <= output.letters.size(); ++i) {
      if (output.dots == i) {
        dots_ = count_;
        count_ += dots_size_;
      }
      if (i == output.letters.size()) break;
      const std::string_view letter(&output.letters[i], 1);
      KEYWAY_CHECK(all.find(letter) != std::string::npos, "output index '{}' is none of an operand", letter);
      KEYWAY_CHECK(number(letter[0]) < 0, "output index '{}' stands there twice", letter);
      number(letter[0]) = count_++;
    }
    outputs_ = count_;
  }

  std::vector<std::int64_t> numbers_of(const Subscripts& operand, std::int64_t dims) const {
    std::vector<std::int64_t> numbers;
    const std::int64_t hidden = dims - static_cast<std::int64_t>(operand.letters.size());
    for (std::size_t i = 0; i <= operand.letters.size(); ++i) {
      if (operand.dots == i) {
        for (std::int64_t d = dots_size_ - hidden; d < dots_size_; ++d) numbers.push_back(*dots_ + d);
      }
      if (i < operand.letters.size()) numbers.push_back(number(operand.letters[i]));
    }
    return numbers;
  }

  std::array<std::int64_t, 256> number_;
  std::optional<std::int64_t> dots_;
  std::int64_t dots_size_ = 0, outputs_ = 0, count_ = 0;
};

// Sums over dimensions, which stay with size 1; where they have size 1, nothing is to be done. Integers are added
// up as int64, as in PyTorch.
Tensor summed(const Tensor& tensor, IntArrayRef dims) {
  DimVector long_ones;
  for (const std::int64_t dim : dims) {
    if (tensor.size(dim) != 1) long_ones.push_back(dim);
  }
  return long_ones.empty() ? tensor : tensor.sum(long_ones, true);
}

// The product of two operands, summed over `done`. Dimensions that both have and that stay are batches; those that
// only one has are rows or columns.
Tensor contracted(const Tensor& a, const Tensor& b, IntArrayRef done) {
  DimVector sums, batches, rows, columns, order, sizes;
  for (std::int64_t d = 0; d < a.dim(); ++d) {
    const bool mine = a.size(d) != 1, its = b.size(d) != 1,
               is_done = std::find(done.begin(), done.end(), d) != done.end();
    (is_done && mine && its ? sums : mine && its ? batches : its ? columns : rows).push_back(d);
  }
  if (sums.empty()) return summed(a, done) * summed(b, done);
  // What only one of them has and nobody needs goes first.
  DimVector own;
  for (const std::int64_t d : done) {
    if (std::find(sums.begin(), sums.end(), d) == sums.end()) own.push_back(d);
  }
  Tensor left = summed(a, own), right = summed(b, own);
  const ScalarType dtype = (Promotion() << left << right).result();
  left = left.to(dtype);
  right = right.to(dtype);
  const auto joined_size = [](const Tensor& tensor, IntArrayRef dims) {
    DimVector lengths;
    for (const std::int64_t d : dims) lengths.push_back(tensor.size(d));
    return checked_numel(lengths);
  };
  const auto permuted = [&](const Tensor& tensor, IntArrayRef second, IntArrayRef third, IntArrayRef unused) {
    DimVector dims(batches);
    for (const IntArrayRef part : {second, third, unused}) {
      for (const std::int64_t d : part) dims.push_back(d);
    }
    return tensor.permute(dims).reshape(
        {joined_size(tensor, batches), joined_size(tensor, second), joined_size(tensor, third)});
  };
  const Tensor product = keyway::bmm(permuted(left, rows, sums, columns), permuted(right, sums, columns, rows));
  for (const DimVector& part : {batches, rows, columns, sums}) {
    for (const std::int64_t d : part) order.push_back(d);
  }
  for (const std::int64_t d : batches) sizes.push_back(left.size(d));
  for (const std::int64_t d : rows) sizes.push_back(left.size(d));
  for (const std::int64_t d : columns) sizes.push_back(right.size(d));
  for (std::size_t i = 0; i < sums.size(); ++i) sizes.push_back(1);
  DimVector back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return product.reshape(sizes).permute(back);
}

// The indices from `outputs` on that only `a`, `b` and none of the others have.
DimVector done_after(const std::vector<Tensor>& left, std::int64_t outputs, std::int64_t count) {
  DimVector done;
  for (std::int64_t d = outputs; d < count; ++d) {
    const bool needed =
        std::any_of(left.begin(), left.end(), [&](const Tensor& tensor) { return tensor.size(d) != 1; });
    if (!needed) done.push_back(d);
  }
  return done;
}

void check_sizes(const std::vector<Tensor>& operands, const Plan& plan, std::string_view equation) {
  for (std::int64_t d = 0; d < plan.count(); ++d) {
    std::int64_t size = 1;
    for (const Tensor& operand : operands) {
      KEYWAY_CHECK(size == 1 || operand.size(d) == 1 || operand.size(d) == size, "an index of '{}' has sizes {} and {}",
                   equation, size, operand.size(d));
      if (operand.size(d) != 1) size = operand.size(d);
    }
  }
}

Tensor take_operand(std::vector<Tensor>& operands, std::int64_t at) {
  KEYWAY_CHECK(0 <= at && at < static_cast<std::int64_t>(operands.size()), "path names operand {}, but there are {}",
               at, operands.size());
  Tensor taken = operands[static_cast<std::size_t>(at)];
  operands.erase(operands.begin() + at);
  return taken;
}

}  // namespace

Tensor einsum(std::string_view equation, ArrayRef<Tensor> tensors, OptionalIntArrayRef path) {
  const std::optional<IntArrayRef> order = path;
  const Equation parsed = parse_equation(equation);
  const Plan plan(parsed, tensors);
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < tensors.size(); ++i) operands.push_back(plan.aligned(parsed.operands[i], tensors[i]));
  check_sizes(operands, plan, equation);
  KEYWAY_CHECK(!order || tensors.size() == 1 || order->size() == 2 * (tensors.size() - 1),
               "path has {} numbers, but must have {}", order->size(), 2 * (tensors.size() - 1));
  for (std::size_t step = 0; operands.size() > 1; ++step) {
    // Both are numbered before the first is taken out; the result goes to the end.
    const std::int64_t first = order ? (*order)[2 * step] : 0;
    const std::int64_t second = order ? (*order)[2 * step + 1] : 1;
    KEYWAY_CHECK(first != second, "path takes operand {} twice", first);
    const Tensor later = take_operand(operands, std::max(first, second));
    const Tensor earlier = take_operand(operands, std::min(first, second));
    const DimVector done = done_after(operands, plan.outputs(), plan.count());
    Tensor product = contracted(earlier, later, done);
    operands.insert(order ? operands.end() : operands.begin(), std::move(product));
  }
  DimVector rest;
  for (std::int64_t d = plan.outputs(); d < plan.count(); ++d) rest.push_back(d);
  // An operand alone is summed even over dimensions of size 1, for the dtype's sake.
  Tensor result = tensors.size() == 1 && !rest.empty() ? operands[0].sum(rest, true) : operands[0];
  for (std::int64_t d = plan.count(); d-- > plan.outputs();) result = result.squeeze(d);
  return result.is_alias_of(tensors[0]) ? result.clone() : result;
}

}  // namespace keyway::inline v1::composite
