#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/report.h>

#include <nlohmann/json.hpp>

using namespace keyway;
using namespace keyway::tools;

namespace {

ConformCell cell(ConformState state, Verdict verdict, std::string problem = {}) {
  ConformCell made;
  made.counts[static_cast<std::size_t>(verdict)] = 3;
  made.state = state;
  made.problem = std::move(problem);
  made.call = made.problem.empty() ? "" : "mm(self=float32[1, 1] of [<1>])";
  return made;
}
ConformReport report_of(ConformState state, ConformCell judged) {
  ConformReport report;
  report.device = "npu";
  report.operators.push_back(
      {"add.Tensor", ConformState::Pass, {{kFloat, cell(ConformState::Pass, Verdict::Returned)}}, 0.5});
  report.operators.push_back({"mm", state, {{kFloat, std::move(judged)}}, 0.25});
  return report;
}

}  // namespace

TEST_CASE("a report is good if all that was to be judged was, and passed") {
  CHECK(report_of(ConformState::Pass, cell(ConformState::Pass, Verdict::Returned)).is_good());
  CHECK(report_of(ConformState::Unsupported, {}).is_good());
  CHECK(report_of(ConformState::KnownFailure, cell(ConformState::KnownFailure, Verdict::Differs, "x")).is_good());
  for (const ConformState bad :
       {ConformState::Fail, ConformState::Crash, ConformState::Timeout, ConformState::NotRun}) {
    CHECK(!report_of(bad, cell(bad, Verdict::Differs, "x")).is_good());
  }
  CHECK(!ConformReport().is_good());  // nothing was judged
  ConformReport stale = report_of(ConformState::Pass, cell(ConformState::Pass, Verdict::Returned));
  stale.stale.push_back("mm float64");
  CHECK(!stale.is_good());
}

TEST_CASE("each form of a report has the failure") {
  const ConformReport report =
      report_of(ConformState::Fail, cell(ConformState::Fail, Verdict::Differs, "differs: 1 & 2"));
  CHECK(text_of(report).find("mm float32: fail: differs: 1 & 2\n    mm(self=float32[1, 1] of [<1>])") == 0);
  const auto json = nlohmann::json::parse(json_of(report));
  CHECK(json["good"] == false);
  CHECK(json["operators"][1]["dtypes"]["float32"]["problem"] == "differs: 1 & 2");
  CHECK(json["operators"][1]["dtypes"]["float32"]["outcomes"]["differs"] == 3);
  const std::string junit = junit_of(report);
  CHECK(junit.find("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\"") != std::string::npos);
  CHECK(junit.find("differs: 1 &amp; 2\nmm(self=float32[1, 1] of [&lt;1&gt;])") != std::string::npos);
  const std::string page = html_of(report);
  CHECK(page.find("<td class=\"fail\"><details><summary>fail</summary>differs: 1 &amp; 2") != std::string::npos);
  CHECK(page.find("<td class=\"pass\">3</td>") != std::string::npos);
}
