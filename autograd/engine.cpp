#include <keyway/autograd/accumulate_grad.h>
#include <keyway/autograd/anomaly_mode.h>
#include <keyway/autograd/backward_streams.h>
#include <keyway/autograd/engine.h>
#include <keyway/autograd/forward_mode_hooks.h>
#include <keyway/autograd/node_origin.h>
#include <keyway/autograd/node_table.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <deque>
#include <queue>

namespace keyway::inline v1::autograd {

namespace {

// One call of run_backward.
class GraphTask {
 public:
  GraphTask(BackwardOptions options, const std::vector<Edge>* inputs) : options_(options), inputs_(inputs) {}

  variable_list run(const std::vector<Edge>& roots, variable_list grads);

  Node* node() const { return node_; }
  bool wants(const Node& node) {
    if (inputs_ == nullptr) return true;
    const NodeState* state = table_.lookup(&node);
    return state != nullptr && state->wanted();
  }
  void queue_callback(std::function<void()> callback) { callbacks_.push_back(std::move(callback)); }
  bool uses_other_streams() const { return streams_ != nullptr; }
  // Requires: uses_other_streams().
  void record_use_for_caller(const TensorBase& tensor) const {
    if (!tensor.defined()) return;
    record_use(tensor);
    streams_->hand_over(tensor);
  }

 private:
  struct Later {
    bool operator()(const Node* a, const Node* b) const { return a->sequence_nr() < b->sequence_nr(); }
  };

  void count_dependencies(const std::vector<Edge>& roots);
  void mark_wanted();
  void deliver(const Edge& edge, Tensor grad, const Node* from);
  void run_node(Node& node);
  void run_node_in_its_stream(Node& node);
  variable_list apply(Node& node, variable_list&& grads) const;
  void capture(const Node& node, const variable_list& grads);

  BackwardOptions options_;
  const std::vector<Edge>* inputs_;
  NodeTable table_;
  Node* node_ = nullptr;  // that is being run
  variable_list captured_;
  std::unique_ptr<BackwardStreams> streams_;     // null: all work is in the caller's
  std::deque<std::function<void()>> callbacks_;  // grows while they run
  std::priority_queue<Node*, std::vector<Node*>, Later> ready_;
};

constinit thread_local GraphTask* running __attribute__((tls_model("initial-exec"))) = nullptr;

// The shape that a gradient was broadcast from: sums over what is expanded.
Tensor sum_to_sizes(const Tensor& grad, IntArrayRef sizes) {
  const std::size_t missing = grad.sizes().size() - sizes.size();
  std::vector<std::int64_t> dims;
  for (std::size_t d = 0; d < grad.sizes().size(); ++d) {
    if (d < missing || (sizes[d - missing] == 1 && grad.sizes()[d] != 1)) dims.push_back(static_cast<std::int64_t>(d));
  }
  Tensor sum = dims.empty() ? grad : keyway::sum(grad, IntArrayRef(dims), true);
  return sum.sizes() == sizes ? sum : sum.reshape(sizes);
}

bool broadcastable_to(IntArrayRef from, IntArrayRef to) {
  if (from.size() > to.size()) return false;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    if (from[from.size() - i] != 1 && from[from.size() - i] != to[to.size() - i]) return false;
  }
  return true;
}

// The one place where gradients get the shape, dtype and device of what they are the gradients of.
void conform(Tensor& grad, const Node& node, std::uint32_t input_nr, const Node* from) {
  const InputMetadata* info = node.input_metadata(input_nr);
  if (info == nullptr) return;
  if (grad.sizes() != IntArrayRef(info->sizes)) {
    KEYWAY_CHECK_AS(Autograd, broadcastable_to(info->sizes, grad.sizes()),
                    "{} returned a gradient of shape {} for a tensor of shape {}",
                    from != nullptr ? from->name() : "backward", grad.sizes(), IntArrayRef(info->sizes));
    grad = sum_to_sizes(grad, info->sizes);
  }
  if (grad.dtype() != info->dtype) {
    // The gradient of a real tensor is real, whatever it met on the way: the conversion drops imaginary parts.
    grad = grad.to(info->dtype);
  }
  if (grad.device() != info->device) grad = grad.to(info->device);
}

// What tensors have that stand for others.
constexpr DispatchKeySet kStandIns = DispatchKeySet(Functionality::Batched) | DispatchKeySet(Functionality::Python);

// Not `in_place` where another stream may still read what nobody holds any more.
void accumulate(Tensor& sum, Tensor grad, bool in_place) {
  if (!sum.defined()) {
    sum = std::move(grad);
  } else if (in_place && !grad_enabled() && !grad.key_set().has_any(kStandIns) && sum.use_count() == 1 &&
             sum.storage().impl()->use_count() == 1 && sum.is_contiguous() && !is_view(sum)) {
    sum.add_(grad);
  } else {
    sum = sum + grad;
  }
}

void GraphTask::count_dependencies(const std::vector<Edge>& roots) {
  std::vector<Node*> stack;
  for (const Edge& root : roots) {
    if (!root || table_.contains(root.node.get())) continue;
    table_.at(root.node.get());
    stack.push_back(root.node.get());
  }
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (!edge) continue;
      const bool fresh = !table_.contains(edge.node.get());
      ++table_.at(edge.node.get()).dependencies;
      if (fresh) stack.push_back(edge.node.get());
    }
  }
}

