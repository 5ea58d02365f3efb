// NodeOrigin: where the call of a node was made. Anomaly mode remembers it, and tells it when the node's backward
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
  std::unique_ptr<NodeBinding> binding;  // what another language remembers; null for nothing

  // Of the call that this thread is making. May wait for that language's lock, so that the caller must hold none of the
  // graph's. Throws what remembering throws.
  KEYWAY_API static NodeOrigin here();
};

// Another language in which calls are made. Its functions are called by any thread, which holds no lock of the graph
// but those of the nodes that it runs.
class KEYWAY_API OriginKeeper {
 public:
  virtual ~OriginKeeper();
  // What the node of the call that this thread is making is to keep in its slot; null for nothing. `parent`: the node
  // whose backward makes the call, or null.
  virtual std::unique_ptr<NodeBinding> remember(Node* parent) = 0;
  // Tells the user that the backward of `node` failed, and what is remembered of it. Called while the exception is
  // handled.
  virtual void tell(Node& node) noexcept = 0;
};
// From now on; null for none. It must live as long as the process.
KEYWAY_API void set_origin_keeper(OriginKeeper* keeper);

// Tells the user of a backward that failed. The keeper does it; without one the text of a keyway::Error has the node as
// what called the operator that failed, and of other exceptions there is a warning. Requires: the exception is being
// handled. It can be thrown on.
void tell_failure(Node& node) noexcept;

}  // namespace keyway::inline v1::autograd
