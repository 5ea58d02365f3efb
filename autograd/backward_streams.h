// BackwardStreams: in which streams of its devices a backward works, and what waits for what.
#pragma once

#include <keyway/autograd/node_table.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace keyway::inline v1::autograd {

// A node works in the stream that its call was made in. Seen from outside a backward is a call like any other, work of
// the streams that are current for its caller: all its streams begin after what is in these, and these go on after all
// of it. Within, a gradient that comes from another stream is waited for when it is needed, and its memory is recorded
// for the stream that uses it.
//
// There is one only for a backward that has nodes of other streams than the caller's.
class BackwardStreams {
 public:
  // Null if every node runs in the caller's stream, or while a graph is captured, all of whose work belongs into the
  // captured stream. Else the streams of the nodes wait for the caller's from now on.
  static std::unique_ptr<BackwardStreams> of(NodeTable& nodes);
  // Joins if join() was not called, because the backward failed.
  ~BackwardStreams();

  // The caller's streams wait for all others.
  void join();

  // Makes the stream of a node current, of one without a stream that of its gradients; nothing if that is the caller's.
  // The gradients may be used in streams that are current then. Requires: the caller's streams are current.
  std::optional<StreamGuard> enter(const Node& node, const variable_list& grads);

  // Call before and after `sum`, the gradient accumulated so far for `edge`, is read and replaced in the current
  // streams.
  void before_sum(const Edge& edge, const Tensor& sum);
  void after_sum(const Edge& edge, const Tensor& sum);

  // The caller will use `tensor`, and maybe free it.
  void hand_over(const TensorBase& tensor) const;

 private:
  // The stream in which a gradient is computed.
  struct GradStream {
    Stream stream;
    std::optional<Event> computed;  // absent if it is expected to be used there
  };
  using Key = std::pair<const Node*, std::uint32_t>;

  // `callers`: one for each device that has some of `others`.
  BackwardStreams(std::vector<Stream> callers, std::vector<Stream> others);

  bool is_other(const Stream& stream) const;
  Stream callers_on(Device device) const;
  static void use_here(GradStream& source, const Tensor& grad);

  std::vector<Stream> callers_;
  std::vector<Stream> others_;
  std::map<Key, GradStream> grad_streams_;
  bool joined_ = false;
};

// Work that is queued now in the stream that is current on the tensor's device reads it: the memory is given out again
// only after that. Nothing where memory is not kept for streams.
void record_use(const TensorBase& tensor);

// The stream that is current on the device of `tensor`, which was last written in the stream `last`, waits for what is
// in that, and becomes `last`. In a capture it does not wait, since captured work is done at another time.
void wait_for_last_writer(Stream& last, const TensorBase& tensor);

}  // namespace keyway::inline v1::autograd