// A node runs if it leads to an input that was asked for, or is that of a leaf which accumulates. Nodes are visited
// after those that they lead to: an explicit stack, since graphs are deep.
void GraphTask::mark_wanted() {
  for (std::size_t i = 0; i < table_.size(); ++i) table_[i].runs = false;
  for (const Edge& input : *inputs_) {
    NodeState* state = input ? table_.lookup(input.node.get()) : nullptr;
    if (state == nullptr) continue;
    state->is_input = true;
    state->runs = options_.accumulate && input.node->next_edges().empty();
  }
  struct Visit {
    Node* node;
    std::size_t next;
  };
  std::vector<bool> visited(table_.size());
  const auto number = [&](const Node* node) { return static_cast<std::size_t>(table_.lookup(node) - &table_[0]); };
  std::vector<Visit> stack;
  for (std::size_t i = 0; i < table_.size(); ++i) {
    if (visited[i]) continue;
    visited[i] = true;
    stack.push_back({table_[i].node, 0});
    while (!stack.empty()) {
      Visit& top = stack.back();
      const ArrayRef<Edge> edges = top.node->next_edges();
      if (top.next < edges.size()) {
        const Edge& edge = edges[top.next++];
        if (edge && !visited[number(edge.node.get())]) {
          visited[number(edge.node.get())] = true;
          stack.push_back({edge.node.get(), 0});
        }
        continue;
      }
      NodeState& state = *table_.lookup(top.node);
      for (const Edge& edge : edges) {
        if (edge && table_.lookup(edge.node.get())->wanted()) state.runs = true;
      }
      stack.pop_back();
    }
  }
}

void GraphTask::deliver(const Edge& edge, Tensor grad, const Node* from) {
  NodeState& state = *table_.lookup(edge.node.get());
  if (!grad.defined() || !state.wanted()) return;
  conform(grad, *edge.node, edge.input_nr, from);
  state.grads.resize(std::max(edge.node->num_inputs(), edge.input_nr + std::size_t{1}));
  Tensor& sum = state.grads[edge.input_nr];
  if (streams_) [[unlikely]]
    streams_->before_sum(edge, sum);
  accumulate(sum, std::move(grad), /*in_place=*/!streams_);
  if (streams_) [[unlikely]]
    streams_->after_sum(edge, sum);
}

void GraphTask::capture(const Node& node, const variable_list& grads) {
  for (std::size_t i = 0; i < inputs_->size(); ++i) {
    const Edge& input = (*inputs_)[i];
    if (input.node.get() != &node || input.input_nr >= grads.size()) continue;
    captured_[i] = grads[input.input_nr];
    if (streams_) record_use_for_caller(captured_[i]);
  }
}

variable_list GraphTask::apply(Node& node, variable_list&& grads) const {
  node.run_pre_hooks(grads);
  node.lock();
  struct Unlock {
    Node& locked;
    ~Unlock() { locked.unlock(); }
  } unlock{node};
  const variable_list kept = node.has_post_hooks() ? grads : variable_list();
  variable_list out = node.apply(std::move(grads));
  node.run_post_hooks(out, kept);
  if (!options_.retain_graph) node.release_variables();
  KEYWAY_CHECK_AS(Autograd, out.size() <= node.next_edges().size(), "{} returned {} gradients for {} inputs",
                  node.name(), out.size(), node.next_edges().size());
  return out;
}

// In anomaly mode: what a node returned, before anybody gets it.
KEYWAY_COLD void check_nan(const Node& node, const variable_list& grads) {
  const NoGradGuard no_grad;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    const Tensor& grad = grads[i];
    if (!grad.defined() || !is_differentiable(grad.dtype()) || grad.is_meta()) continue;
    if (grad.key_set().has(Functionality::Batched)) continue;  // of several at once nobody can be asked
    KEYWAY_CHECK_AS(Autograd, !grad.isnan().any().item().to<bool>(),
                    "Function '{}' returned nan values in its {}th output.", node.name(), i);
  }
}

