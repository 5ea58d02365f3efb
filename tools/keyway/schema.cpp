// keyway schema: judges schema strings.
#include <keyway/core/schema/parser.h>
#include <keyway/core/schema/printer.h>
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/terminal/terminal.h>

#include <cstddef>
#include <cstdio>
#include <iostream>
#include <string>

namespace keyway::inline v1::tools {

namespace {

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

// The canonical form of one line, or its error. Returns whether it parses.
bool judge(const std::string& line, std::size_t number, const Colours& colours, std::string& out) {
  const ParseResult result = parse_schema(line);
  if (result.ok()) {
    append_schema(out, result.schema());
  } else {
    out.append(std::to_string(number)).append(":").append(std::to_string(result.column())).append(": ");
    out.append(colours(Colour::Red, "error:")).append(" ");
    append_message(out, result.error);
  }
  out += '\n';
  return result.ok();
}

// Answers line by line to a person, in large pieces to a program.
ExitStatus judge_standard_input() {
  constexpr std::size_t kPiece = 1 << 16;
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  const Colours colours(stdout);
  const std::size_t piece = is_terminal(stdin) ? 1 : kPiece;
  auto status = ExitStatus::Ok;
  std::string out;
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    if (is_blank(line)) continue;
    if (!judge(line, number, colours, out)) status = ExitStatus::Failed;
    if (out.size() >= piece) {
      std::cout << out << std::flush;
      out.clear();
    }
  }
  std::cout << out << std::flush;
  if (std::cin.bad() || !std::cout) {
    std::cerr << "keyway schema: cannot read standard input or write standard output\n";
    return ExitStatus::Usage;
  }
  return status;
}

}  // namespace

void add_schema_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("schema", "Judge schema strings and print their canonical form");
  command->footer(
      "Reads schema strings from standard input, one a line; blank lines are skipped. Prints for each, in "
      "order,\n"
      "one line: its canonical form, or\n"
      "  LINE:COLUMN: error: what is wrong\n"
      "with the number of the input line and of the byte in it, both from 1. Exit status 1 if any is wrong.\n"
      "\n"
      "Example:\n"
      "  $ echo 'add(tensor a)->Tensor' | keyway schema\n"
      "  1:5: error: 'tensor' is not a type; did you mean 'Tensor'?");
  command->callback([&status] { status = judge_standard_input(); });
}

}  // namespace keyway::inline v1::tools
