#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/tools/keyway/conform/conditions.h>

#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

// Stands before the allocator of a device type as long as it lives. From the `last`-th allocation on there is no
// memory.
class FailingAllocator final : public Allocator {
 public:
  FailingAllocator(DeviceType type, int last) : type_(type), rest_(last), real_(get_allocator(type)) {
    set_allocator(type_, this);
  }
  // What the program plugged in before, and not a plug-in, is not in force again by itself.
  ~FailingAllocator() override {
    remove_allocator(type_, this);
    if (find_allocator(type_) != &real_) set_allocator(type_, &real_);
  }

  DataPtr allocate(std::size_t bytes) override {
    if (bytes > 0 && --rest_ < 0) {
      has_failed_ = true;
      KEYWAY_FAIL(OutOfMemory, "there is no memory for {} bytes: conform tries what a call does then", bytes);
    }
    return real_.allocate(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) override { real_.copy_data(to, from, bytes); }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override { real_.copy_from_host(to, from, bytes); }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override { real_.copy_to_host(to, from, bytes); }
  Allocator& pinned() override { return real_.pinned(); }
  bool is_pinned(const void* memory) const override { return real_.is_pinned(memory); }

  bool has_failed() const { return has_failed_; }

 private:
  DeviceType type_;
  int rest_;
  Allocator& real_;
  bool has_failed_ = false;
};

class MemoryJudge final : public Judge {
 public:
  MemoryJudge(const OperatorHandle& op, DeviceType device) : Judge(device), op_(op) {}

  Outcome judge(const std::vector<Value>& values) const override {
    constexpr int kMost = 8;  // allocations of a call that are tried
    if (!can_be_made(values)) return {Verdict::NotServed, "tensors that cannot be copied"};
    const Device here = current_device(device());
    const ConformCall usual = op_.call(values, here);
    if (!usual.error.empty()) return {Verdict::Refused, usual.error};
    bool has_failed = true;
    for (int served = 0; served < kMost && has_failed; ++served) {
      has_failed = false;
      const std::string problem = problem_without_memory(values, usual, served, has_failed);
      if (problem.empty()) continue;
      return {Verdict::Differs, fmt::format("without memory after {} allocations, {}", served, problem)};
    }
    if (!has_failed) return {};  // the last call had all that it asked for, and was right
    const ConformCall again = op_.call(values, here);
    const std::string problem = again.error.empty() ? bits_difference(op_, again, usual) : again.error;
    return problem.empty() ? Outcome() : Outcome{Verdict::Differs, "after memory had run out: " + problem};
  }

 private:
  std::string problem_without_memory(const std::vector<Value>& values, const ConformCall& usual, int served,
                                     bool& has_failed) const {
    const Device here = current_device(device());
    ConformCall before;
    before.arguments = op_.arguments(values, here);
    Stack arguments = op_.arguments(values, here);
    ConformCall call;
    {
      const FailingAllocator failing(device(), served);
      call = op_.call(std::move(arguments), here);
      has_failed = failing.has_failed();
    }
    if (!call.leaves_device) return "another device or stream is current";
    if (!has_failed) return call.error.empty() ? bits_difference(op_, call, usual) : call.error;
    if (call.error.empty()) return "the call is served, though an allocation of it was refused";
    // What crosses the C ABI keeps its text, and not its kind.
    const bool says_why = !call.is_served || call.error.find("there is no memory for") != std::string::npos;
    if (!says_why) return "the error is another: " + call.error;
    return changed_argument(call, before);
  }
  // What is written may have been written in part, if the call has several parts.
  std::string changed_argument(const ConformCall& call, const ConformCall& before) const {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      if (op_.is_written(i)) continue;
      ConformCall one, same;
      one.arguments = {call.arguments[i]};
      same.arguments = {before.arguments[i]};
      if (!bits_difference(op_, one, same).empty()) return op_.argument_name(i) + " was changed";
    }
    return {};
  }

  ConformOperator op_;
};

}  // namespace

std::unique_ptr<Judge> make_memory_judge(const OperatorHandle& op, DeviceType device) {
  return std::make_unique<MemoryJudge>(op, device);
}

}  // namespace keyway::inline v1::tools
