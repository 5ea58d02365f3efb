#include <keyway/autograd/backward_streams.h>
#include <keyway/core/tensor/device_allocator.h>

#include <algorithm>

namespace keyway::inline v1::autograd {

namespace {

bool has_streams(Device device) {
  return !device.is_cpu() && !device.is_meta() && device.has_index() &&
         find_device_guard_impl(device.type()) != nullptr;
}

void record_use_in(const TensorBase& tensor, const Stream& stream) {
  DeviceAllocator* const allocator = find_device_allocator(tensor.device().type());
  if (allocator == nullptr) return;
  if (const void* const data = tensor.storage().data()) allocator->record_stream(data, tensor.device(), stream);
}

void wait(const Stream& waiting, const Stream& for_what_is_in) {
  Event event(waiting.device_type());
  event.record(for_what_is_in);
  event.block(waiting);
}

}  // namespace

void record_use(const TensorBase& tensor) {
  if (has_streams(tensor.device())) record_use_in(tensor, current_stream(tensor.device()));
}

void wait_for_last_writer(Stream& last, const TensorBase& tensor) {
  if (!has_streams(tensor.device())) return;
  const Stream here = current_stream(tensor.device());
  if (here == last) return;
  if (last.device() == here.device()) {
    record_use_in(tensor, here);
    if (!here.is_capturing() && !last.is_capturing()) wait(here, last);
  }
  last = here;
}

std::unique_ptr<BackwardStreams> BackwardStreams::of(NodeTable& nodes) {
  std::size_t i = 0;
  while (i < nodes.size() && !nodes[i].node->has_stream()) ++i;
  if (i == nodes.size()) return nullptr;  // without a question to a device
  std::vector<Stream> callers, others;
  for (; i < nodes.size(); ++i) {
    if (!nodes[i].node->has_stream() || !nodes[i].runs) continue;
    const Stream stream = *nodes[i].node->stream();
    const auto on_device = [&](const Stream& caller) { return caller.device() == stream.device(); };
    auto callers_one = std::ranges::find_if(callers, on_device);
    if (callers_one == callers.end()) callers_one = callers.insert(callers.end(), current_stream(stream.device()));
    if (*callers_one != stream && std::ranges::find(others, stream) == others.end()) others.push_back(stream);
  }
  if (others.empty()) return nullptr;
  if (std::ranges::any_of(callers, [](const Stream& caller) { return caller.is_capturing(); })) return nullptr;
  return std::unique_ptr<BackwardStreams>(new BackwardStreams(std::move(callers), std::move(others)));
}

BackwardStreams::BackwardStreams(std::vector<Stream> callers, std::vector<Stream> others)
    : callers_(std::move(callers)), others_(std::move(others)) {
  for (const Stream& stream : others_) wait(stream, callers_on(stream.device()));
}

BackwardStreams::~BackwardStreams() {
  if (joined_) return;
  try {
    join();
  } catch (...) {  // the device has failed, which the exception that is under way or the next call says
  }
}

void BackwardStreams::join() {
  joined_ = true;
  for (const Stream& stream : others_) wait(callers_on(stream.device()), stream);
}

bool BackwardStreams::is_other(const Stream& stream) const {
  return std::ranges::find(others_, stream) != others_.end();
}

Stream BackwardStreams::callers_on(Device device) const {
  const auto found = std::ranges::find(callers_, device, &Stream::device);
  return found != callers_.end() ? *found : current_stream(device);
}

// `grad` comes from `source`: from now on it is used in the stream that is current on its device.
void BackwardStreams::use_here(GradStream& source, const Tensor& grad) {
  const Stream here = current_stream(grad.device());
  if (here == source.stream) return;
  if (source.computed) {
    source.computed->block(here);
  } else {
    wait(here, source.stream);
  }
  record_use_in(grad, here);
}

std::optional<StreamGuard> BackwardStreams::enter(const Node& node, const variable_list& grads) {
  std::optional<Stream> stream = node.stream();
  const auto first = grad_streams_.lower_bound({&node, 0});
  if (!stream && first != grad_streams_.end() && first->first.first == &node) stream = first->second.stream;
  std::optional<StreamGuard> guard;
  if (stream && is_other(*stream)) guard.emplace(*stream);
  for (auto it = first; it != grad_streams_.end() && it->first.first == &node; it = grad_streams_.erase(it))
    if (const Tensor& grad = grads[it->first.second]; grad.defined()) use_here(it->second, grad);
  return guard;
}

void BackwardStreams::before_sum(const Edge& edge, const Tensor& sum) {
  const auto found = grad_streams_.find({edge.node.get(), edge.input_nr});
  if (found != grad_streams_.end()) use_here(found->second, sum);
}

void BackwardStreams::after_sum(const Edge& edge, const Tensor& sum) {
  if (!has_streams(sum.device())) return;
  const Stream here = current_stream(sum.device());
  // The stream that the node will want it in.
  const std::optional<Stream> its = edge.node->stream();
  const Stream there = !its ? here : its->device() == here.device() ? *its : callers_on(here.device());
  GradStream source{here, std::nullopt};
  if (there != here) source.computed.emplace(here.device_type()).record(here);
  grad_streams_.insert_or_assign(Key{edge.node.get(), edge.input_nr}, std::move(source));
}

void BackwardStreams::hand_over(const TensorBase& tensor) const {
  if (tensor.defined() && has_streams(tensor.device())) record_use_in(tensor, callers_on(tensor.device()));
}

}  // namespace keyway::inline v1::autograd
