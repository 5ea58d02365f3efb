#include <keyway/core/tensor/geometry.h>
#include <keyway/tools/keyway/conform/operator_judges.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1::tools {

namespace {

class MetaJudge final : public Judge {
 public:
  MetaJudge(const OperatorHandle& op, DeviceType device) : Judge(device), op_(op) {
    for (const char* tag : {"data_dependent_shape", "scalar_result", "allocates"}) {
      depends_on_data_ = depends_on_data_ || op.entry().has_tag(tag);
    }
  }

  Outcome judge(const std::vector<Value>& values) const override {
    if (depends_on_data_ || !can_be_made(values)) return {Verdict::NotServed, "what Meta cannot know"};
    const ConformCall call = op_.call(values, device());
    if (!call.is_served) return {Verdict::NotServed, call.error};
    if (!call.error.empty()) return {Verdict::Refused, call.error};
    const ConformCall meta = op_.call(values, DeviceType::Meta);
    if (!meta.is_served) return {Verdict::NotServed, meta.error};
    if (!meta.error.empty()) return {Verdict::MetaDiffers, "Meta refuses: " + meta.error};
    const std::vector<TensorBase> got = tensors_of(call.results), foreseen = tensors_of(meta.results);
    if (got.size() != foreseen.size()) {
      return {Verdict::MetaDiffers, fmt::format("Meta gives {} tensors, the call {}", foreseen.size(), got.size())};
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::string problem = difference(got[i], foreseen[i]);
      if (!problem.empty()) return {Verdict::MetaDiffers, problem};
    }
    return {};
  }

 private:
  static std::string difference(const TensorBase& got, const TensorBase& foreseen) {
    if (got.dtype() != foreseen.dtype()) {
      return fmt::format("Meta foresees the dtype {}, the call gives {}", to_string(foreseen.dtype()),
                         to_string(got.dtype()));
    }
    if (got.sizes() != foreseen.sizes()) {
      return fmt::format("Meta foresees the shape {}, the call gives {}", describe(foreseen), describe(got));
    }
    if (same_strides(got, foreseen)) return {};
    return fmt::format("Meta foresees the strides {} of {}, the call gives {}", FormatArg(foreseen.strides()).str(),
                       describe(foreseen), FormatArg(got.strides()).str());
  }

  ConformOperator op_;
  bool depends_on_data_ = false;
};

}  // namespace

std::unique_ptr<Judge> make_meta_judge(const OperatorHandle& op, DeviceType device) {
  return std::make_unique<MetaJudge>(op, device);
}

}  // namespace keyway::inline v1::tools
