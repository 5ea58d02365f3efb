// An oracle for gradients through views and in-place changes, which shares no code and no idea with autograd/: memory is
// a list of cells, a tensor a list of cell numbers, and every element has a tape of its own.
//
// A *family* is what gradients flow within: a tensor and its differentiable views. detach() makes a second family over
// the same cells. Each family has, for each cell, the tape node that a reader of the family depends on. A recorded
// in-place change gives its family new nodes; a change that is not recorded changes values only, and leaves what
// everybody depends on as it was: that is what PyTorch means by it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace keyway::inline v1::testing {

class ScalarTape {
 public:
  static constexpr int kConstant = -1;

  // A node whose value depends on others by the given partial derivatives.
  int node(std::vector<std::pair<int, double>> partials) {
    std::erase_if(partials, [](const auto& p) { return p.first == kConstant; });
    nodes_.push_back(std::move(partials));
    return static_cast<int>(nodes_.size()) - 1;
  }
  // A leaf.
  int leaf() { return node({}); }

  // d(root) / d(node) for every node.
  std::vector<double> gradients(int root) const {
    std::vector<double> grad(nodes_.size(), 0.0);
    if (root == kConstant) return grad;
    grad[static_cast<std::size_t>(root)] = 1.0;
    for (int i = root; i >= 0; --i) {
      for (const auto& [input, partial] : nodes_[static_cast<std::size_t>(i)]) {
        grad[static_cast<std::size_t>(input)] += grad[static_cast<std::size_t>(i)] * partial;
      }
    }
    return grad;
  }

 private:
  std::vector<std::vector<std::pair<int, double>>> nodes_;
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
  std::vector<std::size_t> places;  // of each element, in row-major order
  std::vector<std::int64_t> sizes;

  double value(std::size_t i) const { return family->cells->values[places[i]]; }
  int node(std::size_t i) const { return family->nodes[places[i]]; }
  void set(std::size_t i, double value, int node) {
    family->cells->values[places[i]] = value;
    family->nodes[places[i]] = node;
  }
  void set_value(std::size_t i, double value) { family->cells->values[places[i]] = value; }
  std::size_t numel() const { return places.size(); }
};

inline OracleTensor fresh(std::vector<std::int64_t> sizes) {
  std::size_t numel = 1;
  for (std::int64_t size : sizes) numel *= static_cast<std::size_t>(size);
  OracleTensor t;
  t.family = std::make_shared<Family>();
  t.family->cells = std::make_shared<Cells>();
  t.family->cells->values.resize(numel);
  t.family->nodes.resize(numel, ScalarTape::kConstant);
  for (std::size_t i = 0; i < numel; ++i) t.places.push_back(i);
  t.sizes = std::move(sizes);
  return t;
}

}  // namespace keyway::inline v1::testing
