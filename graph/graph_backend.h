// GraphBackend: what a backend implements that takes whole graphs instead of calls.
//
//   class Compiler final : public graph::GraphBackend {
//     std::unique_ptr<graph::CompiledGraph> compile(const graph::Graph& graph) override { ... }
//   };
//   KEYWAY_PLUGIN(npu, plugin) {
//     const DeviceType npu = register_device_type("npu");
//     plugin.keep(register_device_backend(npu));
//     plugin.keep(graph::register_graph_backend(npu, std::make_shared<Compiler>()));
//   }
#pragma once

#include <keyway/graph/graph.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

// A graph as a backend has compiled it.
class KEYWAY_API CompiledGraph {
 public:
  virtual ~CompiledGraph();
  // The graph's outputs for these inputs, of which there is one for each of the graph's, as it has them: an argument, a
  // piece of state, a gradient that a leaf keeps. They have the dtypes, devices, sizes and strides that the graph says,
  // share memory as its values do, and what it writes to is written to. Outputs that are inputs or lie in their memory
  // are the input or a view of it. Called by several threads at once, for each with the keys of Autograd excluded.
  virtual std::vector<Tensor> run(const std::vector<Tensor>& inputs) = 0;
  // How it runs, for people: "as a CUDA graph of 12 calls". Empty: there is nothing to say. Called as run() is.
  virtual std::string how() const;
};

class KEYWAY_API GraphBackend {
 public:
  virtual ~GraphBackend();
  // A graph of what is executed, whose tensors lie on devices of the backend's type, or on the CPU. All its inputs are
  // arguments, state too, and gradients of leaves are outputs, behind those of the program. It lives until this
  // returns. What it does not compile it declines: it throws CallDeclined (dispatch/call/call_declined.h) with the
  // reason, and the calls of the graph are made one after the other. Called by several threads at once.
  virtual std::unique_ptr<CompiledGraph> compile(const Graph& graph) = 0;
};

struct ServedBackend;

// Withdraws a backend when it goes: waits until no thread is in its code, and lets go of all that it has compiled;
// these graphs run call by call then. Requires: it is not within that code itself. Handed to Plugin::keep(), it goes
// with the plug-in.
class KEYWAY_API GraphBackendRegistration {
 public:
  GraphBackendRegistration() noexcept = default;
  GraphBackendRegistration(GraphBackendRegistration&&) noexcept;
  GraphBackendRegistration& operator=(GraphBackendRegistration&&) noexcept;
  ~GraphBackendRegistration();
  // Keeps the registration as long as the process runs.
  void release() noexcept { served_ = nullptr; }

 private:
  friend KEYWAY_API GraphBackendRegistration register_graph_backend(DeviceType type,
                                                                    std::shared_ptr<GraphBackend> backend);
  std::shared_ptr<ServedBackend> served_;
};

// Has the backend be asked for graphs of a device type until the handle goes. Throws keyway::Error: Value for no
// backend, and for the CPU, whose graphs are plans; Registration if the type has one.
[[nodiscard]] KEYWAY_API GraphBackendRegistration register_graph_backend(DeviceType type,
                                                                         std::shared_ptr<GraphBackend> backend);

// A graph that a backend has compiled, for who runs it. Internal.
class Compilation {
 public:
  // Asks the backend of the graph's devices, which may be a library of its own: libkeyway_<type>_graph.so, loaded as
  // libkeyway_<type>.so is. Where there is none, or it declines, why_not() says so.
  explicit Compilation(const Graph& graph);
  ~Compilation();
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  const std::string& why_not() const { return why_not_; }
  // "by the graph backend of npu", and how that says it does. Requires: it was compiled.
  std::string how() const;
  // Whether another answer is to be expected by now: a backend has come, or this one has gone.
  bool is_outdated() const;
  // The outputs, with all effects; nothing if the backend has been withdrawn, and then nothing was done.
  std::optional<std::vector<Tensor>> run(const Graph& graph, const std::vector<Tensor>& inputs);

 private:
  std::uint64_t registrations_;  // that there had been when it was asked for
  std::string why_not_;
  std::shared_ptr<ServedBackend> served_;
  CompiledGraph* compiled_ = nullptr;  // the backend's, which frees it when it is withdrawn
  std::vector<std::size_t> written_;   // the inputs in whose memory it writes, by number
};

}  // namespace keyway::inline v1::graph
