// HookList: functions that are added while others run through them.
#pragma once

#include <atomic>
#include <utility>

namespace keyway::inline v1::autograd {

// Only grows. Any number of threads may add and run through it at once, without a lock.
template <typename Function>
class HookList {
 public:
  HookList() = default;
  HookList(const HookList&) = delete;
  HookList& operator=(const HookList&) = delete;
  ~HookList() {
    for (Item* item = first_.load(std::memory_order_acquire); item != nullptr;)
      delete std::exchange(item, item->next.load(std::memory_order_acquire));
  }

  bool empty() const { return first_.load(std::memory_order_acquire) == nullptr; }

  void add(Function function) {
    Item* const made = new Item{std::move(function)};
    for (std::atomic<Item*>* end = &first_;;) {
      Item* item = nullptr;
      if (end->compare_exchange_strong(item, made, std::memory_order_acq_rel, std::memory_order_acquire)) return;
      end = &item->next;
    }
  }

  // Calls `call` with each function, in order. Those that are added meanwhile are left out.
  template <typename Call>
  void for_each(const Call& call) const {
    const Item* const last = last_item();
    if (last == nullptr) return;
    for (const Item* item = first_.load(std::memory_order_acquire);;
         item = item->next.load(std::memory_order_acquire)) {
      call(item->function);
      if (item == last) return;
    }
  }

 private:
  struct Item {
    Function function;
    std::atomic<Item*> next{nullptr};
  };

  const Item* last_item() const {
    const Item* last = nullptr;
    for (const Item* item = first_.load(std::memory_order_acquire); item != nullptr;
         item = item->next.load(std::memory_order_acquire))
      last = item;
    return last;
  }

  std::atomic<Item*> first_{nullptr};
};

}  // namespace keyway::inline v1::autograd
