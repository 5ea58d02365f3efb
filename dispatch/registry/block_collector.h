// The blocks of a library that this thread is loading. Internal to dispatch/.
#pragma once

#include <keyway/dispatch/registry/library.h>

namespace keyway::inline v1 {

// Appends what a block asks for to what others do: all are registered, or none.
void append(BlockRequest& to, BlockRequest&& from);

// While one lives, LibraryBlocks of this thread give it what they would register, and what they throw.
class BlockCollector {
 public:
  BlockCollector();
  ~BlockCollector();
  BlockCollector(const BlockCollector&) = delete;
  BlockCollector& operator=(const BlockCollector&) = delete;

  // The innermost of this thread; null if it is loading no library.
  static BlockCollector* current();
  void add(Library& library, void (*block)(Library&));
  // What a library asks for without a block; `code` is an address in it, or null.
  void add(BlockRequest request, const void* code);
  // Registers all for good; throws keyway::Error(Registration) if anything is wrong, and then nothing is registered.
  void commit();
  // Hands over what was collected, for the caller to register.
  BlockRequest take_request();

 private:
  BlockCollector* outer_;
  BlockRequest request_;
  bool is_empty_ = true;
  const void* code_ = nullptr;  // of a block
};

}  // namespace keyway::inline v1
