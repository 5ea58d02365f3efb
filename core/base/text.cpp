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

}  // namespace keyway::inline v1
