#include <keyway/autograd/engine.h>
#include <keyway/autograd/node_origin.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/setting.h>
#include <keyway/core/base/warning.h>

namespace keyway::inline v1::autograd {

namespace {
constinit Setting<AnomalyRecorder*> anomaly_recorder;

// "SqrtBackward0, recorded in the backward of MulBackward0".
std::string described(const Node& node) {
  std::string text = node.name();
  if (!node.made_in().empty()) text.append(", recorded in the backward of ").append(node.made_in());
  return text;
}
}  // namespace

AnomalyRecorder::~AnomalyRecorder() = default;

void set_anomaly_recorder(AnomalyRecorder* recorder) { anomaly_recorder.set(recorder); }

NodeOrigin NodeOrigin::here() {
  NodeOrigin origin;
  Node* const parent = running_node();
  if (parent != nullptr) {
    origin.made_in = parent->name();
    if (!parent->made_in().empty()) origin.made_in.append(", recorded in that of ").append(parent->made_in());
  }
  if (AnomalyRecorder* recorder = anomaly_recorder.get()) origin.binding = recorder->record(parent);
  return origin;
}

void report_failure(Node& node) noexcept {
  if (AnomalyRecorder* recorder = anomaly_recorder.get()) {
    recorder->report(node);
    return;
  }
  try {
    const std::string text = described(node);
    try {
      throw;
    } catch (Error& error) {
      error.leave_op(text);
    } catch (...) {
      warn("Error detected in " + text + ".");
    }
  } catch (...) {  // memory or the handler of warnings failed: the exception goes on without the text
  }
}

}  // namespace keyway::inline v1::autograd
