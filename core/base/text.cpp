#include <keyway/core/base/edit_distance.h>
#include <keyway/core/base/text.h>

#include <algorithm>

namespace keyway::inline v1 {

std::string nearest_text(std::string_view text, ArrayRef<std::string> candidates) {
  if (text.size() > kLongestCompared) return {};
  std::string best;
  std::size_t least = std::max<std::size_t>(1, text.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestCompared || candidate == text) continue;
    const std::size_t distance = edit_distance(text, candidate);
    if (distance < least && distance < candidate.size()) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto within = [&](std::size_t i) {
    const char c = text[i];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !within(at - 1)) && (end == text.size() || !within(end))) return true;
  }
  return false;
}

}  // namespace keyway::inline v1
