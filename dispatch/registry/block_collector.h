// The blocks of a library that this thread is loading. Internal to dispatch/.
#pragma once

#include <keyway/core/schema/owned.h>
#include <keyway/dispatch/registry/library.h>

#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// Appends what a block asks for to what others do: all are registered, or none.
void append(BlockRequest& to, BlockRequest&& from);

// The schema that a library was built for.
struct ExpectedSchema {
  OwnedSchema schema;
  RegistrationSite site;

  // What is wrong with it, among what is registered and what the library defines; empty if nothing is.
  std::string problem(const std::vector<DefRequest>& defs) const;
};

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
  void add(ExpectedSchema expected) { expected_.push_back(std::move(expected)); }
  // What was collected so far.
  const BlockRequest& request() const { return request_; }
  // Registers all for good; throws keyway::Error(Registration) if anything is wrong, and then nothing is registered.
  void commit();
  // Hands over what was collected, for the caller to register; schemas that are not what was expected are errors of it.
  BlockRequest take_request();

 private:
  BlockCollector* outer_;
  BlockRequest request_;
  std::vector<ExpectedSchema> expected_;
  bool is_empty_ = true;
  const void* code_ = nullptr;  // of a block
};

}  // namespace keyway::inline v1
