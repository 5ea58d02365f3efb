// NodeTable: what one backward knows of each node. A hash table with open addressing, since every node of the
// graph is looked up a few times and no order is wanted.
#pragma once

#include <keyway/autograd/node.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::autograd {

struct NodeState {
  Node* node = nullptr;
  std::uint32_t dependencies = 0;  // edges into the node whose gradients are still to come
  bool runs = true;                // leads to an input that was asked for
  bool is_input = false;           // is itself the node of such an input, whose gradient is returned
  variable_list grads;             // of the outputs, as far as they came

  // Whether anybody wants the gradients that come here.
  bool wanted() const { return runs || is_input; }
};

class NodeTable {
 public:
  NodeTable() : index_(kFirstSize, kEmpty) {}

  // The node's state, made if it is new.
  NodeState& at(Node* node) {
    if (states_.size() * 2 >= index_.size()) grow();
    std::uint32_t& slot = index_[find(node)];
    if (slot == kEmpty) {
      slot = static_cast<std::uint32_t>(states_.size());
      states_.push_back({});
      states_.back().node = node;
    }
    return states_[slot];
  }
  // Null for a node that was never seen.
  NodeState* lookup(const Node* node) {
    const std::uint32_t slot = index_[find(node)];
    return slot == kEmpty ? nullptr : &states_[slot];
  }
  bool contains(const Node* node) { return lookup(node) != nullptr; }
  std::size_t size() const { return states_.size(); }
  NodeState& operator[](std::size_t i) { return states_[i]; }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffff;
  static constexpr std::size_t kFirstSize = 64;

  std::size_t find(const Node* node) const {
    // Fibonacci hashing of the address: the upper bits of the product.
    std::size_t i = (reinterpret_cast<std::uintptr_t>(node) >> 4) * 0x9e3779b97f4a7c15ULL >> 20;
    for (;; ++i) {
      i &= index_.size() - 1;
      if (index_[i] == kEmpty || states_[index_[i]].node == node) return i;
    }
  }
  void grow() {
    index_.assign(index_.size() * 4, kEmpty);
    for (std::size_t s = 0; s < states_.size(); ++s) {
      index_[find(states_[s].node)] = static_cast<std::uint32_t>(s);
    }
  }

  std::vector<std::uint32_t> index_;  // into states_; a power of two long
  std::vector<NodeState> states_;
};

}  // namespace keyway::inline v1::autograd
