// An oracle for gradients through views and in-place changes, which shares no code and no idea with autograd/: memory
// is a list of cells, a tensor a list of cell numbers, and every element has a tape of its own.
//
// A *family* is what gradients flow within: a tensor and its differentiable views. detach() makes a second family over
// the same cells. Each family has, for each cell, the tape node that a reader of the family depends on. A recorded
// in-place change gives its family new nodes; a change that is not recorded changes values only, and leaves what
// everybody depends on as it was: that is what PyTorch means by it.
//
// A gradient is made of elements like any other, so that it can be differentiated again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace keyway::inline v1::testing {

// A number, and the node that tells what it depends on.
struct Element {
  double value;
  int node;
};

class ScalarTape {
 public:
  static constexpr int kConstant = -1;
  static constexpr Element constant(double value) { return {value, kConstant}; }

  // What a node depends on, and by which partial derivative.
  struct Partial {
    int input;
    Element derivative;
  };
  int node(std::vector<Partial> partials) {
    std::erase_if(partials, [](const Partial& p) { return p.input == kConstant; });
    nodes_.push_back(std::move(partials));
    return static_cast<int>(nodes_.size()) - 1;
  }
  // A leaf.
  int leaf() { return node({}); }
  // `times` an older one in its gradient, the same in its value.
  int passed_on(int from, double times = 1) { return node({{from, constant(times)}}); }

  Element sum(Element a, Element b) {
    if (a.node == kConstant && b.node == kConstant) return constant(a.value + b.value);
    return {a.value + b.value, node({{a.node, constant(1)}, {b.node, constant(1)}})};
  }
  Element product(Element a, Element b) {
    if (a.node == kConstant && b.node == kConstant) return constant(a.value * b.value);
    return {a.value * b.value, node({{a.node, b}, {b.node, a}})};
  }
  // f(a), by the values of f, its derivative and its second derivative at a.
  Element function(Element a, double f, double first, double second) {
    if (a.node == kConstant) return constant(f);
    return {f, node({{a.node, {first, node({{a.node, constant(second)}})}}})};
  }

  // d(root) / d(node) for every node that is there now.
  std::vector<Element> gradients(int root) {
    std::vector<Element> grad(nodes_.size(), constant(0));
    if (root == kConstant) return grad;
    std::vector<bool> reached(nodes_.size());
    grad[static_cast<std::size_t>(root)] = constant(1);
    reached[static_cast<std::size_t>(root)] = true;
    for (auto i = static_cast<std::size_t>(root) + 1; i-- > 0;) {
      if (!reached[i]) continue;
      const std::vector<Partial> partials = nodes_[i];
      for (const Partial& partial : partials) {
        const auto input = static_cast<std::size_t>(partial.input);
        const Element term = product(grad[i], partial.derivative);
        grad[input] = reached[input] ? sum(grad[input], term) : term;
        reached[input] = true;
      }
    }
    return grad;
  }

 private:
  std::vector<std::vector<Partial>> nodes_;
};

// Memory shared by tensors.
struct Cells {
  std::vector<double> values;
};

// What a reader of one family depends on, cell by cell.
struct Family {
  std::shared_ptr<Cells> cells;
  std::vector<int> nodes;
};

struct OracleTensor {
  std::shared_ptr<Family> family;
  std::vector<std::size_t> cells;  // of each element, in row-major order
  std::vector<std::int64_t> sizes;

  double value(std::size_t i) const { return family->cells->values[cells[i]]; }
  int node(std::size_t i) const { return family->nodes[cells[i]]; }
  Element element(std::size_t i) const { return {value(i), node(i)}; }
  void set(std::size_t i, Element element) {
    family->cells->values[cells[i]] = element.value;
    family->nodes[cells[i]] = element.node;
  }
  void set_value(std::size_t i, double value) { family->cells->values[cells[i]] = value; }
  std::size_t numel() const { return cells.size(); }
};

inline OracleTensor fresh(std::vector<std::int64_t> sizes) {
  std::size_t numel = 1;
  for (std::int64_t size : sizes) numel *= static_cast<std::size_t>(size);
  OracleTensor t;
  t.family = std::make_shared<Family>();
  t.family->cells = std::make_shared<Cells>();
  t.family->cells->values.resize(numel);
  t.family->nodes.resize(numel, ScalarTape::kConstant);
  for (std::size_t i = 0; i < numel; ++i) t.cells.push_back(i);
  t.sizes = std::move(sizes);
  return t;
}

}  // namespace keyway::inline v1::testing
