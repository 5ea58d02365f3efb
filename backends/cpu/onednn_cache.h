// What oneDNN's primitives are kept in. Included by the files that call oneDNN alone.
#pragma once

#include <keyway/backends/common/plan_cache.h>
#include <keyway/backends/cpu/onednn.h>
#include <keyway/core/base/fork_safe_mutex.h>

#include <memory>
#include <string_view>

namespace keyway::inline v1::onednn {

// The Made(key) of the keys used last; null where oneDNN has no such primitive. `what` names it in errors. Never
// destroyed. The mutex is taken around a fork, so that no child finds it locked for ever.
template <typename Made, typename Key>
std::shared_ptr<const Made> cached(const Key& key, const char* what) {
  using Primitive = std::shared_ptr<const Made>;
  static auto& cache = *new PlanCache<Key, Primitive, ForkSafeMutex>(128, LockOrder::Primitives);
  return cache.get(key, [&] {
    return call(what, [&]() -> Primitive {
      try {
        return std::make_shared<const Made>(key);
      } catch (const dnnl::error& error) {
        if (error.status != dnnl_unimplemented && error.status != dnnl_invalid_arguments) throw;
        return nullptr;
      }
    });
  });
}

// Throws dnnl_unimplemented, which the cache keeps as null, for what own loops do better: oneDNN's reference, which is
// slow, and what goes by its products of float32, which no signal may meet (onednn.h).
template <typename Desc>
void refuse_unfit(const Desc& made) {
  const std::string_view name = made.impl_info_str();
  if (name.starts_with("ref") || name.find("gemm") != name.npos)
    throw dnnl::error(dnnl_unimplemented, "own loops are better");
}

inline dnnl::memory wrap(const dnnl::memory::desc& desc, const void* data) {
  return dnnl::memory(desc, engine(), const_cast<void*>(data));
}
// With scratch memory that the caller gives.
inline dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

}  // namespace keyway::inline v1::onednn
