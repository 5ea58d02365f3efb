// Teams: how the threads of a block are shared out among items that several threads work at together.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

inline constexpr unsigned kTeamThreads = 256;  // of a block

struct Teams {
  std::uint32_t size = 1;  // threads of an item: a power of two, at most kTeamThreads
  bool columns = false;    // neighbouring threads have neighbouring items, not neighbouring elements of one

  // Which thread of which item's team a thread is. There may be no such item.
  struct Member {
    std::uint32_t item, rank;
  };
  KEYWAY_HD Member member(std::uint32_t block, std::uint32_t thread) const {
    const std::uint32_t items = per_block();
    const std::uint32_t mine = columns ? thread % items : thread / size;
    return {block * items + mine, columns ? thread / items : thread % size};
  }
  KEYWAY_HD std::uint32_t per_block() const { return kTeamThreads / size; }
  // How far threads of one team are apart whose ranks follow each other.
  KEYWAY_HD std::uint32_t step() const { return columns ? per_block() : 1; }
};

// For items of n elements. With `columns`, so few threads that the others can read neighbours.
Teams teams_for(std::uint64_t n, bool columns);

}  // namespace keyway::inline v1::cuda
