#include <keyway/tools/keyway/conform/report.h>

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

namespace keyway::inline v1::tools {

std::string_view to_string(ConformState state) {
  constexpr std::string_view kNames[kConformStates] = {
      "pass", "fail", "crash", "timeout", "known failure", "unsupported", "fallback", "composition", "not run"};
  return kNames[static_cast<std::size_t>(state)];
}

std::size_t ConformCell::calls() const { return std::accumulate(counts.begin(), counts.end(), std::size_t{0}); }

std::array<std::size_t, kConformStates> ConformReport::counts() const {
  std::array<std::size_t, kConformStates> counts{};
  for (const OperatorReport& op : operators) ++counts[static_cast<std::size_t>(op.state)];
  return counts;
}

std::size_t ConformReport::calls() const {
  std::size_t calls = 0;
  for (const OperatorReport& op : operators) {
    for (const auto& [dtype, cell] : op.cells) calls += cell.calls();
  }
  return calls;
}

// A report of nothing is none.
bool ConformReport::is_good() const {
  const bool any_judged = std::any_of(operators.begin(), operators.end(),
                                      [](const OperatorReport& op) { return op.state == ConformState::Pass; });
  return any_judged && stale.empty() &&
         std::none_of(operators.begin(), operators.end(), [](const OperatorReport& op) { return is_bad(op.state); });
}

std::string text_of(const ConformReport& report) {
  std::string text;
  for (const OperatorReport& op : report.operators) {
    if (!is_bad(op.state)) continue;
    if (op.cells.empty()) text += fmt::format("{}: {}\n", op.op, to_string(op.state));
    for (const auto& [dtype, cell] : op.cells) {
      if (!is_bad(cell.state) || cell.problem.empty()) continue;
      text += fmt::format("{} {}: {}: {}\n    {}\n    {}\n", op.op, to_string(dtype), to_string(cell.state),
                          cell.problem, cell.call, cell.repeat);
    }
    if (op.state == ConformState::NotRun) text += fmt::format("{}: no call was served\n", op.op);
  }
  for (const OperatorReport& op : report.operators) {
    if (!op.not_run.empty()) text += fmt::format("{}: not judged: {}\n", op.op, fmt::join(op.not_run, ", "));
  }
  for (const std::string& line : report.stale) text += fmt::format("known failure '{}' did not fail\n", line);
  text += fmt::format("{}: {} calls of {} operators in {:.1f} s", report.device, report.calls(),
                      report.operators.size(), report.seconds);
  const auto counts = report.counts();
  for (std::size_t i = 0; i < kConformStates; ++i) {
    if (counts[i] > 0) text += fmt::format(", {} {}", counts[i], to_string(static_cast<ConformState>(i)));
  }
  return text + "\n";
}

std::string json_of(const ConformReport& report) {
  using Json = nlohmann::ordered_json;
  Json operators = Json::array();
  for (const OperatorReport& op : report.operators) {
    Json cells = Json::object();
    for (const auto& [dtype, cell] : op.cells) {
      Json& out = cells[std::string(to_string(dtype))];
      out = {{"state", to_string(cell.state)}, {"calls", cell.calls()}};
      for (std::size_t i = 0; i < kVerdicts; ++i) {
        if (cell.counts[i] > 0) out["outcomes"][std::string(to_string(static_cast<Verdict>(i)))] = cell.counts[i];
      }
      if (!cell.problem.empty()) {
        out["problem"] = cell.problem;
        out["call"] = cell.call;
        out["repeat"] = cell.repeat;
      }
    }
    operators.push_back(
        {{"op", op.op}, {"state", to_string(op.state)}, {"seconds", op.seconds}, {"dtypes", std::move(cells)}});
    if (!op.held_against.empty()) operators.back()["held_against"] = op.held_against;
    if (!op.not_run.empty()) operators.back()["not_judged"] = op.not_run;
  }
  Json out = {{"conform_report", 1},
              {"device", report.device},
              {"good", report.is_good()},
              {"seconds", report.seconds},
              {"stale_known_failures", report.stale},
              {"operators", std::move(operators)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

// Text within XML and HTML.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < ' ' && c != '\n' ? '?' : c;
    }
  }
  return out;
}

}  // namespace

