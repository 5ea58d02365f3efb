// Hazard A2: random programs of views, in-place changes, no_grad, detach, hooks and retained gradients. Each either
// agrees with the scalar tape, in values, gradients and gradients of gradients, or raises; a silently wrong one fails
// the test.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/keyway.h>
#include <keyway/tests/autograd/scalar_functions.h>
#include <keyway/tests/autograd/scalar_tape.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <random>
#include <sstream>
#include <string_view>
#include <thread>

using namespace keyway;
using testing::Element;
using testing::Function;
using testing::kFunctions;
using testing::OracleTensor;
using testing::ScalarTape;

namespace {

// One variable of a program, in both worlds. The oracle says whether Keyway's tensor is attached to a graph.
struct Variable {
  Tensor tensor;
  OracleTensor oracle;
  bool is_view = false;
  bool overlaps = false;  // an expanded one, which cannot be written to
  bool hooked = false;
  std::size_t number = 0;
};

// What became of a program. A refusal is an error of kind Autograd.
enum class Outcome { Right, WithoutGradients, Refused, Wrong };

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) { text_ << "seed " << seed << "\n"; }

  Outcome run() {
    try {
      make_leaves();
      binary(pick(2) == 0, /*no_grad=*/false);
      const int steps = 1 + pick(16);
      for (int i = 0; i < steps; ++i) step();
      finish();
      return has_gradients_ ? Outcome::Right : Outcome::WithoutGradients;
    } catch (const Error& error) {
      if (is_refusal(error)) return Outcome::Refused;
      text_ << error.what();
    } catch (const Wrong& wrong) {
      text_ << wrong.what;
    }
    return Outcome::Wrong;
  }
  std::string text() const { return text_.str(); }
  bool has_second_gradients() const { return has_second_gradients_; }

 private:
  struct Wrong {
    std::string what;
  };
  // What the program did is at fault; not what a node made of it.
  static bool is_refusal(const Error& error) {
    const std::string_view text = error.what();
    return error.kind() == ErrorKind::Autograd && text.find("returned a gradient") == std::string_view::npos;
  }

  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  Variable& any() { return variables_[static_cast<std::size_t>(pick(static_cast<int>(variables_.size())))]; }
  // What to write to: seldom a leaf or a view of one, which would be refused.
  Variable& target(bool no_grad) {
    for (int i = 0; i < 4; ++i) {
      Variable& v = any();
      const Tensor base = v.is_view ? autograd::view_base(v.tensor) : v.tensor;
      const bool of_leaf = base.defined() && base.is_leaf() && base.requires_grad();
      if (!v.overlaps && (no_grad ? pick(4) == 0 : !of_leaf)) return v;
    }
    return any();
  }
  static std::string name(const Variable& v) { return "v" + std::to_string(v.number); }
  void add(Variable v) {
    v.number = variables_.size();
    variables_.push_back(std::move(v));
  }

  void make_leaves() {
    const int columns = 2 + pick(2);
    for (int i = 0; i < 2; ++i) {
      const bool requires_grad = i == 0 || pick(2) == 0;
      Variable v{keyway::zeros({2, columns}, kDouble), testing::fresh({2, columns})};
      double* data = v.tensor.data_ptr<double>();
      for (std::size_t e = 0; e < v.oracle.numel(); ++e) {
        const double value = 0.5 + 0.25 * pick(7);
        data[e] = value;
        v.oracle.set(e, {value, requires_grad ? tape_.leaf() : ScalarTape::kConstant});
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
    const bool no_grad = pick(12) == 0;
    if (no_grad) text_ << "[no_grad] ";
    AutoGradMode mode(!no_grad);
    switch (pick(16)) {
      case 0: binary(false, no_grad); break;
      case 1: binary(true, no_grad); break;
      case 2: in_place(false, no_grad); break;
      case 3: in_place(true, no_grad); break;
      case 4: copy(no_grad); break;
      case 5: select(no_grad); break;
      case 6: slice(no_grad); break;
      case 7: transpose(no_grad); break;
      case 8: view(no_grad); break;
      case 9: diagonal(no_grad); break;
      case 10: expand(no_grad); break;
      case 11: function(no_grad); break;
      case 12:
      case 13: function_in_place(no_grad); break;
      case 14: retain(); break;
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

  Element combine(bool mul, Element a, Element b) {
    const Element result = mul ? tape_.product(a, b) : tape_.sum(a, b);
    return {result.value, result.node == ScalarTape::kConstant ? tape_.leaf() : result.node};
  }

  void binary(bool mul, bool no_grad) {
    Variable& a = any();
    Variable& b = any();
    if (!broadcasts(b.oracle, a.oracle.sizes)) return;
    text_ << "v" << variables_.size() << " = " << name(a) << (mul ? " * " : " + ") << name(b) << "\n";
    Variable v{mul ? a.tensor * b.tensor : a.tensor + b.tensor, testing::fresh(a.oracle.sizes)};
    for (std::size_t i = 0; i < a.oracle.numel(); ++i) {
      const std::size_t j = broadcast_index(b.oracle, a.oracle.sizes, i);
      const Element e = combine(mul, a.oracle.element(i), b.oracle.element(j));
      v.oracle.set(i, {e.value, no_grad ? ScalarTape::kConstant : e.node});
    }
    hook(v);
    add(std::move(v));
  }

  static const Function* fitting(const OracleTensor& x, int first) {
    constexpr auto kCount = static_cast<int>(std::size(kFunctions));
    for (int k = first; k < first + kCount; ++k) {
      const Function& f = kFunctions[k % kCount];
      bool fits = true;
      for (std::size_t i = 0; i < x.numel(); ++i) fits = fits && x.value(i) >= f.least && x.value(i) <= f.most;
      if (fits) return &f;
    }
    return nullptr;
  }
  Element apply(const Function& f, Element x) {
    const auto [value, first, second] = f.at(x.value);
    return tape_.function(x, value, first, second);
  }

  void function(bool no_grad) {
    Variable& a = any();
    const Function* f = fitting(a.oracle, pick(64));
    if (f == nullptr) return;
    text_ << "v" << variables_.size() << " = " << f->name << "(" << name(a) << ")\n";
    Variable v{f->call(a.tensor), testing::fresh(a.oracle.sizes)};
    for (std::size_t i = 0; i < a.oracle.numel(); ++i) {
      const Element e = apply(*f, a.oracle.element(i));
      v.oracle.set(i, {e.value, no_grad ? ScalarTape::kConstant : e.node});
    }
    add(std::move(v));
  }

  void function_in_place(bool no_grad) {
    Variable& a = target(no_grad);
    const Function* f = a.overlaps ? nullptr : fitting(a.oracle, pick(64));
    if (f == nullptr) return;
    text_ << name(a) << "." << f->name << "_()\n";
    std::vector<Element> results;
    for (std::size_t i = 0; i < a.oracle.numel(); ++i) results.push_back(apply(*f, a.oracle.element(i)));
    f->change(a.tensor);
    write(a, results, no_grad);
  }

  // Sometimes a hook that doubles the gradient of what was just computed. Not of functions: whether the gradient's own
  // gradient comes by there depends on whether their derivative is made of their result or of x.
  void hook(Variable& v) {
    if (pick(6) != 0 || v.is_view || !v.tensor.requires_grad() || v.tensor.is_leaf()) return;
    if (autograd::retains_grad(v.tensor)) return;  // which has what hooks leave, and the oracle what comes to them
    text_ << "  with a hook that doubles its gradient\n";
    autograd::register_hook(v.tensor, [](const Tensor& grad) { return grad * 2; });
    v.hooked = true;
    for (int& node : v.oracle.family->nodes) node = tape_.passed_on(node, 2);
  }

  void retain() {
    Variable& v = any();
    if (v.is_view || v.hooked || !v.tensor.requires_grad() || v.tensor.is_leaf()) return;
    text_ << name(v) << ".retain_grad()\n";
    autograd::retain_grad(v.tensor);
  }

  void in_place(bool mul, bool no_grad) {
    Variable& a = target(no_grad);
    Variable& b = any();
    if (a.overlaps || !broadcasts(b.oracle, a.oracle.sizes)) return;
    text_ << name(a) << (mul ? " *= " : " += ") << name(b) << "\n";
    // The oracle computes from what was there before; Keyway refuses or copies operands that overlap.
    std::vector<Element> results;
    for (std::size_t i = 0; i < a.oracle.numel(); ++i) {
      const std::size_t j = broadcast_index(b.oracle, a.oracle.sizes, i);
      results.push_back(combine(mul, a.oracle.element(i), b.oracle.element(j)));
    }
    if (mul) {
      a.tensor.mul_(b.tensor);
    } else {
      a.tensor.add_(b.tensor);
    }
    write(a, results, no_grad);
    if (!no_grad) hook(a);
  }

  void copy(bool no_grad) {
    Variable& a = target(no_grad);
    Variable& b = any();
    if (a.overlaps || !broadcasts(b.oracle, a.oracle.sizes)) return;
    text_ << name(a) << ".copy_(" << name(b) << ")\n";
    std::vector<Element> results;
    for (std::size_t i = 0; i < a.oracle.numel(); ++i) {
      const std::size_t j = broadcast_index(b.oracle, a.oracle.sizes, i);
      results.push_back({b.oracle.value(j), tape_.passed_on(b.oracle.node(j))});
    }
    a.tensor.copy_(b.tensor);
    write(a, results, no_grad);
    if (!no_grad) hook(a);
  }

  void write(Variable& to, const std::vector<Element>& results, bool no_grad) {
    if (no_grad) {
      for (std::size_t i = 0; i < results.size(); ++i) to.oracle.set_value(i, results[i].value);
      return;
    }
    // The whole memory gets a history that gradients can be asked of from now on.
    if (to.tensor.requires_grad())
      for (int& node : to.oracle.family->nodes) node = tape_.passed_on(node);
    for (std::size_t i = 0; i < results.size(); ++i) to.oracle.set(i, results[i]);
    to.hooked = false;
  }

  // A view made under no_grad is a constant to its readers, as a detached one is.
  static std::shared_ptr<testing::Family> family_of_view(const OracleTensor& base, bool no_grad) {
    if (!no_grad) return base.family;
    auto family = std::make_shared<testing::Family>(*base.family);
    std::fill(family->nodes.begin(), family->nodes.end(), ScalarTape::kConstant);
    return family;
  }
  void add_view(const Variable& base, Tensor tensor, std::vector<std::size_t> elements, std::vector<std::int64_t> sizes,
                bool no_grad, bool overlaps = false) {
    OracleTensor oracle;
    oracle.family = family_of_view(base.oracle, no_grad);
    for (std::size_t e : elements) oracle.cells.push_back(base.oracle.cells[e]);
    oracle.sizes = std::move(sizes);
    add({std::move(tensor), std::move(oracle), /*is_view=*/true, overlaps || base.overlaps});
  }

  void select(bool no_grad) {
    const Variable base = any();
    if (base.oracle.sizes.empty()) return;
    const auto dim = static_cast<std::size_t>(pick(static_cast<int>(base.oracle.sizes.size())));
    const int index = pick(static_cast<int>(base.oracle.sizes[dim]));
    text_ << "v" << variables_.size() << " = select(" << name(base) << ", " << dim << ", " << index << ")\n";
    strided(base, dim, index, 1, base.tensor.select(static_cast<std::int64_t>(dim), index), true, no_grad);
  }

  void slice(bool no_grad) {
    const Variable base = any();
    if (base.oracle.sizes.empty()) return;
    const auto dim = static_cast<std::size_t>(pick(static_cast<int>(base.oracle.sizes.size())));
    const int size = static_cast<int>(base.oracle.sizes[dim]);
    const int start = pick(size);
    const int count = 1 + pick(size - start);
    text_ << "v" << variables_.size() << " = slice(" << name(base) << ", dim " << dim << ", " << start << ", "
          << start + count << ")\n";
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
    text_ << "v" << variables_.size() << " = transpose(" << name(base) << ")\n";
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
    text_ << "v" << variables_.size() << " = view(" << name(base) << ", -1)\n";
    std::vector<std::size_t> elements;
    for (std::size_t i = 0; i < base.oracle.numel(); ++i) elements.push_back(i);
    add_view(base, base.tensor.view({-1}), std::move(elements), {static_cast<std::int64_t>(base.oracle.numel())},
             no_grad);
  }

  void diagonal(bool no_grad) {
    const Variable base = any();
    if (base.oracle.sizes.size() != 2) return;
    text_ << "v" << variables_.size() << " = diagonal(" << name(base) << ")\n";
    const auto columns = static_cast<std::size_t>(base.oracle.sizes[1]);
    const std::int64_t count = std::min(base.oracle.sizes[0], base.oracle.sizes[1]);
    std::vector<std::size_t> elements;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) elements.push_back(i * columns + i);
    add_view(base, base.tensor.diagonal(), std::move(elements), {count}, no_grad);
  }

  // In front, so that the elements come twice.
  void expand(bool no_grad) {
    const Variable base = any();
    if (base.oracle.sizes.size() > 2) return;
    text_ << "v" << variables_.size() << " = " << name(base) << " expanded to twice\n";
    std::vector<std::int64_t> sizes = {2};
    sizes.insert(sizes.end(), base.oracle.sizes.begin(), base.oracle.sizes.end());
    std::vector<std::size_t> elements;
    for (std::size_t i = 0; i < 2 * base.oracle.numel(); ++i) elements.push_back(i % base.oracle.numel());
    const Tensor tensor = base.tensor.expand(IntArrayRef(sizes));
    add_view(base, tensor, std::move(elements), std::move(sizes), no_grad, /*overlaps=*/true);
  }

  void detach() {
    const Variable base = any();
    text_ << "v" << variables_.size() << " = detach(" << name(base) << ")\n";
    OracleTensor oracle = base.oracle;
    oracle.family = family_of_view(base.oracle, true);
    add({base.tensor.detach(), std::move(oracle), /*is_view=*/true, base.overlaps});
  }

  double next_weight() { return weight_ = std::fmod(weight_ * 1.7 + 0.3, 2.0); }

  // Adds the sum of the elements of a tensor, each with a weight of its own, to `sum`, and its oracle to `terms`.
  void add_weighed(Tensor& sum, std::vector<ScalarTape::Partial>& terms, const Tensor& tensor,
                   const std::vector<Element>& elements) {
    Tensor weights = keyway::zeros({static_cast<std::int64_t>(elements.size())}, kDouble);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      weights.data_ptr<double>()[i] = next_weight();
      terms.push_back({elements[i].node, ScalarTape::constant(weight_)});
    }
    sum = sum + keyway::sum(tensor * weights.view(tensor.sizes()));
  }

  // The loss reads every variable.
  void finish() {
    Tensor loss = keyway::zeros({}, kDouble);
    std::vector<ScalarTape::Partial> terms;
    for (const Variable& v : variables_) {
      check_values(v);
      std::vector<Element> elements;
      for (std::size_t i = 0; i < v.oracle.numel(); ++i) elements.push_back(v.oracle.element(i));
      add_weighed(loss, terms, v.tensor, elements);
    }
    const int root = tape_.node(std::move(terms));
    if (!loss.requires_grad()) return;
    const std::vector<Element> expected = tape_.gradients(root);
    switch (pick(5)) {
      case 0: accumulated(loss, expected); break;
      case 1: by_name(loss, expected); break;
      case 2: from_two_threads(loss, expected); break;
      default: twice(loss, expected); break;
    }
  }

  const Tensor& leaf(int number) const { return variables_[static_cast<std::size_t>(number)].tensor; }
  autograd::variable_list leaves() const {
    autograd::variable_list tensors;
    for (const int number : leaves_) tensors.push_back(leaf(number));
    return tensors;
  }
  std::vector<Element> gradient_of(int number, const std::vector<Element>& expected) const {
    std::vector<Element> elements;
    for (const int node : leaf_nodes_[static_cast<std::size_t>(number)])
      elements.push_back(expected[static_cast<std::size_t>(node)]);
    return elements;
  }

  void accumulated(const Tensor& loss, const std::vector<Element>& expected) {
    autograd::backward({loss});
    for (const int number : leaves_) check_gradient(number, autograd::grad_of(leaf(number)), expected);
    for (const Variable& v : variables_) {
      if (v.is_view || v.tensor.is_leaf() || !autograd::retains_grad(v.tensor)) continue;
      std::vector<Element> elements;
      for (std::size_t i = 0; i < v.oracle.numel(); ++i)
        elements.push_back(expected[static_cast<std::size_t>(v.oracle.node(i))]);
      check("the retained gradient of " + name(v), autograd::grad_of(v.tensor), elements);
    }
  }

  // Each alone: what leads to no other leaf does not run then.
  void by_name(const Tensor& loss, const std::vector<Element>& expected) {
    for (const int number : leaves_)
      check_gradient(number, autograd::grad({loss}, {leaf(number)}, {}, true, false, true)[0], expected);
  }

  void from_two_threads(const Tensor& loss, const std::vector<Element>& expected) {
    std::array<autograd::variable_list, 2> grads;
    std::array<std::exception_ptr, 2> errors;
    const auto differentiate = [&](std::size_t i) {
      try {
        grads[i] = autograd::grad({loss}, leaves(), {}, true, /*create_graph=*/i == 1, true);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    };
    std::thread other(differentiate, 1);
    differentiate(0);
    other.join();
    for (std::size_t i = 0; i < 2; ++i) {
      if (errors[i]) std::rethrow_exception(errors[i]);
      for (std::size_t k = 0; k < leaves_.size(); ++k) check_gradient(leaves_[k], grads[i][k], expected);
    }
  }

  // The gradient of a sum of what the gradients are.
  void twice(const Tensor& loss, const std::vector<Element>& expected) {
    const autograd::variable_list grads = autograd::grad({loss}, leaves(), {}, true, /*create_graph=*/true, true);
    Tensor sum = keyway::zeros({}, kDouble);
    std::vector<ScalarTape::Partial> terms;
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      check_gradient(leaves_[k], grads[k], expected);
      if (grads[k].defined()) add_weighed(sum, terms, grads[k], gradient_of(leaves_[k], expected));
    }
    const std::vector<Element> second = tape_.gradients(tape_.node(std::move(terms)));
    autograd::variable_list second_grads(leaves_.size());
    if (sum.requires_grad()) second_grads = autograd::grad({sum}, leaves(), {}, false, false, true);
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      const std::vector<Element> elements = gradient_of(leaves_[k], second);
      check("the second gradient of v" + std::to_string(leaves_[k]), second_grads[k], elements);
      for (const Element& element : elements) has_second_gradients_ = has_second_gradients_ || element.value != 0;
    }
  }

  void check_values(const Variable& v) {
    const Tensor values = v.tensor.detach().contiguous();
    const double* data = values.data_ptr<double>();
    for (std::size_t i = 0; i < v.oracle.numel(); ++i) {
      const double want = v.oracle.value(i);
      if (!is_near(data[i], want)) throw Wrong{said(name(v), data[i], i, want)};
    }
  }

  void check_gradient(int number, const Tensor& grad, const std::vector<Element>& expected) {
    has_gradients_ = true;
    check("the gradient of v" + std::to_string(number), grad, gradient_of(number, expected));
  }

  void check(const std::string& what, const Tensor& grad, const std::vector<Element>& expected) {
    const Tensor values = grad.defined() ? grad.detach().contiguous() : Tensor();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double got = grad.defined() ? values.data_ptr<double>()[i] : 0.0;
      if (!is_near(got, expected[i].value)) throw Wrong{said(what, got, i, expected[i].value)};
    }
  }
  static bool is_near(double got, double want) { return std::abs(got - want) <= 1e-9 * (1 + std::abs(want)); }
  static std::string said(const std::string& what, double got, std::size_t i, double want) {
    std::ostringstream text;
    text << what << " is " << got << " at " << i << ", not " << want;
    return text.str();
  }

  std::mt19937_64 random_;
  ScalarTape tape_;
  std::vector<Variable> variables_;
  std::vector<int> leaves_;
  std::vector<std::vector<int>> leaf_nodes_;
  std::ostringstream text_;
  double weight_ = 1.0;
  bool has_gradients_ = false;
  bool has_second_gradients_ = false;
};

