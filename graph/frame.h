// Frame: all that one run of a plan needs, made ready once: a tensor for each value of the graph, and its calls, for
// these tensors.
#pragma once

#include <keyway/dispatch/call/direct_call.h>
#include <keyway/graph/chain.h>
#include <keyway/graph/forced_sections.h>
#include <keyway/graph/frame_results.h>
#include <keyway/graph/graph.h>
#include <keyway/graph/memory_layout.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/plan.h>
#include <keyway/graph/section_runner.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace keyway::inline v1::graph {

class Frame {
 public:
  // Makes the calls once, with their effects, and so learns how to make them again. Refers to the graph. `results` are
  // those of this run. Requires: the graph holds for the inputs.
  Frame(const Graph& graph, const std::vector<Tensor>& inputs, std::vector<Tensor>& results);

  std::vector<Tensor> run(const std::vector<Tensor>& inputs);

  // Whether the frame may run again: not if a call gave a tensor other sizes in place, as out= overloads may.
  bool is_fixed() const;
  // Whether the operators' kernels are those that the calls were learned with.
  bool is_current() const;

  // But how many runs have learned.
  Plan::Statistics statistics() const;

 private:
  // Who makes the memory of a value, and how long it is.
  enum class Place : std::uint8_t {
    Input,    // an argument's or a state's
    Output,   // new in each run, since it leaves it
    Arena,    // the frame's own
    Dynamic,  // that which a call has returned
    Chain,    // a chain's own, block by block
  };
  // A call: by its function, or, where it has none that could be called by itself, by the dispatcher; or a chain of
  // calls.
  struct Step {
    std::unique_ptr<DirectCall> direct;
    const Node* node;
    Stack arguments;  // with tensors
    std::unique_ptr<Chain> chain = nullptr;
    std::vector<const Node*> chained = {};  // the nodes of the chain
  };

  TensorBase& tensor(ValueId id) { return tensors_[index(id)]; }
  void make_tensors(const std::vector<Tensor>& inputs);
  // Lets all tensors of a memory lie in that storage. Functions write to them without the dispatcher, so what is
  // written to gets bytes of its own (core/tensor/copy_on_write.h).
  void place(ValueId memory, const Storage& storage);
  void place_inputs(const std::vector<Tensor>& inputs);
  void place_outputs();
  // Throws unless the storage has room for all that lies in the memory.
  void check_room(ValueId memory, const Storage& storage) const;
  void make_steps();
  // Lets go of the memory of arguments and results.
  void release();

  void learn(const Node& node);
  // Makes the call, and checks that what the graph says of its results is so: a graph may come from a text.
  void check_view(const Node& node);
  // The same for a call whose result is new memory with something plain in it, which lies in the frame's own memory
  // then. False, and nothing is learned, if it is none such.
  bool learn_plain(const Node& node);
  TensorBase result_on_meta(const Node& node);
  // The call as its function gets it; null if it cannot be called by itself.
  std::unique_ptr<DirectCall> call_watched(const OperatorEntry& op, const Stack& arguments, Stack& results);
  bool use_own_tensors(DirectCall& call, const Node& node, const Stack& arguments, const Stack& results);
  // Lets what a call gave by the dispatcher be its values, if it is what the graph says.
  void take_results(const Node& node, const Stack& arguments, const Stack& results);
  void make_call(Step& step);
  std::size_t number_of(const Step& step) const;  // of its node
  // What a pointwise call writes may lie where it reads what nobody needs any longer, element on element.
  void find_heirs();
  // Makes chains of steps, where there can be any.
  void join_chains();
  // Those that chains have made places for, and those where a call of a chain writes what another one reads in other
  // blocks.
  void drop_heirs();
  // The calls from a step on that may be a chain, up to one that is not pointwise.
  std::vector<Chain::Call> pointwise_calls(std::size_t first);
  // The tensors that are made and used by the steps [begin, end) alone.
  std::vector<TensorBase> passing_tensors(std::size_t begin, std::size_t end);
  StepUse use_of(const Step& step) const;
  void find_sections();
  // Runs from now on are in sections of so many parts at most.
  void use_runner(std::size_t most);
  // Before a run: lays memory out anew if steps run in other sections than in the one before.
  void follow_sections();
  void lay_out_memory();
  // Says that calls have written to inputs.
  void note_writes(const std::vector<Tensor>& inputs) const;

  const Graph& graph_;
  std::vector<TensorBase> tensors_;              // of the values
  std::vector<const Node*> makers_;              // of the values, but of inputs
  std::vector<std::vector<ValueId>> in_memory_;  // by their memory
  std::vector<Place> places_;                    // of each memory
  std::vector<std::size_t> bytes_;               // of each memory: what the values in it take
  std::vector<bool> is_written_;                 // of each memory: whether calls write to it
  std::vector<Lifetime> lifetimes_;              // of each memory, in nodes
  std::vector<std::pair<std::size_t, std::size_t>>
      heirs_;  // memories, and those whose places they may take, in the order of calls
  std::vector<ValueId> output_memories_, dynamic_memories_;
  std::map<const OperatorEntry*, const Table*> tables_;  // of the operators, when the calls were learned
  std::vector<std::size_t> written_inputs_;              // by number
  std::vector<Step> steps_;
  std::vector<StepUse> uses_;                     // of each step
  std::map<std::size_t, SectionRunner> runners_;  // by how many parts a section may have
  SectionRunner* runner_ = nullptr;               // null where steps are made one after the other, as they stand
  const SectionRunner* laid_out_for_ = nullptr;   // whose sections memory is laid out for; null: for steps in order
  std::size_t most_parts_ = 1;                    // that a section of the runner may have
  bool is_forced_ = ForcedSections::are_asked_for();
  FrameResults results_;
  bool is_learned_ = false;
  Storage nothing_, arena_memory_;
  ArenaLayout layout_;
  std::size_t direct_calls_ = 0, chained_calls_ = 0, other_calls_ = 0;
};

}  // namespace keyway::inline v1::graph
