#include <keyway/autograd/anomaly_mode.h>
#include <keyway/autograd/engine.h>
#include <keyway/autograd/node.h>
#include <keyway/autograd/node_origin.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/device/device_guard_impl.h>

#include <mutex>

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

// A thread as the nodes know it that it has locked. Its address leaves room for the bits of an owner.
struct alignas(64) Runner {
  std::uintptr_t name = 0;          // what stands in owner_ of its nodes; 0 before it locks the first one
  const Node* waits_for = nullptr;  // guarded by Waiting::lock
};
constinit thread_local Runner runner __attribute__((tls_model("initial-exec")));

// In a node's owner_ stand the address of the Runner of the thread that has locked it, in the lowest bit whether others
// wait, and in the next ones how many forks lay behind the process, modulo 32, when the thread locked its first node.
constexpr std::uintptr_t kAwaited = 1, kForks = 62;

void forget_threads();

// Threads that wait for nodes. Who unlocks a node that is awaited counts `unlocked` up, under the lock.
struct Waiting {
  ForkSafeMutex lock{LockOrder::Nodes, forget_threads};
  std::atomic<int> unlocked{0};
  std::atomic<std::uintptr_t> forks{0};     // as an owner has them
  std::atomic<std::uintptr_t> survivor{0};  // the thread that came here by the latest one
};
constinit Waiting waiting;

// In a forked child.
void forget_threads() {
  waiting.forks.store((waiting.forks.load(std::memory_order_relaxed) + 2) & kForks, std::memory_order_relaxed);
  waiting.survivor.store(runner.name, std::memory_order_relaxed);
}

// Takes the lock once, so that forks know it before there is a node that a child could wait for.
KEYWAY_COLD std::uintptr_t name_runner() {
  const std::lock_guard guard(waiting.lock);
  return runner.name = reinterpret_cast<std::uintptr_t>(&runner) | waiting.forks.load(std::memory_order_relaxed);
}
std::uintptr_t this_runner() { return runner.name != 0 ? runner.name : name_runner(); }

// Whether the thread was left behind by a fork: it will never unlock the node.
bool is_gone(std::uintptr_t owner) {
  return (owner & kForks) != waiting.forks.load(std::memory_order_relaxed) &&
         (owner & ~kAwaited) != waiting.survivor.load(std::memory_order_relaxed);
}

KEYWAY_COLD void remember_origin(Node& node) { node.set_origin(NodeOrigin::here()); }

}  // namespace

// Delegates, so that what is to be done if remembering fails takes no registers where nothing is remembered.
Node::Node() : Node(take_sequence_nr()) {
  if (AnomalyMode::is_enabled()) [[unlikely]]
    remember_origin(*this);
}
Node::~Node() { delete extras(); }
NodeBinding::~NodeBinding() = default;

std::uint64_t Node::take_sequence_nr() { return next_sequence_nr++; }

void Node::set_origin(NodeOrigin&& origin) {
  if (!origin.made_in.empty()) make_extras().made_in = std::move(origin.made_in);
  if (origin.binding) binding_ = std::move(origin.binding);
}

void Node::release_resources() {
  if (const Extras* const gone = extras()) {
    extras_.store(nullptr, std::memory_order_relaxed);
    delete gone;
  }
  binding_.reset();
}

