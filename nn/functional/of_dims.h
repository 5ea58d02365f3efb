// KEYWAY_OF_DIMS(D, name, suffix): of operators name1d, name2d and name3d, the one for D dimensions. Internal to nn.
#pragma once

#define KEYWAY_OF_DIMS(D, name, ...)                             \
  [](const auto&... args) {                                      \
    if constexpr (D == 1) return name##1d##__VA_ARGS__(args...); \
    if constexpr (D == 2) return name##2d##__VA_ARGS__(args...); \
    if constexpr (D == 3) return name##3d##__VA_ARGS__(args...); \
  }
