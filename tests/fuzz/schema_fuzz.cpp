// A fuzzer: any bytes either parse, and then print, parse and compare as they should, or give an error with
// a place inside the text. Run: schema_fuzz -max_len=4096 tests/fuzz/corpus/schema
#include <keyway/core/schema/hash.h>
#include <keyway/core/schema/parser.h>
#include <keyway/core/schema/printer.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool holds, const char* what, std::string_view text) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n  %.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keyway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ParseResult first = parse_schema(text);
  if (!first.ok()) {
    require(first.column() >= 1 && first.column() <= size + 1, "an error lies in the text", text);
    require(first.message().size() < 700, "a message is short", text);
    return 0;
  }
  const std::string printed = to_string(first.schema());
  const ParseResult second = parse_schema(printed);
  require(second.ok(), "what was printed parses", printed);
  require(to_string(second.schema()) == printed, "printing is a fixed point", printed);
  require(first.schema() == second.schema(), "what was printed is equal", printed);
  require(hash(first.schema()) == hash(second.schema()), "equal schemas have equal hashes", printed);
  return 0;
}
