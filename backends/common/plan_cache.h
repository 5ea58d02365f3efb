// PlanCache: what was chosen for a problem is kept for the next time, for as many problems as were asked last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace keyway::inline v1 {

// What a key's hash() is made of.
class PlanHash {
 public:
  void add(std::int64_t number) {
    sum_ = (sum_ ^ static_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15U;
    sum_ ^= sum_ >> 29;
  }
  template <typename Numbers>
  void add_all(const Numbers& numbers) {
    for (const std::int64_t number : numbers) add(number);
  }
  std::size_t value() const { return static_cast<std::size_t>(sum_); }

 private:
  std::uint64_t sum_ = 0;
};

// Key has == and hash(). Any thread may call get().
template <typename Key, typename Plan, typename Mutex = std::mutex>
class PlanCache {
 public:
  // What the mutex is made of follows. Requires: most > 0.
  template <typename... OfMutex>
  explicit PlanCache(std::size_t most, OfMutex... of_mutex) : most_(most), mutex_(of_mutex...) {}
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  // The plan that is known, or make(), which nobody waits for but the caller: two threads may make one plan, and the
  // first is kept. What make() throws leaves the cache as it was.
  template <typename Make>
  Plan get(const Key& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = by_key_.find(key); known != by_key_.end()) {
        plans_.splice(plans_.begin(), plans_, known->second);
        return plans_.front().second;
      }
    }
    const Plan made = make();
    std::optional<Plan> evicted;  // goes after the lock: that may wait for a device
    const std::lock_guard lock(mutex_);
    if (const auto known = by_key_.find(key); known != by_key_.end()) return known->second->second;
    plans_.emplace_front(key, made);
    by_key_.emplace(key, plans_.begin());
    if (plans_.size() > most_) {
      by_key_.erase(plans_.back().first);
      evicted = std::move(plans_.back().second);
      plans_.pop_back();
    }
    return made;
  }

  // What was found out about a plan later.
  void replace(const Key& key, const Plan& plan) {
    const std::lock_guard lock(mutex_);
    if (const auto known = by_key_.find(key); known != by_key_.end()) known->second->second = plan;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return plans_.size();
  }

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.hash(); }
  };
  using Plans = std::list<std::pair<Key, Plan>>;  // the one asked last is first

  const std::size_t most_;
  mutable Mutex mutex_;
  Plans plans_;
  std::unordered_map<Key, typename Plans::iterator, Hash> by_key_;
};

}  // namespace keyway::inline v1
