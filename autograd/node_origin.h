// NodeOrigin: where the call of a node was made. Anomaly mode records it, and reports it when the node's backward
// fails.
#pragma once

#include <keyway/autograd/node.h>

#include <memory>
#include <string>

namespace keyway::inline v1::autograd {

struct NodeOrigin {
  // The node whose backward made the call, and in whose that one was made: "MulBackward0, recorded in that of
  // ExpBackward0". By name, since nodes that held each other might never be freed. Empty outside of a backward.
  std::string made_in;
  std::unique_ptr<NodeBinding> binding;  // what an AnomalyRecorder recorded; null for nothing

  // The origin of the call that this thread is making. May wait for the recorder's lock, so that the caller must hold
  // none of the graph's. Throws what AnomalyRecorder::record throws.
  KEYWAY_API static NodeOrigin here();
};

// Records more of each node in anomaly mode: Python installs one, which keeps the stack trace of the call. Its
// functions are called by any thread, which holds no lock of the graph but those of the nodes that it runs.
class KEYWAY_API AnomalyRecorder {
 public:
  virtual ~AnomalyRecorder();
  // What the node of the call that this thread is making is to keep as its binding(); null for nothing. `parent`: the
  // node whose backward makes the call, or null.
  virtual std::unique_ptr<NodeBinding> record(Node* parent) = 0;
  // Tells the user that the backward of `node` failed, and what is recorded of it. Called while the exception is
  // handled.
  virtual void report(Node& node) noexcept = 0;
};
// Installs a recorder from now on; null for none. It must live as long as the process.
KEYWAY_API void set_anomaly_recorder(AnomalyRecorder* recorder);

// Tells the user of a backward that failed. The recorder does it; without one the text of a keyway::Error gets the node
// as what called the operator that failed, and other exceptions cause a warning. Requires: the exception is being
// handled. It can be thrown on.
void report_failure(Node& node) noexcept;

}  // namespace keyway::inline v1::autograd
