#include <keyway/autograd/anomaly_mode.h>
#include <keyway/autograd/node_origin.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/node_binding.h>
#include <keyway/python/node_object.h>
#include <keyway/python/python_call.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1::python {
namespace {

using autograd::AnomalyMode;
using autograd::Node;

// Of a node's metadata, as in PyTorch.
constexpr const char* kStack = "traceback_";
constexpr const char* kParent = "parent_";

// What a node's metadata has of this name; null if it has none.
nb::object remembered(const Node& node, const char* name) {
  const auto* const binding = static_cast<const PythonNodeBinding*>(node.binding());
  if (binding == nullptr || !binding->metadata.is_valid()) return {};
  return nb::borrow(PyDict_GetItemString(binding->metadata.ptr(), name));
}

nb::object sentence(const std::string& before, const nb::object& after) {
  return checked(PyUnicode_FromFormat("%s%U", before.c_str(), after.ptr()));
}

nb::object warning(const Node& node, bool is_parent) {
  const std::string name = node.name();
  const std::string what =
      is_parent ? "\n\nPrevious calculation was induced by " + name + ". " : "Error detected in " + name + ". ";
  const nb::object stack = remembered(node, kStack);
  if (!stack.is_valid()) {
    return sentence(what, nb::str("No forward pass information available. Enable detect anomaly during forward pass "
                                  "for more information."));
  }
  const nb::object text = checked(PyUnicode_Join(nb::str("").ptr(), stack.ptr()));
  return sentence(what + (is_parent ? "Traceback of forward call that induced the previous calculation:\n"
                                    : "Traceback of forward call that caused the error:\n"),
                  text);
}

// The node, the one whose backward made it, and so on.
std::vector<nb::object> warnings_of(const Node& failed) {
  std::vector<nb::object> texts;
  std::vector<const Node*> nodes;
  const Node* node = &failed;
  nb::object parent;
  while (std::ranges::find(nodes, node) == nodes.end()) {  // what is in the metadata is for users to change
    texts.push_back(warning(*node, !nodes.empty()));
    nodes.push_back(node);
    parent = remembered(*node, kParent);
    if (!parent.is_valid() || !nb::isinstance<NodeObject>(parent) || !nb::inst_ptr<NodeObject>(parent)->node) break;
    node = nb::inst_ptr<NodeObject>(parent)->node.get();
  }
  return texts;
}

class PythonAnomalyRecorder final : public autograd::AnomalyRecorder {
 public:
  std::unique_ptr<autograd::NodeBinding> record(Node* parent) override {
    if (Py_IsInitialized() == 0) return nullptr;
    const LockHeld lock;
    nb::dict metadata;
    // A thread of C++ has no stack, for which format_stack would give its own.
    if (PyEval_GetFrame() != nullptr)
      metadata[kStack] = call_python(nb::module_::import_("traceback").attr("format_stack"), nullptr, 0);
    if (parent != nullptr) metadata[kParent] = to_object(intrusive_ptr<Node>::retain(parent));
    if (metadata.size() == 0) return nullptr;
    auto binding = std::make_unique<PythonNodeBinding>();
    binding->metadata = std::move(metadata);
    return binding;
  }

  void report(Node& node) noexcept override {
    if (Py_IsInitialized() == 0) return;
    const LockHeld lock;
    try {
      const nb::object warn = nb::module_::import_("warnings").attr("warn");
      for (const nb::object& text : warnings_of(node)) call_function(warn, text);
    } catch (...) {  // the error that is told of goes on, not what a filter makes of the warning
      set_python_error();
      tell_unraisable();
    }
  }
};

}  // namespace

void add_anomaly_mode(nb::module_& module, nb::module_& internal) {
  static auto* const recorder = new PythonAnomalyRecorder;  // as long as the process
  autograd::set_anomaly_recorder(recorder);
  module.def("is_anomaly_enabled", AnomalyMode::is_enabled, "Whether anomaly mode is on, for all threads.");
  module.def("is_anomaly_check_nan_enabled", AnomalyMode::should_check_nan,
             "Whether anomaly mode, if it is on, looks for NaN among gradients.");
  internal.def("set_anomaly_enabled", &AnomalyMode::set_enabled, nb::arg("enabled"), nb::arg("check_nan") = true,
               "Turns anomaly mode on or off.");
}

}  // namespace keyway::inline v1::python