void GraphTask::run_node(Node& node) {
  NodeState& state = *table_.lookup(&node);
  variable_list grads = std::move(state.grads);
  grads.resize(node.num_inputs());
  node.run_tensor_hooks(grads);
  if (state.is_input && !options_.accumulate) capture(node, grads);
  // Nobody wants a gradient from what does not run.
  if (!state.runs) return;
  variable_list out = apply(node, std::move(grads));
  if (AnomalyMode::is_enabled() && AnomalyMode::should_check_nan()) [[unlikely]]
    check_nan(node, out);
  const ArrayRef<Edge> edges = node.next_edges();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!edges[i]) continue;
    if (i < out.size()) deliver(edges[i], std::move(out[i]), &node);
    NodeState& next = *table_.lookup(edges[i].node.get());
    if (--next.dependencies == 0 && next.wanted()) ready_.push(next.node);
  }
}

void GraphTask::run_node_in_its_stream(Node& node) {
  const std::optional<StreamGuard> stream = streams_->enter(node, table_.lookup(&node)->grads);
  run_node(node);
}

variable_list GraphTask::run(const std::vector<Edge>& roots, variable_list grads) {
  count_dependencies(roots);
  if (inputs_ != nullptr) {
    captured_.resize(inputs_->size());
    mark_wanted();
  }
  streams_ = BackwardStreams::of(table_);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i]) deliver(roots[i], std::move(grads[i]), nullptr);
  }
  for (const Edge& root : roots) {
    // A root that another root leads to waits for it; one that stands twice among the roots is pushed once.
    NodeState* state = root ? table_.lookup(root.node.get()) : nullptr;
    if (state == nullptr || state->dependencies != 0 || !state->wanted()) continue;
    state->dependencies = 1;
    ready_.push(root.node.get());
  }
  while (!ready_.empty()) {
    node_ = ready_.top();
    ready_.pop();
    try {
      if (streams_) [[unlikely]]
        run_node_in_its_stream(*node_);
      else
        run_node(*node_);
    } catch (...) {
      if (AnomalyMode::is_enabled()) report_failure(*node_);
      throw;
    }
    node_ = nullptr;
  }
  if (streams_) [[unlikely]]
    streams_->join();
  for (; !callbacks_.empty(); callbacks_.pop_front()) callbacks_.front()();
  return std::move(captured_);
}

// Gradients of outputs that the caller left out are 1, which only a single element can mean.
variable_list root_gradients(std::string_view what, const std::vector<Tensor>& outputs,
                             const std::vector<Tensor>& given) {
  KEYWAY_CHECK_AS(Autograd, given.empty() || given.size() == outputs.size(),
                  "{}: {} tensors, but {} gradients for them", what, outputs.size(), given.size());
  variable_list grads;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    KEYWAY_CHECK_AS(Autograd, output.defined(), "{}: tensor {} is undefined", what, i);
    check_not_batched_or_dual(output, what);
    KEYWAY_CHECK_AS(Autograd, output.requires_grad(),
                    "{}: tensor {} does not require grad and has no graph: was it computed from a tensor that "
                    "requires grad, outside of no_grad?",
                    what, i);
    if (!given.empty() && given[i].defined()) {
      KEYWAY_CHECK_AS(Autograd, given[i].sizes() == output.sizes(),
                      "{}: tensor {} has shape {}, but its gradient has shape {}", what, i, output.sizes(),
                      given[i].sizes());
      grads.push_back(given[i]);
      continue;
    }
    KEYWAY_CHECK_AS(Autograd, output.numel() == 1 && is_floating_point(output.dtype()),
                    "{}: tensor {} of shape {} and {} has no gradient given, which only a real tensor of one element "
                    "may",
                    what, i, output.sizes(), output.dtype());
    grads.push_back(keyway::ones_like(output));
  }
  return grads;
}

bool any_is_dual(const std::vector<Tensor>& tensors) {
  return std::ranges::any_of(tensors, [](const Tensor& t) { return t.key_set().has(Functionality::ForwardAD); });
}

variable_list all_known_as(const std::vector<Tensor>& tensors) {
  variable_list known;
  for (const Tensor& tensor : tensors) known.emplace_back(unwrap_if_ended(tensor));
  return known;
}

