#include <keyway/autograd/variable.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/dispatch/call/call_declined.h>
#include <keyway/dispatch/plugin/graph_library.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/graph_backend.h>
#include <keyway/graph/memory_layout.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

namespace keyway::inline v1::graph {

CompiledGraph::~CompiledGraph() = default;
std::string CompiledGraph::how() const { return {}; }
GraphBackend::~GraphBackend() = default;

namespace {

// Guards which backends there are, and what they have compiled.
constinit ForkSafeMutex backends_mutex(LockOrder::Plans);

}  // namespace

// A backend that is registered, and what it has compiled. Its code is entered by a Use alone, so that it can be
// withdrawn.
struct ServedBackend {
  explicit ServedBackend(DeviceType its_type, std::shared_ptr<GraphBackend> its_backend)
      : type(its_type), backend(std::move(its_backend)) {}

  class Use {
   public:
    explicit Use(ServedBackend& served) : served_(served), is_there_((served.users.fetch_add(1) & kWithdrawn) == 0) {}
    ~Use() {
      if (served_.users.fetch_sub(1) == kWithdrawn + 1) served_.users.notify_all();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    explicit operator bool() const { return is_there_; }

   private:
    ServedBackend& served_;
    const bool is_there_;
  };

  CompiledGraph* keep(std::unique_ptr<CompiledGraph> graph) {
    const std::lock_guard lock(backends_mutex);
    return compiled.insert(std::move(graph)).first->get();
  }
  std::unique_ptr<CompiledGraph> take(CompiledGraph* graph) {
    const std::lock_guard lock(backends_mutex);
    const auto found = std::ranges::find(compiled, graph, &std::unique_ptr<CompiledGraph>::get);
    return found == compiled.end() ? nullptr : std::move(compiled.extract(found).value());
  }
  void withdraw() {
    users.fetch_or(kWithdrawn);
    for (unsigned now = users.load(); now != kWithdrawn; now = users.load()) users.wait(now);
    compiled.clear();
    backend.reset();
  }

