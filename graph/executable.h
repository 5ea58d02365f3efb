// Executable: a graph with the best way there is to run it: as a plan, by the backend of its devices, or call by call.
//
//   graph::Executable program(captured);
//   const std::vector<Tensor> results = program.run({x});
#pragma once

#include <keyway/graph/graph_backend.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/run.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

class KEYWAY_API Executable {
 public:
  explicit Executable(Graph graph);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const Graph& graph() const { return plan_ == nullptr ? calls_->graph() : plan_->graph(); }
  // As those of Plan. The backend is asked for the graph in the first run, or in those that are
  // the first at the same time, and again when one has come or gone.
  std::optional<std::string> mismatch(ArrayRef<Tensor> arguments) const;
  std::vector<Tensor> run(ArrayRef<Tensor> arguments);
  std::optional<std::string> try_run(ArrayRef<Tensor> arguments, std::vector<Tensor>& results);

  // How it runs: "as a plan", and how many calls run beside others; "by the graph backend of npu", with what that says;
  // or "call by call: " with the reason.
  std::string how() const;
  // Of the plan; all zero where there is none.
  Plan::Statistics statistics() const;

 private:
  std::shared_ptr<Compilation> compilation();

  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Interpreter> calls_;  // where there is no plan
  std::unique_ptr<Door> door_;          // of the graph in calls_
  std::shared_ptr<Compilation> compilation_;
};

}  // namespace keyway::inline v1::graph