Node::Extras& Node::make_extras() {
  if (Extras* const there = extras()) return *there;
  auto made = std::make_unique<Extras>();
  Extras* there = nullptr;
  if (extras_.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    return *made.release();
  return *there;
}

void Node::destroy_counted(Node* node) {
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

std::uint32_t Node::add_input_metadata(const TensorBase& output) {
  const Device device = output.device();
  inputs_.push_back({output.sizes(), output.dtype(), device});
  if (!device.is_cpu()) [[unlikely]]
    take_stream(device);
  return static_cast<std::uint32_t>(inputs_.size() - 1);
}

void Node::take_stream(Device device) {
  if (has_stream() || device.is_meta() || !device.has_index()) return;
  // A backend without a guard of its devices has no streams.
  const DeviceGuardImplInterface* const impl = find_device_guard_impl(device.type());
  if (impl == nullptr) return;
  stream_id_ = impl->get_stream(device).id();
  stream_device_ = device;
}

std::uint32_t Node::add_undefined_input() {
  inputs_.push_back({});
  return static_cast<std::uint32_t>(inputs_.size() - 1);
}

bool Node::should_compute_output(std::size_t i) const {
  return edges_[i] && wanted_by_running_backward(*edges_[i].node);
}

void Node::run_tensor_hooks(variable_list& grads) {
  const Extras* const more = extras();
  if (more == nullptr) return;
  more->tensor_hooks.for_each([&](const PreHook& hook) { hook(grads); });
  more->retaining_hooks.for_each([&](const PreHook& hook) { hook(grads); });
}

void Node::run_pre_hooks(variable_list& grads) {
  if (const Extras* const more = extras()) more->pre_hooks.for_each([&](const PreHook& hook) { hook(grads); });
}

void Node::run_post_hooks(variable_list& grad_inputs, const variable_list& grad_outputs) {
  const Extras* const more = extras();
  if (more == nullptr) return;
  more->post_hooks.for_each([&](const PostHook& hook) { hook(grad_inputs, grad_outputs); });
}

void Node::lock() {
  std::uintptr_t owner = 0;
  if (!owner_.compare_exchange_strong(owner, this_runner(), std::memory_order_acq_rel, std::memory_order_relaxed) &&
      (owner & ~kAwaited) != this_runner()) [[unlikely]]
    wait_and_lock();
  ++depth_;
}

void Node::unlock() {
  if (--depth_ != 0) return;
  if ((owner_.exchange(0, std::memory_order_release) & kAwaited) == 0) [[likely]]
    return;
  {
    const std::lock_guard guard(waiting.lock);
    waiting.unlocked.fetch_add(1, std::memory_order_relaxed);
  }
  waiting.unlocked.notify_all();
}

// A thread waits for one node at a time, so who waits for whom are chains: one that leads back to this thread would be
// a wait without end, and who closes it is told. What a chain reads is there: the owner of a node that is awaited
// cannot finish its unlock(), nor end, while the lock is held here. A node that is not awaited has been unlocked, and
// who waited for it looks again. A ring of others is one that such a thread has still to see: here it only must not be
// followed for ever, so a node is marked after 1, 2, 4 ... steps, and a chain that comes back to the mark is a ring.
void Node::wait_and_lock() {
  const auto closes_a_ring = [this] {
    const Node* mark = this;
    std::uint32_t steps = 0, until_mark = 1;
    for (const Node* node = this; node != nullptr;) {
      // Acquires what its thread has made of the Runner.
      const std::uintptr_t owner = node->owner_.load(std::memory_order_acquire);
      if ((owner & kAwaited) == 0) return false;
      if (is_gone(owner)) return false;  // who waits for it will be told
      const auto* const its = reinterpret_cast<const Runner*>(owner & ~(kAwaited | kForks));
      if (its == &runner) return true;
      node = its->waits_for;
      if (node == mark) return false;
      if (++steps == until_mark) {
        mark = node;
        until_mark *= 2;
      }
    }
    return false;
  };
  for (;;) {
    int unlocked = 0;
    bool fails = false, gone = false;
    {
      const std::lock_guard guard(waiting.lock);
      runner.waits_for = nullptr;
      std::uintptr_t owner = owner_.load(std::memory_order_relaxed);
      if (owner == 0) {
        if (owner_.compare_exchange_strong(owner, this_runner(), std::memory_order_acq_rel, std::memory_order_relaxed))
          return;
        continue;
      }
      gone = is_gone(owner);
      if (!gone && (owner & kAwaited) == 0 &&
          !owner_.compare_exchange_strong(owner, owner | kAwaited, std::memory_order_relaxed))
        continue;
      fails = !gone && closes_a_ring();
      if (!fails && !gone) runner.waits_for = this;
      unlocked = waiting.unlocked.load(std::memory_order_relaxed);
    }
    KEYWAY_CHECK_AS(Autograd, !fails,
                    "{}: its backward is being run by another thread, which waits for a node that this thread is "
                    "running: two backwards that run each other's graph cannot do so at the same time, in two threads",
                    name());
    KEYWAY_CHECK_AS(Autograd, !gone,
                    "{}: its backward was being run by another thread when this process was forked, and that thread is "
                    "not here: the graph cannot be used in this process",
                    name());
    waiting.unlocked.wait(unlocked, std::memory_order_relaxed);
  }
}

}  // namespace keyway::inline v1::autograd
