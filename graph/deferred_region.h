// DeferredRegion: records the calls of a region, and makes them.
#pragma once

#include <keyway/core/device/stream.h>
#include <keyway/graph/deferred.h>
#include <keyway/graph/graph.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace keyway::inline v1::graph {

// A result has its tensor, and a storage without data, when its call is recorded. It and what a recorded call writes to
// have the key Functionalize until the flush, so that a call in any thread comes here first.
class DeferredRegion {
 public:
  virtual ~DeferredRegion() = default;
  // A call at the key Functionalize of the region's thread, for the keys below: the arguments become the results.
  // Virtual as what captures call is: so a program that links them has this code only if it has regions.
  virtual void call(const OperatorEntry& op, DispatchKeySet below, Stack& values);
  // Makes the recorded calls. May be called from any thread.
  virtual void flush(const std::string& why);
  // Flushes if the tensor waits for a call of this region; whether it did.
  virtual bool flush_if_pending(const TensorBase& tensor, const std::string& why);
  bool has(const TensorBase& tensor) const;
  Deferred::Statistics statistics() const;
  std::string explain() const;

 private:
  // What tensors of recorded calls lie in.
  struct Memory {
    Storage storage = {};                          // one from elsewhere, kept until the flush
    weak_intrusive_ptr<StorageImpl> pending = {};  // one that a recorded call is to fill
    std::vector<ValueId> values = {};              // that lie in it
  };
  // Recorded and not made yet.
  struct Recorded {
    Graph graph = {};
    std::unordered_map<const StorageImpl*, Memory> memories = {};
    std::vector<const StorageImpl*> inputs = {};              // the memory of each input of the graph
    std::vector<weak_intrusive_ptr<TensorImpl>> marked = {};  // that have the key
    std::optional<Stream> stream = std::nullopt;              // of a device, in which the calls belong
  };

  // Flushes if the call belongs to another state of the thread than those before it.
  void follow_surroundings(const Stack& values);
  // False if the call cannot be recorded after all.
  bool record(const OperatorEntry& op, Stack& values, const std::string& site);
  ValueId value_of(const TensorBase& tensor);
  // Whether the results of the call that was added last are new tensors, or arguments that it wrote to.
  bool gives_new_tensors(const Stack& arguments, const Stack& results) const;
  TensorBase pending_tensor(ValueId id);
  void mark(const TensorBase& tensor);
  static std::vector<Tensor> run(Recorded& going, bool& is_known);
  void note_flush(const std::string& why, std::size_t calls, bool is_known);

  mutable std::recursive_mutex mutex_;
  Recorded recorded_;
  Deferred::Statistics statistics_;
  std::map<std::string, std::pair<std::size_t, std::size_t>> reasons_;  // flushes and calls, by why
};

// For a call at the key Functionalize: makes the deferred calls of other regions that its tensors wait for. Throws
// keyway::Error(Value) for a tensor whose call failed.
void settle_deferred(const Stack& values);
// What the key has a call do outside of captures.
void call_deferred(const OperatorEntry& op, DispatchKeySet below, Stack& values);
// Whether the thread is in a region.
bool is_deferring();
// Hears of generators that are seeded.
void flush_before_seed();
// Has calls pass the key (capture.cpp).
void register_graph_kernels();

}  // namespace keyway::inline v1::graph
