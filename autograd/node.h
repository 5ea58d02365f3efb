// Node and Edge: the graph. A node is one differentiable call; its edges lead to the calls that made its
// inputs.
#pragma once

#include <keyway/autograd/hook_list.h>
#include <keyway/core/base/inline_vector.h>
#include <keyway/core/base/intrusive_ptr.h>
#include <keyway/core/base/small_vector.h>
#include <keyway/core/device/block_cache.h>
#include <keyway/core/device/stream.h>
#include <keyway/tensor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::autograd {

class Node;
struct NodeOrigin;
using variable_list = std::vector<Tensor>;

// Leads to input `input_nr` of `node`: to the gradient of one output of the call that it stands for. Without
// a node, nobody wants the gradient.
struct Edge {
  intrusive_ptr<Node> node;
  std::uint32_t input_nr = 0;
  explicit operator bool() const { return static_cast<bool>(node); }
};

// What one gradient that the node takes must look like: the output of the call that it is the gradient of. The engine
// brings gradients to it. Without a dtype, there never is one.
struct InputMetadata {
  DimVector sizes;
  ScalarType dtype = ScalarType::Undefined;
  Device device = DeviceType::CPU;
};

// Called before a node runs, with its inputs, and after it has run, with its outputs and inputs; may change the list
// that is not const.
using PreHook = std::function<void(variable_list& grad_outputs)>;
using PostHook = std::function<void(variable_list& grad_inputs, const variable_list& grad_outputs)>;

// What another language keeps of a node, as Python does of its object and the hooks that it added.
class KEYWAY_API NodeBinding {
 public:
  virtual ~NodeBinding();
};

// One differentiable call, run in backward. Its inputs are the gradients of the forward call's outputs; its outputs are
// the gradients of the forward call's inputs, one for each of next_edges().
class KEYWAY_API Node : public RefCounted {
 public:
  // In anomaly mode it remembers where its call is made, which may throw, and wait for another language's lock: the
  // caller must hold none of the graph's.
  Node();
  virtual ~Node();

  // "MulBackward0".
  virtual std::string name() const = 0;
  // Takes the node's inputs and gives its outputs. An undefined tensor stands for zeros.
  virtual variable_list apply(variable_list&& grads) = 0;
  // Frees what was saved for apply(), which cannot run again then.
  virtual void release_variables() {}

  void add_next_edge(Edge edge) { edges_.push_back(std::move(edge)); }
  void set_next_edge(std::size_t i, Edge edge) { edges_[i] = std::move(edge); }
  ArrayRef<Edge> next_edges() const { return edges_; }
  // Adds an input of the node, the gradient of `output`; gives its number.
  std::uint32_t add_input_metadata(const TensorBase& output);
  // Adds an input that never gets a gradient.
  std::uint32_t add_undefined_input();
  std::size_t num_inputs() const { return inputs_.size(); }
  // Null for one of add_undefined_input().
  const InputMetadata* input_metadata(std::size_t i) const {
    return inputs_[i].dtype == ScalarType::Undefined ? nullptr : &inputs_[i];
  }

  // The stream that was current, when the call was made, on the device of the call's first output that lies on a device
  // with streams: backward works in it too. None if there is no such output.
  std::optional<Stream> stream() const {
    if (stream_device_.is_cpu()) return std::nullopt;
    return Stream(stream_device_, stream_id_);
  }
  bool has_stream() const { return !stream_device_.is_cpu(); }

  // Whether the running backward wants the gradient that goes out along next_edges()[i]. For apply().
  bool should_compute_output(std::size_t i) const;

  // Nodes made later run earlier in backward.
  std::uint64_t sequence_nr() const { return sequence_nr_; }

  // What was added, in order, before the node runs: hooks of the call's outputs, which see what grad() returns; what
  // retains gradients; hooks of the node itself, which are called only if it runs. Hooks may be added while a backward
  // runs, by any thread; those that a hook adds wait for the next backward.
  virtual void run_tensor_hooks(variable_list& grads);
  void run_pre_hooks(variable_list& grads);
  void run_post_hooks(variable_list& grad_inputs, const variable_list& grad_outputs);
  void add_tensor_hook(PreHook hook) { make_extras().tensor_hooks.add(std::move(hook)); }
  void add_retaining_hook(PreHook hook) { make_extras().retaining_hooks.add(std::move(hook)); }
  void add_pre_hook(PreHook hook) { make_extras().pre_hooks.add(std::move(hook)); }
  void add_post_hook(PostHook hook) { make_extras().post_hooks.add(std::move(hook)); }
  bool has_post_hooks() const {
    const Extras* const more = extras();
    return more != nullptr && !more->post_hooks.empty();
  }

  // What anomaly mode knows of a call that a backward made: its node, and in whose backward that was recorded:
  // "MulBackward0, recorded in that of ExpBackward0". Else empty.
  std::string_view made_in() const {
    const Extras* const more = extras();
    return more != nullptr ? std::string_view(more->made_in) : std::string_view();
  }
  // Requires: nobody else knows the node yet.
  void set_origin(NodeOrigin&& origin);

  // Guarded by that language's lock.
  NodeBinding* binding() const { return binding_.get(); }
  void set_binding(std::unique_ptr<NodeBinding> binding) { binding_ = std::move(binding); }

  // Serialises threads whose backward runs through one node; a thread may enter again. Throws
  // keyway::Error(Autograd) where threads would wait for each other for ever: two whose backwards run each other's
  // nodes.
  void lock();
  void unlock();

  static void* operator new(std::size_t size) { return allocate_block(size); }
  static void operator delete(void* block, std::size_t size) { free_block(block, size); }

  // Called by intrusive_ptr when only weak references are left. A node that holds who refers to it weakly lets go of
  // it, or neither would be freed.
  virtual void release_resources();
  // Called by intrusive_ptr. Frees a chain of a million nodes without recursion: what the destructor of one
  // node lets go is put on a list of the thread and freed when that destructor has returned.
  static void destroy_counted(Node* node);

 protected:
  // Remembers nothing.
  explicit Node(std::uint64_t sequence_nr) : sequence_nr_(sequence_nr) {}
  static std::uint64_t take_sequence_nr();
  // The node works in the stream that its gradient was computed in.
  void forget_stream() { stream_device_ = DeviceType::CPU; }

 private:
  // What few nodes have.
  struct Extras {
    HookList<PreHook> tensor_hooks;
    HookList<PreHook> retaining_hooks;
    HookList<PreHook> pre_hooks;
    HookList<PostHook> post_hooks;
    std::string made_in;
  };
  Extras* extras() const { return extras_.load(std::memory_order_acquire); }
  Extras& make_extras();
  void take_stream(Device device);
  void wait_and_lock();

  InlineVector<Edge, 2> edges_;
  InlineVector<InputMetadata, 1> inputs_;
  std::uint64_t sequence_nr_;
  std::atomic<Extras*> extras_{nullptr};  // owned
  std::unique_ptr<NodeBinding> binding_;
  std::atomic<std::uintptr_t> owner_{0};  // the thread that has locked it, and whether others wait: node.cpp
  StreamId stream_id_ = 0;
  std::uint32_t depth_ = 0;
  Device stream_device_ = DeviceType::CPU;  // the CPU: no stream
  Node* next_to_destroy_ = nullptr;
};

}  // namespace keyway::inline v1::autograd
