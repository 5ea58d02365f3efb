// Capture: watches a program run, and gives its graph.
//
//   graph::Capture capture(graph::Level::Executed);
//   capture.add_argument(x, "x");
//   const Tensor y = relu(mm(x, weight));
//   const graph::Graph program = capture.finish({y});  // in a scope that has no other tensor that was computed
//   const std::vector<Tensor> again = graph::run(program, {other_x});
//
// The program runs as ever, with its results and its effects. Its calls are recorded as they pass a key, so what is
// beside the dispatcher is not: C++'s and Python's numbers, conditions and memory that is read directly. What would
// make the graph wrong without a trace is refused where it can be seen: numbers that depend on elements, errors that
// the program caught, memory that is written to directly, and tensors that the program keeps beyond its end.
#pragma once

#include <keyway/graph/graph.h>

#include <cstddef>
#include <memory>
#include <string>

namespace keyway::inline v1::graph {

class Recorder;

class KEYWAY_API Capture {
 public:
  // What happens where the graph would not be right.
  enum class Refusal : std::uint8_t {
    Throw,     // the call is an error, and so is finish()
    Continue,  // the program goes on, and finish() is the error
  };
  // Begins; calls of this thread are recorded until finish(), or until it is destroyed. Throws keyway::Error(Value) if
  // the thread is in a capture of this level already; one of each level may go on.
  explicit Capture(Level level, Refusal refusal = Refusal::Throw);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // What the program is called with: to be done before it runs. Two arguments may be one tensor, or share memory; a run
  // asks for the same then. Throws keyway::Error for a tensor of vmap or forward mode, which ends with these.
  void add_argument(const Tensor& tensor, std::string name = {});
  // From now on a call that would write to an argument or to state is refused before it does.
  void keep_inputs();
  // Ends, and gives the graph of what ran, whose results are `outputs`. Of the other tensors that it computed none may
  // be kept. Throws keyway::Error(Value) for what was refused, or if an output requires grad at Level::Executed, whose
  // graph has no history to give.
  Graph finish(const std::vector<Tensor>& outputs);
  // Whether finish() would refuse since the program keeps a tensor beside `outputs`.
  bool keeps_results(const std::vector<Tensor>& outputs) const;
  // How many calls were recorded so far: the number that the next one has in the graph.
  std::size_t call_count() const;
  // Ends without a graph; nothing if it has ended.
  void abandon();

 private:
  Recorder*& current() const;
  std::unique_ptr<Recorder> recorder_;
};

// While it lives, the captures that the thread was in do not see what it does.
class KEYWAY_API CapturesSetAside {
 public:
  CapturesSetAside();
  ~CapturesSetAside();
  CapturesSetAside(const CapturesSetAside&) = delete;
  CapturesSetAside& operator=(const CapturesSetAside&) = delete;

 private:
  Recorder* kept_[2];
  std::uint64_t kept_keys_;  // that were excluded
};

// Whether calls of this thread are recorded now.
KEYWAY_API bool is_capturing();
// For what reads or writes memory beside the dispatcher, or takes numbers out of a tensor: makes the calls that the
// thread has deferred (deferred.h), and refuses the capture that it is in, if there is one, naming what was `asked`
// for.
KEYWAY_API void refuse_within_capture(std::string_view asked);
// Refuses the captures that the thread is in for another reason. Throws, unless the program is to go on.
void refuse_captures(const std::string& reason);
// Tells where the program is, "model.py:12", for each call that is recorded. Set by the Python package.
using CallSite = std::string (*)();
KEYWAY_API void set_call_site(CallSite site);
// Where it is now; empty if nobody knows.
std::string call_site();

}  // namespace keyway::inline v1::graph
