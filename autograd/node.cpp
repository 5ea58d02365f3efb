#include <keyway/autograd/anomaly_mode.h>
#include <keyway/autograd/engine.h>
#include <keyway/autograd/node.h>
#include <keyway/autograd/node_origin.h>

#include <thread>

namespace keyway::inline v1::autograd {

namespace {

// Read through the initial-exec model, like all state of a thread that the path of a call needs.
constinit thread_local std::uint64_t next_sequence_nr __attribute__((tls_model("initial-exec"))) = 0;

// Nodes that wait to be freed by this thread, and whether it is freeing.
struct DestroyList {
  Node* head = nullptr;
  bool running = false;
};
constinit thread_local DestroyList destroy_list __attribute__((tls_model("initial-exec")));

// An address that tells threads apart.
const void* this_thread_token() { return &next_sequence_nr; }

KEYWAY_COLD void remember_origin(Node& node) { node.set_origin(NodeOrigin::here()); }

}  // namespace

// Delegates, so that what is to be done if remembering fails takes no registers where nothing is remembered.
Node::Node() : Node(take_sequence_nr()) {
  if (AnomalyMode::is_enabled()) [[unlikely]]
    remember_origin(*this);
}
Node::~Node() = default;
NodeBinding::~NodeBinding() = default;

std::uint64_t Node::take_sequence_nr() { return next_sequence_nr++; }

void Node::set_origin(NodeOrigin&& origin) {
  if (!origin.made_in.empty()) make_extras().made_in = std::move(origin.made_in);
  if (origin.binding) binding_ = std::move(origin.binding);
}

void Node::release_resources() {
  extras_.reset();
  binding_.reset();
}

void Node::destroy(Node* node) {
  node->next_to_destroy_ = destroy_list.head;
  destroy_list.head = node;
  if (destroy_list.running) return;
  destroy_list.running = true;
  while (Node* head = destroy_list.head) {
    destroy_list.head = head->next_to_destroy_;
    head->binding_.reset();  // first: who reaches the node through it finds it whole until then
    delete head;
  }
  destroy_list.running = false;
}

std::uint32_t Node::add_output(const TensorBase& output) {
  outputs_.push_back({output.sizes(), output.dtype(), output.device()});
  return static_cast<std::uint32_t>(outputs_.size() - 1);
}

std::uint32_t Node::add_undefined_output() {
  outputs_.push_back({});
  return static_cast<std::uint32_t>(outputs_.size() - 1);
}

bool Node::needs_input_grad(std::size_t i) const { return edges_[i] && wanted_by_running_backward(*edges_[i].node); }

// Copies of the lists are run through: a hook may add others.
void Node::run_tensor_hooks(variable_list& grads) {
  if (!extras_) return;
  for (const PreHook& hook : std::vector<PreHook>(extras_->tensor_hooks)) hook(grads);
  for (const PreHook& hook : std::vector<PreHook>(extras_->retaining_hooks)) hook(grads);
}

void Node::run_pre_hooks(variable_list& grads) {
  if (!extras_) return;
  for (const PreHook& hook : std::vector<PreHook>(extras_->pre_hooks)) hook(grads);
}

void Node::run_post_hooks(variable_list& grad_inputs, const variable_list& grad_outputs) {
  if (!extras_) return;
  for (const PostHook& hook : std::vector<PostHook>(extras_->post_hooks)) hook(grad_inputs, grad_outputs);
}

void Node::lock() {
  const void* me = this_thread_token();
  if (owner_.load(std::memory_order_relaxed) == me) {
    ++depth_;
    return;
  }
  const void* nobody = nullptr;
  while (!owner_.compare_exchange_weak(nobody, me, std::memory_order_acquire, std::memory_order_relaxed)) {
    nobody = nullptr;
    std::this_thread::yield();
  }
  depth_ = 1;
}

void Node::unlock() {
  if (--depth_ == 0) owner_.store(nullptr, std::memory_order_release);
}

}  // namespace keyway::inline v1::autograd
