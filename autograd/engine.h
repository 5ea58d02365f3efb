// The engine: runs the nodes of a graph, later calls first, and brings gradients from roots to leaves.
#pragma once

#include <keyway/autograd/node.h>

#include <functional>
#include <vector>

namespace keyway::inline v1::autograd {

struct BackwardOptions {
  bool retain_graph = false;  // what nodes saved stays, so that backward can run again
  bool create_graph = false;  // the gradients' own computation is recorded
  bool accumulate = false;    // gradients of `inputs` are added to the leaves' `grad`, not returned
};

// Runs backward from `roots`, whose gradients are `grads`. Without `inputs`, the gradients of all leaves are added to
// their `grad`, and nothing is returned. With `inputs`, only their gradients are computed, and nodes that lead to none
// of them do not run. They are returned in order, undefined where there is none, and no leaf's `grad` changes; with
// `options.accumulate` they are added to the leaves' `grad` instead, and all that is returned is undefined. On the
// calling thread; any number of threads may run over one graph. May be called from a hook or a node. Keys that the
// thread includes and excludes hold for the calls of backward, but for Autograd, ADInplaceOrView and Autocast.
//
// On devices with streams a node works in the stream that its call was made in, that of a leaf where its gradient is
// computed. Seen from outside, all of it is work of the caller's current streams, which what comes before and after is
// ordered with as ever. While a graph is captured all work is that of the captured stream.
KEYWAY_API variable_list run_backward(const std::vector<Edge>& roots, variable_list grads, BackwardOptions options,
                                      const std::vector<Edge>* inputs = nullptr);

// d(sum of tensors * grad_tensors) / d(leaf), added to the `grad` of every leaf; `inputs` restricts them, and those
// that are no leaves retain their gradients from then on. Absent gradients of tensors of one element are 1. Throws
// keyway::Error for tensors without a graph.
KEYWAY_API void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors = {},
                         bool retain_graph = false, bool create_graph = false, const std::vector<Tensor>& inputs = {});

// The same gradients as a result, one for each of `inputs`. Throws for an input that the outputs do not
// depend on, unless `allow_unused`: then its gradient is undefined.
KEYWAY_API std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& grad_outputs = {}, bool retain_graph = false,
                                    bool create_graph = false, bool allow_unused = false);

// The node whose backward this thread is running, with its hooks; null outside of backward.
KEYWAY_API Node* running_node();

// Calls `callback` once when the backward that this thread is running has computed all gradients; in the order of the
// calls. One that throws ends the backward with its exception. Callbacks may queue others. Throws
// keyway::Error(Autograd) outside of backward.
KEYWAY_API void queue_callback(std::function<void()> callback);

// Whether the backward that this thread is running wants the gradient that goes to `node`.
KEYWAY_API bool wanted_by_running_backward(const Node& node);

// Whether the running backward works in other streams than its caller's.
bool backward_uses_other_streams();
// Requires: backward_uses_other_streams(). Of a tensor that this backward uses in the current stream, and that its
// caller may use and free: its memory is given out again only after what both streams have queued.
void record_use_for_caller(const TensorBase& tensor);

}  // namespace keyway::inline v1::autograd
