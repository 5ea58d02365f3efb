#include <keyway/tools/keyway/terminal.h>

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace keyway::inline v1::tools {

bool is_terminal(std::FILE* file) { return isatty(fileno(file)) != 0; }

namespace {
bool colours_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool refused = no_color != nullptr && no_color[0] != '\0';
  return !refused && term != nullptr && std::string_view(term) != "dumb";
}
}  // namespace

Colours::Colours(std::FILE* output) : on_(is_terminal(output) && colours_wanted()) {}

std::string_view Colours::operator()(Colour colour) const {
  if (!on_) return {};
  switch (colour) {
    case Colour::Plain: return "\033[0m";
    case Colour::Red: return "\033[1;31m";
    case Colour::Bold: return "\033[1m";
  }
  return {};
}

}  // namespace keyway::inline v1::tools
