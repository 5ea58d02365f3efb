// Splicer: a graph made anew, call by call, in which calls of other graphs take the place of some.
#pragma once

#include <keyway/graph/graph.h>

#include <string>
#include <vector>

namespace keyway::inline v1::graph {

class Splicer {
 public:
  // Refers to the graph, whose calls are to be given in their order.
  explicit Splicer(const Graph& graph);

  // The new number of a value of the graph: another one if another graph gives it.
  ValueId of(ValueId id) const { return id == kNoValue ? id : now_[id_index(id)]; }

  // A call that stays.
  void add(const Node& node);

  // Calls of another graph, for these values of the graph as its arguments, and with its results in the place of
  // others. The calls stand where `site` was made, and record no gradients if that did not.
  struct Part {
    std::string what;  // for errors: "replace: the replacement"
    const Graph& graph;
    std::vector<ValueId> arguments;  // kNoValue for one that no call takes
    std::vector<ValueId> results;    // kNoValue for one that nobody asks for
    const Node& site;
    bool may_copy = false;  // a result with other strides is copied into those of what it stands for; else an error
  };
  // State of the part becomes state of the graph. Throws keyway::Error(Value) for results that are not as those that
  // they stand for.
  void add(const Part& part);

  // The graph, when all calls are given.
  Graph result();

 private:
  static std::size_t id_index(ValueId id) { return static_cast<std::size_t>(id); }
  void stand_for(ValueId id, ValueId old, const Part& part);

  const Graph& graph_;
  Graph new_;
  std::vector<ValueId> now_;    // of each value of the graph, what stands for it
  std::vector<ValueId> given_;  // what stands for results
};

}  // namespace keyway::inline v1::graph
