#include <keyway/graph/section_layout.h>

#include <algorithm>
#include <map>
#include <optional>

namespace keyway::inline v1::graph {
namespace {

// When a step is made.
struct Turn {
  std::size_t section, part, position;

  bool is_before(const Turn& other) const {
    return section < other.section || (section == other.section && part == other.part && position < other.position);
  }
};

std::vector<Turn> turns_of(const std::vector<Section>& sections) {
  std::size_t count = 0;
  for (const Section& section : sections) count += section.steps().size();
  std::vector<Turn> turns(count);
  std::size_t position = 0;
  for (std::size_t s = 0; s < sections.size(); ++s) {
    for (std::size_t p = 0; p < sections[s].parts.size(); ++p) {
      for (const std::size_t step : sections[s].parts[p]) turns[step] = {s, p, position++};
    }
  }
  return turns;
}

// From the first position to the last one, both included.
struct Extent {
  std::size_t first = ~std::size_t{0}, last = 0;

  void add(const Extent& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

// When memories are needed.
class Extents {
 public:
  Extents(const std::vector<std::size_t>& homes, const std::vector<std::vector<std::size_t>>& uses,
          const std::vector<Section>& sections)
      : turns_(turns_of(sections)), of_sections_(sections.size()), memories_(homes.size()) {
    for (const Turn& turn : turns_) of_sections_[turn.section].add({turn.position, turn.position});
    for (std::size_t memory = 0; memory < homes.size(); ++memory) {
      for (const std::size_t step : uses[memory])
        memories_[homes[memory]].add(turns_[step], of_sections_, sections[turns_[step].section].is_parallel());
    }
  }

  // The section and the part of it in which alone a memory is used, if there is one.
  std::optional<std::pair<std::size_t, std::size_t>> part_of(std::size_t memory) const {
    const Memory& its = memories_[memory];
    if (!its.is_used || its.is_spread) return std::nullopt;
    return std::pair(its.section, its.part);
  }
  // Within that part.
  const Extent& within_part(std::size_t memory) const { return memories_[memory].own; }
  // With the sections whole in which it is used beside other steps; from begin to end if no step uses it.
  Extent of(std::size_t memory) const {
    if (memories_[memory].is_used) return memories_[memory].whole;
    return {0, turns_.empty() ? 0 : turns_.size() - 1};
  }
  const Extent& of_section(std::size_t section) const { return of_sections_[section]; }

 private:
  struct Memory {
    Extent own = {}, whole = {};
    std::size_t section = 0, part = 0;
    bool is_used = false, is_spread = false;

    void add(const Turn& turn, const std::vector<Extent>& of_sections, bool is_parallel) {
      is_spread = is_spread || !is_parallel || (is_used && (section != turn.section || part != turn.part));
      is_used = true;
      section = turn.section;
      part = turn.part;
      own.add({turn.position, turn.position});
      whole.add(is_parallel ? of_sections[turn.section] : Extent{turn.position, turn.position});
    }
  };

  std::vector<Turn> turns_;
  std::vector<Extent> of_sections_;
  std::vector<Memory> memories_;  // by their homes
};

}  // namespace

std::vector<std::vector<std::size_t>> uses_of_memories(const std::vector<StepUse>& steps, std::size_t memories) {
  std::vector<std::vector<std::size_t>> uses(memories);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (const std::vector<std::size_t>* const each : {&steps[step].reads, &steps[step].writes}) {
      for (const std::size_t memory : *each) {
        if (uses[memory].empty() || uses[memory].back() != step) uses[memory].push_back(step);
      }
    }
  }
  return uses;
}

std::vector<std::size_t> homes_of(const std::vector<std::pair<std::size_t, std::size_t>>& heirs,
                                  const std::vector<std::vector<std::size_t>>& uses,
                                  const std::vector<Section>& sections) {
  const std::vector<Turn> turns = turns_of(sections);
  std::vector<std::size_t> homes(uses.size());
  for (std::size_t memory = 0; memory < homes.size(); ++memory) homes[memory] = memory;
  for (const auto& [heir, memory] : heirs) {
    // What used the places before that memory did came before the step that made it, by the same rule.
    const std::size_t maker = uses[heir].front();
    const auto is_over = [&](std::size_t user) { return user == maker || turns[user].is_before(turns[maker]); };
    if (std::ranges::all_of(uses[memory], is_over)) homes[heir] = homes[memory];
  }
  return homes;
}

ArenaLayout lay_out(const std::vector<std::size_t>& bytes, const std::vector<std::size_t>& homes,
                    const std::vector<std::vector<std::size_t>>& uses, const std::vector<Section>& sections) {
  const Extents extents(homes, uses, sections);
  // What one part alone uses shares a block of memory with the like, and the section needs the block as a whole.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> blocks;
  std::vector<Lifetime> lifetimes(bytes.size(), {0, 0, 0});
  for (std::size_t memory = 0; memory < bytes.size(); ++memory) {
    if (homes[memory] != memory || bytes[memory] == 0) continue;
    if (const auto part = extents.part_of(memory)) {
      blocks[*part].push_back(memory);
    } else {
      lifetimes[memory] = {bytes[memory], extents.of(memory).first, extents.of(memory).last};
    }
  }
  std::vector<ArenaLayout> layouts;
  for (const auto& [part, memories] : blocks) {
    std::vector<Lifetime> within;
    for (const std::size_t memory : memories) {
      const Extent& extent = extents.within_part(memory);
      within.push_back({bytes[memory], extent.first, extent.last});
    }
    layouts.push_back(lay_out(within));
    const Extent& section = extents.of_section(part.first);
    lifetimes.push_back({layouts.back().bytes, section.first, section.last});
  }
  ArenaLayout layout = lay_out(lifetimes);
  std::size_t block = 0;
  for (const auto& [part, memories] : blocks) {
    for (std::size_t i = 0; i < memories.size(); ++i)
      layout.offsets[memories[i]] = layout.offsets[bytes.size() + block] + layouts[block].offsets[i];
    ++block;
  }
  layout.offsets.resize(bytes.size());
  return layout;
}

}  // namespace keyway::inline v1::graph