std::string junit_of(const ConformReport& report) {
  std::string cases;
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  const auto add = [&](const std::string& op, std::string_view name, ConformState state, const std::string& text) {
    ++tests;
    cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", escaped(op), escaped(name));
    if (state == ConformState::Pass) {
      cases += "/>\n";
    } else if (state == ConformState::Fail || state == ConformState::NotRun) {
      ++failures;
      cases += fmt::format("><failure message=\"{}\"/></testcase>\n", escaped(text));
    } else if (is_bad(state)) {
      ++errors;
      cases += fmt::format("><error message=\"{}\"/></testcase>\n", escaped(text));
    } else {
      ++skipped;
      cases += fmt::format("><skipped message=\"{}\"/></testcase>\n", to_string(state));
    }
  };
  for (const OperatorReport& op : report.operators) {
    if (op.cells.empty()) add(op.op, "all dtypes", op.state, std::string(to_string(op.state)));
    for (const auto& [dtype, cell] : op.cells) {
      // A dtype that the operator does not take, or the kernel declines, is not at fault.
      const bool unserved = cell.state == ConformState::NotRun;
      add(op.op, to_string(dtype), unserved ? ConformState::Unsupported : cell.state,
          cell.problem + "\n" + cell.call + "\n" + cell.repeat);
    }
  }
  for (const std::string& line : report.stale) add("known failures", line, ConformState::Fail, "it did not fail");
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"keyway conform {}\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuite>\n",
      escaped(report.device), tests, failures, errors, skipped, report.seconds, cases);
}

namespace {

constexpr std::string_view kPageHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>keyway conform</title><style>
:root { color-scheme: light dark; font: 14px system-ui, sans-serif; }
body { margin: 2em; }
table { border-collapse: collapse; }
th, td { padding: 3px 8px; text-align: left; border: 1px solid #8884; white-space: nowrap; }
thead th { position: sticky; top: 0; background: Canvas; }
.pass { background: #2a84; } .fail, .crash, .timeout, .not { background: #d336; }
.known { background: #da24; } .fallback { background: #28c3; } .unsupported { color: #888; }
details { white-space: pre-wrap; max-width: 60em; } summary { cursor: pointer; }
input { margin: 1em 0; padding: 4px; width: 24em; }
</style></head><body>
)";
// Shows the rows whose operator has the text in its name or state.
constexpr std::string_view kPageFoot = R"(<script>
document.querySelector('input').addEventListener('input', event => {
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll('tbody tr'))
    row.hidden = !row.dataset.text.includes(wanted);
});
</script></body></html>
)";

std::string cell_html(const ConformCell& cell) {
  const std::string_view state = to_string(cell.state);
  const std::string_view style = state.substr(0, state.find(' '));
  if (cell.state == ConformState::NotRun) return "<td></td>";
  if (cell.problem.empty()) return fmt::format("<td class=\"{}\">{}</td>", style, cell.calls());
  return fmt::format("<td class=\"{}\"><details><summary>{}</summary>{}\n\n{}\n\n{}</details></td>", style, state,
                     escaped(cell.problem), escaped(cell.call), escaped(cell.repeat));
}

}  // namespace

std::string html_of(const ConformReport& report) {
  std::set<ScalarType> dtypes;  // that any operator was judged with
  for (const OperatorReport& op : report.operators) {
    for (const auto& [dtype, cell] : op.cells) {
      if (cell.state != ConformState::NotRun) dtypes.insert(dtype);
    }
  }
  std::string page(kPageHead);
  page += fmt::format("<h1>keyway conform, device {}</h1>\n<p>{} calls of {} operators in {:.1f} s</p>\n<p>",
                      escaped(report.device), report.calls(), report.operators.size(), report.seconds);
  const auto counts = report.counts();
  for (std::size_t i = 0; i < kConformStates; ++i) {
    const std::string_view state = to_string(static_cast<ConformState>(i));
    if (counts[i] > 0) {
      page += fmt::format("<span class=\"{}\">&nbsp;{} {}&nbsp;</span> ", state.substr(0, state.find(' ')), counts[i],
                          state);
    }
  }
  page +=
      "</p>\n<p><input placeholder=\"operator or state\" aria-label=\"filter\"></p>\n<table><thead><tr><th>operator"
      "</th><th>state</th><th>held against</th><th>not judged</th><th>s</th>";
  for (const ScalarType dtype : dtypes) page += fmt::format("<th>{}</th>", to_string(dtype));
  page += "</tr></thead><tbody>\n";
  for (const OperatorReport& op : report.operators) {
    const std::string_view state = to_string(op.state);
    page +=
        fmt::format("<tr data-text=\"{} {}\"><td>{}</td><td class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{:.2f}</td>",
                    escaped(op.op), state, escaped(op.op), state.substr(0, state.find(' ')), state,
                    escaped(op.held_against), escaped(fmt::format("{}", fmt::join(op.not_run, ", "))), op.seconds);
    for (const ScalarType dtype : dtypes) {
      const auto cell = op.cells.find(dtype);
      page += cell == op.cells.end() ? "<td></td>" : cell_html(cell->second);
    }
    page += "</tr>\n";
  }
  return page + "</tbody></table>\n" + std::string(kPageFoot);
}

}  // namespace keyway::inline v1::tools
