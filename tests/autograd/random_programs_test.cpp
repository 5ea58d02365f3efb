// Hazard A2: random programs of views, in-place changes, no_grad and detach. Each either agrees with the scalar tape,
// in values and gradients, or raises; a silently wrong gradient fails the test.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/keyway.h>
#include <keyway/tests/autograd/scalar_tape.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <random>
#include <sstream>

using namespace keyway;
using testing::OracleTensor;
using testing::ScalarTape;

namespace {

// One variable of a program, in both worlds. The oracle says whether Keyway's tensor is attached to a graph.
struct Variable {
  Tensor tensor;
  OracleTensor oracle;
};

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {}

  // False if Keyway refused the program, which is allowed.
  bool run() {
    try {
      make_leaves();
      const int steps = 1 + pick(12);
      for (int i = 0; i < steps; ++i) step();
      finish();
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Autograd) FAIL(text_.str() << "\n" << error.what());
      return false;
    }
  }
  bool has_gradients() const { return has_gradients_; }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  Variable& any() { return variables_[static_cast<std::size_t>(pick(static_cast<int>(variables_.size())))]; }
  std::string name(const Variable& v) const { return "v" + std::to_string(&v - variables_.data()); }
  void add(Variable v) { variables_.push_back(std::move(v)); }

  void make_leaves() {
    for (int i = 0; i < 2; ++i) {
      const bool requires_grad = i == 0 || pick(2) == 0;
      Variable v{keyway::zeros({2, 3}, kDouble), testing::fresh({2, 3})};
      double* data = v.tensor.data_ptr<double>();
      for (std::size_t e = 0; e < 6; ++e) {
        const double value = 0.5 + 0.25 * pick(7);
        data[e] = value;
        v.oracle.set(e, value, requires_grad ? tape_.leaf() : ScalarTape::kConstant);
      }
      if (requires_grad) {
        v.tensor.requires_grad_();
        leaves_.push_back(i);
      }
      leaf_nodes_.push_back(v.oracle.family->nodes);
      text_ << "v" << i << " = leaf(" << (requires_grad ? "requires_grad" : "") << ")\n";
      add(std::move(v));
    }
  }

  void step() {
    const bool no_grad = pick(6) == 0;
    if (no_grad) text_ << "[no_grad] ";
    EnableGradGuard mode(!no_grad);
    switch (pick(10)) {
      case 0: binary(false, no_grad); break;
      case 1: binary(true, no_grad); break;
      case 2: in_place(false, no_grad); break;
      case 3: in_place(true, no_grad); break;
      case 4: copy(no_grad); break;
      case 5: select(no_grad); break;
      case 6: slice(no_grad); break;
      case 7: transpose(no_grad); break;
      case 8: view(no_grad); break;
      default: detach(); break;
    }
  }

  // The number of the element of `from` that element i of an operand broadcast to `sizes` is.
  static std::size_t broadcast_index(const OracleTensor& from, const std::vector<std::int64_t>& sizes, std::size_t i) {
    std::size_t index = 0;
    std::size_t stride = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const std::size_t dim = sizes.size() - 1 - d;
      const auto coordinate = i % static_cast<std::size_t>(sizes[dim]);
      i /= static_cast<std::size_t>(sizes[dim]);
      if (d >= from.sizes.size()) continue;
      const auto size = static_cast<std::size_t>(from.sizes[from.sizes.size() - 1 - d]);
      index += (size == 1 ? 0 : coordinate) * stride;
      stride *= size;
    }
    return index;
  }
  static bool broadcasts(const OracleTensor& from, const std::vector<std::int64_t>& to) {
    if (from.sizes.size() > to.size()) return false;
    for (std::size_t d = 1; d <= from.sizes.size(); ++d) {
      const std::int64_t size = from.sizes[from.sizes.size() - d];
      if (size != 1 && size != to[to.size() - d]) return false;
    }
    return true;
  }

  struct Element {
    double value;
    int node;
  };
  Element combine(bool mul, double a, int an, double b, int bn) {
    const double value = mul ? a * b : a + b;
    return {value, tape_.node({{an, mul ? b : 1.0}, {bn, mul ? a : 1.0}})};
  }

  void binary(bool mul, bool no_grad) {
    Variable& a = any();
    Variable& b = any();
    if (!broadcasts(b.oracle, a.oracle.sizes)) return;
    text_ << "v" << variables_.size() << " = " << name(a) << (mul ? " * " : " + ") << name(b) << "\n";
    Variable v{mul ? a.tensor * b.tensor : a.tensor + b.tensor, testing::fresh(a.oracle.sizes)};
    for (std::size_t i = 0; i < a.oracle.numel(); ++i) {
      const std::size_t j = broadcast_index(b.oracle, a.oracle.sizes, i);
      const Element e = combine(mul, a.oracle.value(i), a.oracle.node(i), b.oracle.value(j), b.oracle.node(j));
      v.oracle.set(i, e.value, no_grad ? ScalarTape::kConstant : e.node);
    }
    add(std::move(v));
  }

  void in_place(bool mul, bool no_grad) {
    Variable& a = any();
    Variable& b = any();
    if (!broadcasts(b.oracle, a.oracle.sizes)) return;
    text_ << name(a) << (mul ? " *= " : " += ") << name(b) << "\n";
    // The oracle computes from what was there before; Keyway refuses or copies operands that overlap.
    std::vector<Element> results;
    for (std::size_t i = 0; i < a.oracle.numel(); ++i) {
      const std::size_t j = broadcast_index(b.oracle, a.oracle.sizes, i);
      results.push_back(combine(mul, a.oracle.value(i), a.oracle.node(i), b.oracle.value(j), b.oracle.node(j)));
    }
    if (mul) {
      a.tensor.mul_(b.tensor);
    } else {
      a.tensor.add_(b.tensor);
    }
    write(a.oracle, results, no_grad);
  }

  void copy(bool no_grad) {
    Variable& a = any();
    Variable& b = any();
    if (!broadcasts(b.oracle, a.oracle.sizes)) return;
    text_ << name(a) << ".copy_(" << name(b) << ")\n";
    std::vector<Element> results;
    for (std::size_t i = 0; i < a.oracle.numel(); ++i) {
      const std::size_t j = broadcast_index(b.oracle, a.oracle.sizes, i);
      results.push_back({b.oracle.value(j), tape_.node({{b.oracle.node(j), 1.0}})});
    }
    a.tensor.copy_(b.tensor);
    write(a.oracle, results, no_grad);
  }

  void write(OracleTensor& to, const std::vector<Element>& results, bool no_grad) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (no_grad) {
        to.set_value(i, results[i].value);
      } else {
        to.set(i, results[i].value, results[i].node);
      }
    }
  }

  // A view made under no_grad is a constant to its readers, as a detached one is.
  static std::shared_ptr<testing::Family> family_of_view(const OracleTensor& base, bool no_grad) {
    if (!no_grad) return base.family;
    auto family = std::make_shared<testing::Family>(*base.family);
    std::fill(family->nodes.begin(), family->nodes.end(), ScalarTape::kConstant);
    return family;
  }
  void add_view(const Variable& base, Tensor tensor, std::vector<std::size_t> elements, std::vector<std::int64_t> sizes,
                bool no_grad) {
    OracleTensor oracle;
    oracle.family = family_of_view(base.oracle, no_grad);
    for (std::size_t e : elements) oracle.places.push_back(base.oracle.places[e]);
    oracle.sizes = std::move(sizes);
    add({std::move(tensor), std::move(oracle)});
  }

  void select(bool no_grad) {
    const Variable base = any();
    if (base.oracle.sizes.empty()) return;
    const auto dim = static_cast<std::size_t>(pick(static_cast<int>(base.oracle.sizes.size())));
    const int index = pick(static_cast<int>(base.oracle.sizes[dim]));
    text_ << "v" << variables_.size() << " = select(" << base.oracle.sizes.size() << "-d, " << dim << ", " << index
          << ")\n";
    strided(base, dim, index, 1, base.tensor.select(static_cast<std::int64_t>(dim), index), true, no_grad);
  }

  void slice(bool no_grad) {
    const Variable base = any();
    if (base.oracle.sizes.empty()) return;
    const auto dim = static_cast<std::size_t>(pick(static_cast<int>(base.oracle.sizes.size())));
    const int size = static_cast<int>(base.oracle.sizes[dim]);
    const int start = pick(size);
    const int count = 1 + pick(size - start);
    text_ << "v" << variables_.size() << " = slice(dim " << dim << ", " << start << ", " << start + count << ")\n";
    strided(base, dim, start, count, base.tensor.slice(static_cast<std::int64_t>(dim), start, start + count), false,
            no_grad);
  }

  // Elements of `base` whose coordinate in `dim` lies in [start, start + count).
  void strided(const Variable& base, std::size_t dim, int start, int count, Tensor tensor, bool drop, bool no_grad) {
    std::vector<std::int64_t> sizes = base.oracle.sizes;
    std::size_t inner = 1;
    for (std::size_t d = dim + 1; d < sizes.size(); ++d) inner *= static_cast<std::size_t>(sizes[d]);
    std::vector<std::size_t> elements;
    for (std::size_t i = 0; i < base.oracle.numel(); ++i) {
      const auto coordinate = static_cast<int>(i / inner % static_cast<std::size_t>(sizes[dim]));
      if (coordinate >= start && coordinate < start + count) elements.push_back(i);
    }
    sizes[dim] = count;
    if (drop) sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    add_view(base, std::move(tensor), std::move(elements), std::move(sizes), no_grad);
  }

  void transpose(bool no_grad) {
    const Variable base = any();
    if (base.oracle.sizes.size() != 2) return;
    text_ << "v" << variables_.size() << " = transpose\n";
    const auto rows = static_cast<std::size_t>(base.oracle.sizes[0]);
    const auto columns = static_cast<std::size_t>(base.oracle.sizes[1]);
    std::vector<std::size_t> elements;
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t r = 0; r < rows; ++r) elements.push_back(r * columns + c);
    }
    add_view(base, base.tensor.transpose(0, 1), std::move(elements), {base.oracle.sizes[1], base.oracle.sizes[0]},
             no_grad);
  }

  void view(bool no_grad) {
    const Variable base = any();
    if (!base.tensor.is_contiguous()) return;
    text_ << "v" << variables_.size() << " = view(-1)\n";
    std::vector<std::size_t> elements;
    for (std::size_t i = 0; i < base.oracle.numel(); ++i) elements.push_back(i);
    add_view(base, base.tensor.view({-1}), std::move(elements), {static_cast<std::int64_t>(base.oracle.numel())},
             no_grad);
  }

  void detach() {
    const Variable base = any();
    text_ << "v" << variables_.size() << " = detach\n";
    OracleTensor oracle = base.oracle;
    oracle.family = family_of_view(base.oracle, true);
    add({base.tensor.detach(), std::move(oracle)});
  }

  void finish() {
    // The loss reads every variable, each element with a weight of its own.
    int root = ScalarTape::kConstant;
    Tensor loss = keyway::zeros({}, kDouble);
    double weight = 1.0;
    std::vector<std::pair<int, double>> terms;
    for (Variable& v : variables_) {
      check_values(v);
      Tensor weights = keyway::zeros(v.tensor.sizes(), kDouble);
      double* data = weights.data_ptr<double>();
      for (std::size_t i = 0; i < v.oracle.numel(); ++i) {
        weight = std::fmod(weight * 1.7 + 0.3, 2.0);
        data[i] = weight;
        terms.emplace_back(v.oracle.node(i), weight);
      }
      loss = loss + keyway::sum(v.tensor * weights);
    }
    root = tape_.node(terms);
    if (!loss.requires_grad()) return;
    const std::vector<double> expected = tape_.gradients(root);
    // Every other program asks for its gradients by name, each alone: what leads to no other leaf does not run then.
    const bool by_name = pick(2) == 0;
    if (!by_name) autograd::backward({loss});
    for (int leaf : leaves_) {
      const Tensor& variable = variables_[static_cast<std::size_t>(leaf)].tensor;
      const Tensor grad =
          by_name ? autograd::grad({loss}, {variable}, {}, true, false, true)[0] : autograd::grad_of(variable);
      check_gradient(leaf, grad, expected);
    }
  }

  void check_values(const Variable& v) {
    const Tensor values = v.tensor.detach().contiguous();
    const double* data = values.data_ptr<double>();
    for (std::size_t i = 0; i < v.oracle.numel(); ++i) {
      const double want = v.oracle.value(i);
      if (!(std::abs(data[i] - want) <= 1e-9 * (1 + std::abs(want)))) {
        FAIL(text_.str() << name(v) << " has " << data[i] << " at " << i << ", not " << want);
      }
    }
  }

  void check_gradient(int leaf, const Tensor& grad, const std::vector<double>& expected) {
    has_gradients_ = true;
    const auto n = static_cast<std::size_t>(leaf);
    for (std::size_t i = 0; i < 6; ++i) {
      const double want = expected[static_cast<std::size_t>(leaf_nodes_[n][i])];
      const double got = grad.defined() ? grad.contiguous().data_ptr<double>()[i] : 0.0;
      if (!(std::abs(got - want) <= 1e-9 * (1 + std::abs(want)))) {
        FAIL(text_.str() << "gradient of v" << leaf << " is " << got << " at " << i << ", not " << want);
      }
    }
  }

  std::mt19937_64 random_;
  ScalarTape tape_;
  std::vector<Variable> variables_;
  std::vector<int> leaves_;
  std::vector<std::vector<int>> leaf_nodes_;
  std::ostringstream text_;
  bool has_gradients_ = false;
};

}  // namespace

TEST_CASE("10,000 random programs of views and in-place changes are right or refused") {
  int right = 0;
  int refused = 0;
  const int programs = testing::campaign(10000);
  for (int seed = 1; seed <= programs; ++seed) {
    Program program(static_cast<std::uint64_t>(seed));
    const bool ran = program.run();
    if (!ran) ++refused;
    if (ran && program.has_gradients()) ++right;
  }
  INFO(right << " programs with gradients are right, " << refused << " are refused");
  CHECK(right > programs * 2 / 5);
  CHECK(refused < programs * 3 / 5);
}
