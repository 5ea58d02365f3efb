// What oneDNN's primitives are kept in. Included by the files that call oneDNN alone.
#pragma once

#include <keyway/backends/cpu/onednn.h>
#include <keyway/core/base/fork_safe_mutex.h>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace keyway::inline v1::onednn {

// Of the numbers that a key is made of.
class KeyHash {
 public:
  void mix(std::int64_t x) {
    hash_ = (hash_ ^ static_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 29;
  }
  std::size_t get() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

// The Made(key) of the keys used last, which come first; null where oneDNN has no such primitive. Never destroyed. Its
// mutex is taken around a fork, so that no child finds it locked for ever.
template <typename Key, typename Made, typename Hash>
class PrimitiveCache {
 public:
  // `what` names it in errors.
  static std::shared_ptr<const Made> get(const Key& key, const char* what) { return the_cache().find(key, what); }

 private:
  static constexpr std::size_t kEntries = 128;
  struct Entry {
    Key key;
    std::shared_ptr<const Made> made;
  };

  static PrimitiveCache& the_cache() {
    static PrimitiveCache* const cache = new PrimitiveCache;
    return *cache;
  }

  static std::shared_ptr<const Made> make(const Key& key, const char* what) {
    return call(what, [&]() -> std::shared_ptr<const Made> {
      try {
        return std::make_shared<const Made>(key);
      } catch (const dnnl::error& error) {
        if (error.status != dnnl_unimplemented && error.status != dnnl_invalid_arguments) throw;
        return nullptr;
      }
    });
  }

  std::shared_ptr<const Made> find(const Key& key, const char* what) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = by_key_.find(key); found != by_key_.end()) {
        entries_.splice(entries_.begin(), entries_, found->second);
        return found->second->made;
      }
    }
    const auto made = make(key, what);
    const std::lock_guard lock(mutex_);
    if (by_key_.count(key) != 0) return made;  // another thread was faster
    entries_.push_front({key, made});
    by_key_.emplace(key, entries_.begin());
    if (entries_.size() > kEntries) {
      by_key_.erase(entries_.back().key);
      entries_.pop_back();
    }
    return made;
  }

  ForkSafeMutex mutex_{LockOrder::Primitives};
  std::list<Entry> entries_;
  std::unordered_map<Key, typename std::list<Entry>::iterator, Hash> by_key_;
};

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
