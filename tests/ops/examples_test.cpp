// The generated suite, first part: every operator's example, on the CPU and, for its metadata, on Meta.
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/boxed_example.h>

using namespace keyway;

namespace {

// The error text of an example, empty if it holds.
std::string run(const OperatorHandle& op, const testing::ExampleText& example, Stack& results) {
  results = testing::make_arguments(op.entry(), example.call);
  op.call_boxed(results);
  if (!example.has_value) return {};
  using Kind = testing::Literal::Kind;
  if (example.value.kind != Kind::Tuple) {
    return results.empty() ? "no result" : testing::difference(results[0], example.value);
  }
  if (results.size() == 1 && results[0].is(ValueTag::TensorList)) return testing::difference(results[0], example.value);
  if (results.size() != example.value.items.size()) return std::to_string(results.size()) + " results";
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (example.value.items[i].kind == Kind::None) continue;
    const std::string text = testing::difference(results[i], example.value.items[i]);
    if (!text.empty()) return "result " + std::to_string(i) + ": " + text;
  }
  return {};
}

bool has_tag(const OpInfo& info, std::string_view tag) {
  return (" " + std::string(info.tags) + " ").find(" " + std::string(tag) + " ") != std::string::npos;
}

}  // namespace

TEST_CASE("every operator's example holds") {
  std::size_t count = 0;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const OpInfo& info = op.entry().info();
    if (info.example.empty()) continue;
    INFO(info.example);
    Stack results;
    std::string problem;
    try {
      problem = run(op, testing::parse_example(info.example), results);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    CHECK(problem == "");
    ++count;
  }
  CHECK(count > 100);
}

TEST_CASE("Meta gives the shape, dtype and strides that the CPU gives") {
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const OpInfo& info = op.entry().info();
    // Sizes that depend on data, and numbers read from data, cannot be known without it.
    if (info.example.empty() || has_tag(info, "allocates") || has_tag(info, "scalar_result") ||
        has_tag(info, "data_dependent_shape") || has_tag(info, "metadata")) {
      continue;
    }
    INFO(info.example);
    std::string problem;
    try {
      const testing::ExampleText example = testing::parse_example(info.example);
      Stack cpu = testing::make_arguments(op.entry(), example.call);
      op.call_boxed(cpu);
      Stack meta = testing::make_arguments(op.entry(), example.call, DeviceType::Meta);
      op.call_boxed(meta);
      for (std::size_t i = 0; i < cpu.size() && problem.empty(); ++i) {
        problem = testing::metadata_difference(meta.at(i), cpu[i]);
      }
    } catch (const std::exception& error) {
      problem = error.what();
    }
    CHECK(problem == "");
  }
}
