#include <accelerator/hardware.h>
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace accelerator {

namespace {

constexpr std::size_t kAlignment = 64, kFence = 64;
constexpr char kFresh = '\xff', kFenceByte = '\x5a';
constexpr std::uintptr_t kDeviceBit = std::uintptr_t{1} << 62;  // no address of the host has it

thread_local Chip* running_on = nullptr;  // the chip whose command this thread runs

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

void Point::reach() {
  time_ = std::chrono::steady_clock::now();
  reached_.store(true, std::memory_order_release);
  reached_.notify_all();
}

Queue::~Queue() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Queue::push(Command command) {
  chip_.hardware().check_process();
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
    ++unfinished_;
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  changed_.notify_one();
}

std::shared_ptr<Point> Queue::mark() {
  auto point = std::make_shared<Point>();
  push([point] { point->reach(); });
  return point;
}

void Queue::wait_for(std::shared_ptr<Point> point) {
  push([point = std::move(point)] { point->wait(); });
}

void Queue::run() {
  running_on = &chip_;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !commands_.empty(); });
    if (commands_.empty()) return;
    Command command = std::move(commands_.front());
    commands_.pop_front();
    lock.unlock();
    try {
      command();
    } catch (...) {
      chip_.note(std::current_exception());
    }
    command = nullptr;  // what it holds goes before the next one
    --unfinished_;
    lock.lock();
  }
}

Memory::Memory(int chip, std::size_t capacity)
    : base_(kDeviceBit | static_cast<std::uintptr_t>(chip) << 48),
      capacity_(capacity),
      cells_(std::make_unique_for_overwrite<char[]>(capacity + 16)) {}

void* Memory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t needed = (bytes + kFence + 2 * kAlignment - 1) / (2 * kAlignment) * (2 * kAlignment);
  std::size_t begin = kAlignment;  // of the first gap that is large enough
  for (const auto& [at, length] : buffers_) {
    if (at - begin >= needed) break;
    begin = at + length;
  }
  if (needed > capacity_ || begin > capacity_ - needed) return nullptr;
  buffers_[begin] = needed;
  void* const address = reinterpret_cast<void*>(base_ + begin);
  std::memset(cell(address), kFresh, bytes);
  std::memset(cell(address) + bytes, kFenceByte, needed - bytes);
  return address;
}

bool Memory::free(void* address) {
  const std::lock_guard lock(mutex_);
  const auto buffer = buffers_.find(number_of(address) - base_);
  const char* const end = cell(address) + buffer->second;
  buffers_.erase(buffer);
  return std::all_of(end - kFence, end, [](char c) { return c == kFenceByte; });
}

std::size_t Memory::used() const {
  const std::lock_guard lock(mutex_);
  std::size_t used = 0;
  for (const auto& [at, length] : buffers_) used += length;
  return used;
}

bool Memory::has(const void* address) const { return number_of(address) - base_ < capacity_; }

// Not aligned as the address is: vectors that are aligned on the device are not where the simulation keeps them.
char* Memory::cell(const void* address) const { return cells_.get() + 16 + (number_of(address) - base_); }

Chip::Chip(Hardware& hardware, int number, std::size_t memory) : hardware_(hardware), memory_(number, memory) {
  for (auto& queue : queues_) queue = std::make_unique<Queue>(*this);
}

void Chip::drain() {
  std::shared_ptr<Point> points[kQueues];
  for (std::size_t i = 0; i < kQueues; ++i) {
    if (!queues_[i]->is_idle()) points[i] = queues_[i]->mark();
  }
  for (const auto& point : points) {
    if (point != nullptr) point->wait();
  }
}

void Chip::note(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (error_ == nullptr) error_ = std::move(error);
}

void Chip::throw_error() {
  std::unique_lock lock(mutex_);
  const std::exception_ptr error = std::exchange(error_, nullptr);
  lock.unlock();
  if (error != nullptr) std::rethrow_exception(error);
}

Hardware::Hardware(std::size_t memory_of_a_chip) {
  for (int i = 0; i < kChips; ++i) chips_[i] = std::make_unique<Chip>(*this, i, memory_of_a_chip);
}

void Hardware::check_process() {
  pid_t nobody = 0;
  const pid_t self = getpid();
  if (process_.compare_exchange_strong(nobody, self) || nobody == self) return;
  throw std::runtime_error("the accelerator cannot be used in a process forked from one that used it");
}

char* reach(const void* address) {
  if (address == nullptr) return nullptr;
  if (running_on == nullptr) throw std::logic_error("the host cannot reach the accelerator's memory");
  if (!running_on->memory().has(address))
    throw std::logic_error("a command used memory of another chip, or of the host");
  return running_on->memory().cell(address);
}

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  const auto cell = [](const void* address) {
    for (int i = 0; i < kChips; ++i) {
      const Memory& memory = running_on->hardware().chip(i).memory();
      if (memory.has(address)) return memory.cell(address);
    }
    return static_cast<char*>(const_cast<void*>(address));
  };
  std::memcpy(cell(to), cell(from), bytes);
}

}  // namespace accelerator