std::vector<Edge> edges_of(const std::vector<Tensor>& tensors, std::string_view what) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    KEYWAY_CHECK_AS(Autograd, tensors[i].defined(), "{}: input {} is undefined", what, i);
    check_not_batched_or_dual(tensors[i], what);
    KEYWAY_CHECK_AS(Autograd, tensors[i].requires_grad(), "{}: input {} does not require grad", what, i);
    edges.push_back(gradient_edge(tensors[i]));
  }
  return edges;
}

std::vector<Edge> root_edges(const std::vector<Tensor>& tensors) {
  std::vector<Edge> edges;
  for (const Tensor& tensor : tensors) edges.push_back(gradient_edge(tensor));
  return edges;
}

// The state of a thread while it runs backward. A mode or an observer that the thread includes sees the calls of
// backward too, and within vmap they are made for all examples. What autograd itself says by keys begins anew: backward
// may be called below it. So does autocast, which has converted what it was to convert.
class BackwardState {
 public:
  BackwardState() : included_(take(thread_state.included)), excluded_(take(thread_state.excluded)) {
    std::swap(autocast_, thread_state.autocast);
  }
  ~BackwardState() {
    thread_state.included = (thread_state.included & ~kAnew) | included_;
    thread_state.excluded = (thread_state.excluded & ~kAnew) | excluded_;
    thread_state.autocast = autocast_;
  }
  BackwardState(const BackwardState&) = delete;
  BackwardState& operator=(const BackwardState&) = delete;

 private:
  static constexpr std::uint64_t kAnew = (kAutogradRelated | DispatchKeySet(Functionality::Autocast)).raw();
  static std::uint64_t take(std::uint64_t& keys) { return std::exchange(keys, keys & ~kAnew) & kAnew; }

  std::uint64_t included_, excluded_;
  std::uint32_t autocast_ = 0;
};

}  // namespace

Node* running_node() { return running == nullptr ? nullptr : running->node(); }

void queue_callback(std::function<void()> callback) {
  KEYWAY_CHECK_AS(Autograd, running != nullptr, "queue_callback: no backward runs in this thread");
  running->queue_callback(std::move(callback));
}

bool wanted_by_running_backward(const Node& node) { return running == nullptr || running->wants(node); }

bool backward_uses_other_streams() { return running != nullptr && running->uses_other_streams(); }

void record_use_for_caller(const TensorBase& tensor) { running->record_use_for_caller(tensor); }

variable_list run_backward(const std::vector<Edge>& roots, variable_list grads, BackwardOptions options,
                           const std::vector<Edge>* inputs) {
  KEYWAY_CHECK_AS(Autograd, !thread_state.inference, "backward cannot run in inference mode");
  const BackwardState state;
  const AutoGradMode recorded(options.create_graph);
  GraphTask task(options, inputs);
  struct Restore {
    GraphTask* outer;
    ~Restore() { running = outer; }
  } restore{std::exchange(running, &task)};
  return task.run(roots, std::move(grads));
}

void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors, bool retain_graph,
              bool create_graph, const std::vector<Tensor>& inputs) {
  if (any_is_dual(tensors) || any_is_dual(inputs)) [[unlikely]] {
    const variable_list roots = all_known_as(tensors), leaves = all_known_as(inputs);
    const auto is_same = [](const Tensor& a, const Tensor& b) { return a.is_same(b); };
    if (!std::ranges::equal(roots, tensors, is_same) || !std::ranges::equal(leaves, inputs, is_same))
      return backward(roots, grad_tensors, retain_graph, create_graph, leaves);
  }
  variable_list grads = root_gradients("backward", tensors, grad_tensors);
  const std::vector<Edge> edges = edges_of(inputs, "backward");
  for (const Tensor& input : inputs) retain_grad(input);
  run_backward(root_edges(tensors), std::move(grads), {retain_graph || create_graph, create_graph, true},
               inputs.empty() ? nullptr : &edges);
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, bool retain_graph, bool create_graph,
                         bool allow_unused) {
  if (any_is_dual(outputs) || any_is_dual(inputs) || any_is_dual(grad_outputs)) [[unlikely]]
    return forward_mode_hooks().grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused);
  KEYWAY_CHECK_AS(Autograd, !inputs.empty(), "grad: no inputs are given");
  variable_list grads = root_gradients("grad", outputs, grad_outputs);
  const std::vector<Edge> edges = edges_of(inputs, "grad");
  variable_list found =
      run_backward(root_edges(outputs), std::move(grads), {retain_graph || create_graph, create_graph, false}, &edges);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    KEYWAY_CHECK_AS(Autograd, allow_unused || found[i].defined(),
                    "grad: input {} was not used to compute the outputs: pass allow_unused=true to get an undefined "
                    "gradient",
                    i);
  }
  return found;
}

}  // namespace keyway::inline v1::autograd
