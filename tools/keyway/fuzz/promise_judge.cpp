#include <keyway/core/device/device_guard.h>
#include <keyway/core/schema/lexer.h>
#include <keyway/core/schema/schema.h>
#include <keyway/tools/keyway/fuzz/gradients.h>
#include <keyway/tools/keyway/fuzz/promise_judge.h>
#include <keyway/tools/keyway/fuzz/results.h>
#include <keyway/tools/keyway/fuzz/seed_call.h>

#include <algorithm>
#include <exception>
#include <typeinfo>

namespace keyway::inline v1::tools {

namespace {

// Whether `word` stands in `text` with no letter, digit or underscore on either side.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !detail::is_name(text[at - 1])) && (end == text.size() || !detail::is_name(text[end]))) return true;
  }
  return false;
}

bool names_device(SchemaType type) {
  return type.is(TypeKind::Device) || (type.is(TypeKind::Optional) && type.element().is(TypeKind::Device));
}

}  // namespace

PromiseJudge::PromiseJudge(const OperatorHandle& op, DeviceType device)
    : Judge(device), op_(op), name_(op.entry().short_name()), arguments_(argument_names(op)) {
  for (const Argument argument : op.schema().arguments()) {
    written_.push_back(argument.is_write());
    out_.push_back(argument.is_out());
    names_device_.push_back(names_device(argument.type()));
  }
  has_meta_ = op.entry().info().file[0] != '\0' && op.schema().returns().size() > 0;
  for (const char* tag : {"data_dependent_shape", "scalar_result", "allocates"}) {
    has_meta_ = has_meta_ && !op.entry().has_tag(tag);
  }
}

Outcome PromiseJudge::judge(const std::vector<Value>& values) const {
  Stack stack = make_stack(values, device());
  const Stack arguments = stack;
  const Snapshot before(arguments);
  Outcome outcome;
  bool threw = true;
  try {
    op_.call_boxed(stack);
    threw = false;
  } catch (const Error& error) {
    outcome = judge_error(error);
  } catch (const std::exception& error) {
    outcome = {Verdict::ForeignException, std::string(typeid(error).name()) + ": " + error.what()};
  } catch (...) {
    outcome = {Verdict::ForeignException, "no std::exception"};
  }
  const Outcome waited = wait();
  if (is_failure(waited.verdict) || (!threw && waited.verdict == Verdict::Refused)) return waited;
  if (is_failure(outcome.verdict)) return outcome;
  const std::string changed = changed_argument(before, values, threw);
  if (!changed.empty()) return {Verdict::ArgumentChanged, changed + (threw ? "; " + outcome.text : "")};
  return threw ? outcome : judge_results(values, arguments, stack);
}

// What a kernel on a device refuses is an error of the next synchronisation, with the name of the operator that
// launched it, which need not be the one that was called.
Outcome PromiseJudge::wait() const {
  if (device() == DeviceType::CPU || find_device_guard_impl(device()) == nullptr) return {};
  try {
    synchronize(Device(device()));
  } catch (const Error& error) {
    return {error.kind() == ErrorKind::Internal ? Verdict::InternalError : Verdict::Refused, error.what()};
  }
  return {};
}

// After an error all arguments are as before, but for the elements of tensors for results: a kernel that reads a wrong
// index has written the others.
std::string PromiseJudge::changed_argument(const Snapshot& before, const std::vector<Value>& values, bool threw) const {
  const std::vector<bool> none(written_.size()), all(written_.size(), true);
  const bool shared = std::ranges::any_of(values, [](const Value& value) {
    return std::ranges::any_of(value.tensors, [](const TensorRecipe& r) { return r.sharing != Sharing::None; });
  });
  // Where one is another or shares its memory, a write to one shows in the other.
  const Snapshot::Difference changed = threw ? before.compare(none, shared ? all : out_)
                                             : before.compare(shared ? all : written_, shared ? all : written_);
  return changed.text.empty() ? "" : arguments_[changed.argument] + " changed: " + changed.text;
}

Outcome PromiseJudge::judge_error(const Error& error) const {
  const std::string text = error.what();
  // What checks elements in the place of another operator has that one's error; and errors of linear algebra name the
  // function that users call.
  const bool is_check = op_.schema().returns().empty() && !op_.schema().is_mutable();
  if (is_check || error.kind() == ErrorKind::LinAlg)
    return {error.kind() == ErrorKind::Internal ? Verdict::InternalError : Verdict::Refused, text};
  if (!has_word(text, name_)) return {Verdict::NoOperator, text};
  if (error.kind() == ErrorKind::Internal) return {Verdict::InternalError, text};
  return {names_cause(error) ? Verdict::Refused : Verdict::NoArgument, text};
}

// Whether it names an argument of the operator that threw it, as an error about one should.
bool PromiseJudge::names_cause(const Error& error) const {
  const std::optional<OperatorHandle> thrower = Dispatcher::singleton().find_op(error.op());
  const std::vector<std::string> names = thrower ? argument_names(*thrower) : arguments_;
  std::string_view text = error.what();
  text = text.substr(std::min(text.size(), error.op().size() + 2));
  text = text.substr(0, text.rfind("(called from"));
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return has_word(text, name); });
}

Outcome PromiseJudge::judge_results(const std::vector<Value>& values, const Stack& arguments,
                                    const Stack& results) const {
  std::string problem = inconsistency(results);
  if (!problem.empty()) return {Verdict::WrongResult, problem};
  if (fits_meta(values)) {
    problem = compare_with_meta(values, results);
    if (!problem.empty()) return {Verdict::MetaDiffers, problem};
  }
  problem = gradient_problem(arguments, results);
  if (!problem.empty()) return {Verdict::GradientFails, problem};
  return {};
}

bool PromiseJudge::fits_meta(const std::vector<Value>& values) const {
  if (!has_meta_) return false;
  for (const Value& value : values) {
    for (const TensorRecipe& recipe : value.tensors) {
      if (recipe.device != DeviceType::CPU) return false;
    }
    if (value.plain.is(ValueTag::Generator)) return false;
    if (value.plain.is(ValueTag::Device) && value.plain.to_device().type() != DeviceType::CPU) return false;
  }
  return true;
}

std::string PromiseJudge::compare_with_meta(const std::vector<Value>& values, const Stack& results) const {
  Stack stack;
  try {
    stack = make_stack(values, DeviceType::Meta);
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (names_device_[i]) stack[i] = IValue(Device(DeviceType::Meta));
      if (arguments_[i] == "pin_memory") stack[i] = IValue(false);  // which only the CPU's memory can be
    }
    op_.call_boxed(stack);
  } catch (const std::exception& error) {
    return std::string("Meta throws ") + error.what();
  }
  return metadata_difference(stack, results);
}

}  // namespace keyway::inline v1::tools
