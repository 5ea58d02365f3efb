#include <keyway/tools/keyway/conform/conditions.h>
#include <keyway/tools/keyway/conform/conform_judge.h>
#include <keyway/tools/keyway/conform/judges.h>
#include <keyway/tools/keyway/conform/operator_judges.h>
#include <keyway/tools/keyway/fuzz/functional_form.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>

#include <limits>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kUnderConditions = 20;  // calls that are also made under other conditions (conditions.h)
constexpr std::size_t kSome = 300;            // of what is found in few calls, or takes many

}  // namespace

std::string_view to_string(Oracle oracle) {
  switch (oracle) {
    case Oracle::Cpu: return "the CPU";
    case Oracle::Earlier: return "the kernel before";
    default: return "itself";
  }
}

Oracle oracle_of(const OperatorHandle& op, const ConformOptions& options) {
  if (!options.before) return Oracle::Cpu;
  if (options.device == DeviceType::CPU) {
    if (options.before->has_kernel(op, DeviceType::CPU)) return Oracle::Earlier;
    return Oracle::Itself;
  }
  return op.entry().has_kernel_for(DeviceType::CPU) ? Oracle::Cpu : Oracle::Itself;
}

bool is_asked_about(const OperatorHandle& op, const ConformOptions& options) {
  if (!options.before || options.before->lacks_backend(options.device)) return true;
  return options.before->is_changed(op, options.device);
}

ConformPlan plan_of(const OperatorHandle& op, const ConformOptions& options) {
  const bool is_own = oracle_of(op, options) == Oracle::Itself;
  const bool has_example = options.before || !options.examples.text_of(op).empty();
  return {op, options.seed, has_example ? options.examples.call_of(op, options.device) : seed_call(op), is_own};
}

OperatorJudges::OperatorJudges(const OperatorHandle& op, const ConformOptions& options) {
  const DeviceType device = options.device;
  switch (oracle_of(op, options)) {
    case Oracle::Cpu: add("", std::make_unique<ConformJudge>(op, device), kAll); break;
    case Oracle::Earlier: {
      const auto kernels = std::make_shared<EarlierKernels>(*options.before);
      observed_ = observe_calls(kernels);
      add("", std::make_unique<ConformJudge>(op, device, make_earlier_reference(ConformOperator(op), kernels)), kAll);
      add("schema", make_schema_judge(op, device), kSome);
      break;
    }
    case Oracle::Itself:
      add("", make_consistency_judge(op, device), kAll);
      add("example", make_example_judge(op, device, options.examples.text_of(op)), 1);
      add("Meta", make_meta_judge(op, device), kSome);
      add("schema", make_schema_judge(op, device), kSome);
      if (device == DeviceType::CPU) add("memory", make_memory_judge(op, device), kUnderConditions);
      if (functional_form(op)) break;  // which is judged
      add("precision", make_precision_judge(op, device), kSome);
      add("gradient", make_derivative_judge(op, device), kSome);
  }
  if (device == DeviceType::CPU) return;
  add("streams", make_stream_judge(op, device), kUnderConditions);
  add("devices", make_other_device_judge(op, device), kUnderConditions);
  add("memory", make_memory_judge(op, device), kUnderConditions);
}

void OperatorJudges::add(std::string about, std::unique_ptr<Judge> judge, std::size_t most_calls) {
  if (judge) judges_.push_back({std::move(about), std::move(judge), most_calls});
}

}  // namespace keyway::inline v1::tools
