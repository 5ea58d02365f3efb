// Plan: a graph that is made ready to run: no dispatch, no allocation and no check within.
//
//   graph::Plan plan(program);
//   const std::vector<Tensor> results = plan.run({x});
#pragma once

#include <keyway/graph/door.h>
#include <keyway/graph/graph.h>

#include <atomic>
#include <memory>
#include <vector>

namespace keyway::inline v1::graph {

class Frame;

class KEYWAY_API Plan {
 public:
  // Whether there are plans of the graph: it is of what is executed, and on the CPU alone.
  static bool is_possible(const Graph& graph);
  // Throws keyway::Error(NotImplemented) unless there are plans of the graph.
  explicit Plan(Graph graph);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Graph& graph() const { return graph_; }
  // Why the graph does not hold for these arguments: see run.h.
  std::optional<std::string> mismatch(ArrayRef<Tensor> arguments) const { return door_.mismatch(arguments); }
  // What graph::run gives, with the same effects. The first run, and the first of each further thread at the same time,
  // makes the graph ready. May be called from several threads. Throws as graph::run does.
  std::vector<Tensor> run(ArrayRef<Tensor> arguments);
  // The same; if the graph does not hold for the arguments, says why, and has done nothing.
  std::optional<std::string> try_run(ArrayRef<Tensor> arguments, std::vector<Tensor>& results);
  // The same without a look at the door: of inputs, in their order, for which the graph is known to hold.
  std::vector<Tensor> run_inputs(const std::vector<Tensor>& inputs);

  struct Statistics {
    std::size_t direct_calls = 0;    // of functions, with everything ready
    std::size_t chained_calls = 0;   // of these, the ones that are made block by block with others
    std::size_t other_calls = 0;     // by the dispatcher
    std::size_t parallel_calls = 0;  // of all, the ones that are made in parts beside others; known after some runs
    std::size_t parallel_parts = 0;  // how many parts there are
    std::size_t arena_bytes = 0;     // of the memory that values share
    std::size_t live_bytes = 0;      // the most of it that is needed at one time
    std::size_t learned_runs = 0;    // how many runs made the graph ready
  };
  // Of a frame that is ready; all zero before the first run.
  Statistics statistics() const;

 private:
  std::unique_ptr<Frame> take_frame();
  void give_back(std::unique_ptr<Frame> frame);

  Graph graph_;
  Door door_;
  std::vector<std::unique_ptr<Frame>> frames_;  // that no run uses
  std::atomic<std::size_t> learned_runs_ = 0;
  std::atomic<bool> is_fixed_ = true;  // false once a run gave a tensor other sizes in place
};

}  // namespace keyway::inline v1::graph