  const DeviceType type;
  std::shared_ptr<GraphBackend> backend;
  static constexpr unsigned kWithdrawn = 1u << 31;
  std::atomic<unsigned> users{0};  // threads in the backend's code; and whether it is withdrawn
  std::set<std::unique_ptr<CompiledGraph>> compiled;
};

namespace {

struct Backends {
  std::vector<std::shared_ptr<ServedBackend>> all;
  std::atomic<std::uint64_t> changes{0};
};

Backends& backends() {
  static Backends& all = *new Backends;  // never destroyed: a plug-in may stay until the process ends
  return all;
}

std::shared_ptr<ServedBackend> backend_of(DeviceType type) {
  const std::lock_guard lock(backends_mutex);
  const auto found = std::ranges::find(backends().all, type, &ServedBackend::type);
  return found == backends().all.end() ? nullptr : *found;
}

// That of the graph's tensors beside the CPU; nothing if they lie on several.
std::optional<DeviceType> device_type_of(const Graph& graph) {
  std::optional<DeviceType> type;
  for (const Value& value : graph.values) {
    const Device device = value.info.device;
    if (device.is_cpu() || type == device.type()) continue;
    if (type) return std::nullopt;
    type = device.type();
  }
  return type ? type : DeviceType::CPU;
}

// As a backend gets it: all inputs are arguments, and gradients of leaves are outputs.
Graph for_backend(const Graph& graph) {
  Graph given = graph;
  for (const LeafGrad& grad : given.grads) given.outputs.push_back(grad.grad);
  given.grads.clear();
  for (Input& input : given.inputs) input = {input.value, input.name};
  return given;
}

void check_outputs(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                   DeviceType type) {
  KEYWAY_CHECK_AS(Internal, outputs.size() == graph.outputs.size() + graph.grads.size(),
                  "the graph backend of {} gave {} outputs, but the graph has {}", type, outputs.size(),
                  graph.outputs.size() + graph.grads.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_grad = i >= graph.outputs.size();
    const ValueId id = is_grad ? graph.grads[i - graph.outputs.size()].grad : graph.outputs[i];
    KEYWAY_CHECK_AS(Internal, outputs[i].defined() == (id != kNoValue),
                    "the graph backend of {} gave output {} {} tensor, which the graph has otherwise", type, i,
                    outputs[i].defined() ? "a" : "no");
    if (id == kNoValue) continue;
    const Value& value = graph.values[index(id)];
    KEYWAY_CHECK_AS(Internal, value.info.is_of(outputs[i]),
                    "the graph backend of {} gave {} as output {}, but the graph has {}", type, TensorInfo(outputs[i]),
                    i, value.info);
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      const bool shares = memory_of(graph, graph.inputs[j].value) == value.memory;
      KEYWAY_CHECK_AS(Internal, !inputs[j].defined() || outputs[i].is_alias_of(inputs[j]) == shares,
                      "output {} of the graph backend of {} {} memory with input {}, which the graph has otherwise", i,
                      type, shares ? "shares no" : "shares", j);
    }
  }
}

}  // namespace

GraphBackendRegistration::GraphBackendRegistration(GraphBackendRegistration&&) noexcept = default;

GraphBackendRegistration& GraphBackendRegistration::operator=(GraphBackendRegistration&& other) noexcept {
  std::swap(served_, other.served_);
  return *this;
}

GraphBackendRegistration::~GraphBackendRegistration() {
  if (served_ == nullptr) return;
  {
    const std::lock_guard lock(backends_mutex);
    std::erase(backends().all, served_);
    ++backends().changes;
  }
  served_->withdraw();
}

GraphBackendRegistration register_graph_backend(DeviceType type, std::shared_ptr<GraphBackend> backend) {
  KEYWAY_CHECK(backend != nullptr, "graph backend of {}: it is null", type);
  KEYWAY_CHECK(type != DeviceType::CPU, "graph backend of cpu: graphs of the CPU are plans");
  GraphBackendRegistration handle;
  handle.served_ = std::make_shared<ServedBackend>(type, std::move(backend));
  const std::lock_guard lock(backends_mutex);
  const bool is_new = std::ranges::find(backends().all, type, &ServedBackend::type) == backends().all.end();
  if (!is_new) handle.release();
  KEYWAY_CHECK_AS(Registration, is_new, "graph backend of {}: the device type has one", type);
  backends().all.push_back(handle.served_);
  ++backends().changes;
  return handle;
}

Compilation::Compilation(const Graph& graph) : registrations_(backends().changes) {
  if (graph.level != Level::Executed) {
    why_not_ = "it is of the program as written, whose calls record gradients";
    return;
  }
  const std::optional<DeviceType> type = device_type_of(graph);
  if (!type) {
    why_not_ = "its tensors lie on devices of several types";
    return;
  }
  served_ = backend_of(*type);
  std::string problem;
  if (served_ == nullptr) {
    problem = load_graph_library(*type);
    registrations_ = backends().changes;
    served_ = backend_of(*type);
  }
  if (served_ != nullptr) {
    const ServedBackend::Use use(*served_);
    if (use) {
      try {
        std::unique_ptr<CompiledGraph> compiled = served_->backend->compile(for_backend(graph));
        KEYWAY_CHECK_AS(Internal, compiled != nullptr, "the graph backend of {} compiled a graph to nothing", *type);
        compiled_ = served_->keep(std::move(compiled));
        written_ = written_inputs(graph);
        return;
      } catch (const CallDeclined& declined) {
        why_not_ = "the graph backend of " + std::string(to_string(*type)) +
                   " declined it: " + std::string(declined.message());
      }
      return;
    }
  }
  served_ = nullptr;
  why_not_ = "no graph backend serves " + std::string(to_string(*type)) + (problem.empty() ? "" : ": " + problem);
}

Compilation::~Compilation() {
  if (compiled_ == nullptr) return;
  const ServedBackend::Use use(*served_);
  if (use) served_->take(compiled_).reset();
}

std::string Compilation::how() const {
  const std::string text = "by the graph backend of " + std::string(to_string(served_->type));
  const ServedBackend::Use use(*served_);
  const std::string more = use ? compiled_->how() : std::string();
  return more.empty() ? text : text + ", " + more;
}

bool Compilation::is_outdated() const { return registrations_ != backends().changes; }

std::optional<std::vector<Tensor>> Compilation::run(const Graph& graph, const std::vector<Tensor>& inputs) {
  if (compiled_ == nullptr) return std::nullopt;
  const ServedBackend::Use use(*served_);
  if (!use) return std::nullopt;
  const ExcludeDispatchKeyGuard above(DispatchKeySet(Functionality::Autocast) | kAutogradKeys);
  for (const std::size_t number : written_) own_bytes(inputs[number].storage());
  std::vector<Tensor> outputs = compiled_->run(inputs);
  check_outputs(graph, inputs, outputs, served_->type);
  for (const std::size_t number : written_) inputs[number].storage().impl()->bump_version();
  for (std::size_t i = 0; i < graph.grads.size(); ++i) {
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      if (graph.inputs[j].value != graph.grads[i].leaf) continue;
      autograd::set_grad(inputs[j], outputs[graph.outputs.size() + i]);
      break;
    }
  }
  outputs.resize(graph.outputs.size());
  return outputs;
}

}  // namespace keyway::inline v1::graph