struct Figures {
  int right = 0;
  int twice = 0;  // of these, with a second gradient that is not 0
  int refused = 0;
  std::vector<std::string> wrong;
};

// Programs of seeds first, first + 2, ... to `last`.
void run_every_other(int first, int last, Figures& figures) {
  for (int seed = first; seed <= last; seed += 2) {
    Program program(static_cast<std::uint64_t>(seed));
    switch (program.run()) {
      case Outcome::Right: ++figures.right; break;
      case Outcome::Refused: ++figures.refused; break;
      case Outcome::Wrong: figures.wrong.push_back(program.text()); break;
      case Outcome::WithoutGradients: break;
    }
    if (program.has_second_gradients()) ++figures.twice;
  }
}

}  // namespace

TEST_CASE("10,000 random programs of views and in-place changes are right or refused, in two threads") {
  const int programs = testing::campaign(10000);
  Figures odd, even;
  std::thread other([&] { run_every_other(2, programs, even); });
  run_every_other(1, programs, odd);
  other.join();
  odd.wrong.insert(odd.wrong.end(), even.wrong.begin(), even.wrong.end());
  INFO(odd.right + even.right << " programs with gradients are right, " << odd.twice + even.twice
                              << " of them with second gradients; " << odd.refused + even.refused << " are refused; "
                              << odd.wrong.size() << " are wrong");
  if (!odd.wrong.empty()) FAIL(odd.wrong.front());
  CHECK(odd.right + even.right > programs * 2 / 5);
  CHECK(odd.twice + even.twice > programs / 10);
  CHECK(odd.refused + even.refused < programs * 3 / 5);
}
