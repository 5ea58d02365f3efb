// The simulated hardware: chips with memory and queues of their own. It stands for a vendor's driver, so it knows
// nothing of Keyway.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <thread>

namespace accelerator {

inline constexpr int kChips = 2;
inline constexpr int kQueues = 5;  // of a chip

class Hardware;
class Chip;

// A point in a queue: it is reached when the commands before it are done.
class Point {
 public:
  void reach();
  bool is_reached() const { return reached_.load(std::memory_order_acquire); }
  void wait() const { reached_.wait(false, std::memory_order_acquire); }
  std::chrono::steady_clock::time_point time() const { return time_; }

 private:
  std::chrono::steady_clock::time_point time_;
  std::atomic<bool> reached_{false};
};

// Commands that run one after another, on a thread of their own, while the host goes on. Thread-safe.
class Queue {
 public:
  using Command = std::function<void()>;

  explicit Queue(Chip& chip) : chip_(chip) {}
  ~Queue();  // when all commands are done

  void push(Command command);
  std::shared_ptr<Point> mark();
  bool is_idle() const { return unfinished_.load(std::memory_order_acquire) == 0; }
  // Commands pushed later wait for a point, of this queue or of another.
  void wait_for(std::shared_ptr<Point> point);

  Chip& chip() { return chip_; }

 private:
  void run();

  Chip& chip_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Command> commands_;
  std::atomic<std::size_t> unfinished_{0};
  bool ends_ = false;
  std::thread thread_;  // from the first command on
};

// Memory of a chip. Addresses are none that the host could read: it crashes at once if it tries. A buffer begins at an
// odd multiple of 64 bytes, and is followed by a fence, which nobody may write to.
class Memory {
 public:
  explicit Memory(int chip, std::size_t capacity);

  // Uninitialised memory; floats in it are NaN. Null if there is no room.
  void* allocate(std::size_t bytes);
  // Whether the fence behind the buffer is as it was.
  [[nodiscard]] bool free(void* address);
  std::size_t capacity() const { return capacity_; }
  std::size_t used() const;

  bool has(const void* address) const;
  // Where the simulation keeps the byte at an address.
  char* cell(const void* address) const;

 private:
  const std::uintptr_t base_;
  const std::size_t capacity_;
  const std::unique_ptr<char[]> cells_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::size_t> buffers_;  // where they begin, and how long they are
};

class Chip {
 public:
  Chip(Hardware& hardware, int number, std::size_t memory);

  Hardware& hardware() { return hardware_; }
  Memory& memory() { return memory_; }
  Queue& queue(std::size_t number) { return *queues_[number]; }

  // Waits for all commands.
  void drain();
  // Keeps the first error of a command until somebody asks.
  void note(std::exception_ptr error);
  void throw_error();

 private:
  Hardware& hardware_;
  Memory memory_;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::unique_ptr<Queue> queues_[kQueues];
};

class Hardware {
 public:
  explicit Hardware(std::size_t memory_of_a_chip);

  Chip& chip(int number) { return *chips_[number]; }
  // Threads do not survive a fork. Throws std::runtime_error in a process that was forked from one with commands.
  void check_process();

 private:
  std::atomic<pid_t> process_{0};  // that pushed the first command
  std::unique_ptr<Chip> chips_[kChips];
};

// What a command reads and writes by: the bytes at an address of the chip that it runs on. Throws std::logic_error on
// the host, and on another chip.
char* reach(const void* address);

// A command of the copy engine, which reaches the host's memory and that of all chips.
void copy_bytes(void* to, const void* from, std::size_t bytes);

}  // namespace accelerator
