#include <keyway/autograd/variable.h>
#include <keyway/python/function_context.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/node_binding.h>

#include <atomic>
#include <memory>
#include <unordered_map>

namespace keyway::inline v1::python {
namespace {

std::atomic<std::size_t> binding_count{0};

// Goes from an object along references of C++. What is held as often as it was met is held by the object alone, so that
// one can go on there. Accumulators are left out: their leaves lead to them, without holding them.
class GraphWalk {
 public:
  GraphWalk(visitproc visit, void* arg) : visit_(visit), arg_(arg) {}

  void meet(const autograd::Node* node) {
    if (node == nullptr || node->next_edges().empty()) return;
    if (++met_[node] == node->use_count()) open_.push_back(node);
  }
  int run() {
    // Bounds what a collection costs; a cycle through more nodes stays.
    constexpr std::size_t kMostNodes = 10000;
    for (std::size_t i = 0; i < open_.size() && i < kMostNodes; ++i) {
      if (const autograd::NodeBinding* binding = open_[i]->binding()) {
        if (const int result = static_cast<const PythonNodeBinding*>(binding)->traverse(visit_, arg_)) return result;
      }
      for (const autograd::Edge& edge : open_[i]->next_edges()) meet(edge.node.get());
    }
    return 0;
  }

 private:
  visitproc visit_;
  void* arg_;
  std::unordered_map<const autograd::Node*, std::uint32_t> met_;
  std::vector<const autograd::Node*> open_;
};

}  // namespace

PythonNodeBinding::PythonNodeBinding() { ++binding_count; }

PythonNodeBinding::~PythonNodeBinding() {
  --binding_count;
  if (Py_IsInitialized() == 0) {  // the interpreter, and with it what was held, is gone
    for (nb::object* held : {&context, &function, &metadata, &pre_hooks, &post_hooks}) (void)held->release();
    for (nb::object& held : tensor_hooks) (void)held.release();
    return;
  }
  const LockHeld lock;
  if (context.is_valid()) nb::inst_ptr<FunctionContext>(context)->node = nullptr;
  for (nb::object* held : {&context, &function, &metadata, &pre_hooks, &post_hooks}) held->reset();
  tensor_hooks.clear();
}

bool PythonNodeBinding::exist() { return binding_count.load(std::memory_order_relaxed) > 0; }

PythonNodeBinding& PythonNodeBinding::of(autograd::Node& node) {
  if (node.binding() == nullptr) node.set_binding(std::make_unique<PythonNodeBinding>());
  return static_cast<PythonNodeBinding&>(*node.binding());
}

int PythonNodeBinding::traverse(visitproc visit, void* arg) const {
  for (const nb::object* held : {&context, &function, &metadata, &pre_hooks, &post_hooks}) Py_VISIT(held->ptr());
  for (const nb::object& held : tensor_hooks) Py_VISIT(held.ptr());
  return 0;
}

int visit_graph(const Tensor& tensor, visitproc visit, void* arg) {
  if (!PythonNodeBinding::exist() || tensor.impl()->autograd_meta() == nullptr) return 0;
  GraphWalk walk(visit, arg);
  walk.meet(autograd::last_grad_fn(tensor));
  const TensorImpl* const base = autograd::view_base(tensor).impl();
  if (base != nullptr && base->use_count() == 1) {
    walk.meet(autograd::last_grad_fn(autograd::view_base(tensor)));
  }
  return walk.run();
}

int visit_graph(const autograd::Node& node, visitproc visit, void* arg) {
  GraphWalk walk(visit, arg);
  walk.meet(&node);
  return walk.run();
}

}  // namespace keyway::inline v1::python
