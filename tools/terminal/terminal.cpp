#include <keyway/tools/terminal/terminal.h>

#include <cstdlib>
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

std::string Colours::operator()(Colour colour, std::string_view text) const {
  if (!on_) return std::string(text);
  return (colour == Colour::Red ? "\033[1;31m" : "\033[1m") + std::string(text) + "\033[0m";
}

}  // namespace keyway::inline v1::tools
