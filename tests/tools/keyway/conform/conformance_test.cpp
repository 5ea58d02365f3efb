// A whole run, of the CPU by itself.
#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/conform_plan.h>
#include <keyway/tools/keyway/conform/conformance.h>
#include <keyway/tools/keyway/conform/speed.h>

#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::tools;

namespace {

ConformReport judge_cpu(const std::string& pattern, const std::string& known = {}) {
  ConformOptions options;
  options.pattern = pattern;
  options.calls = 60;
  return run_conformance(options, KnownFailures(known), [](const OperatorReport&) {});
}

}  // namespace

TEST_CASE("the CPU gives what it gives") {
  for (const char* pattern : {"[a]dd.Tensor", "[m]m", "[s]ort.stable", "[m]ul_.Scalar", "[s]um.IntList_out"}) {
    const ConformReport report = judge_cpu(pattern);
    INFO(text_of(report));
    CHECK(report.operators.size() == 1);
    CHECK(report.calls() == 60);
    CHECK(report.is_good());
  }
}

TEST_CASE("a known failure that does not fail is an error, and so is a run of nothing") {
  const ConformReport stale = judge_cpu("[m]m", "mm float32");
  CHECK(stale.stale == std::vector<std::string>{"mm float32"});
  CHECK(!stale.is_good());
  CHECK(!judge_cpu("no_such_operator").is_good());
}

TEST_CASE("a call is the same each time, and of the same text") {
  const OperatorHandle op = Dispatcher::singleton().op("keyway::mul.Tensor");
  const ConformPlan plan(op, 3), again(op, 3), other(op, 4);
  std::size_t different = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(plan.text(i) == again.text(i));
    different += plan.text(i) != other.text(i) ? 1 : 0;
  }
  CHECK(different > 50);
}

TEST_CASE("speed is that of calls with larger and larger tensors, all of whose bytes are counted") {
  const SpeedReport report = measure_speed(DeviceType::CPU, "[e]xp");
  REQUIRE(report.rows.size() == 3);
  CHECK(report.copy_bandwidth > 1e6);
  for (const SpeedRow& row : report.rows) {
    CHECK(row.op == "exp");
    CHECK(row.bytes == 2 * 4 * static_cast<std::size_t>(row.elements));
    CHECK(row.seconds > 0);
    CHECK(row.cpu_seconds > 0);
  }
  CHECK(report.rows[0].elements == 1 << 10);
  CHECK(report.rows[2].elements == 1 << 20);
  CHECK(text_of(report).find("operator") != std::string::npos);
}
