#include <keyway/dispatch/registry/block_collector.h>
#include <keyway/dispatch/registry/pin_library.h>
#include <keyway/dispatch/registry/register_block.h>

#include <utility>

namespace keyway::inline v1 {

void register_block(BlockRequest request, const void* code) {
  if (BlockCollector* const loading = BlockCollector::current()) {
    loading->add(std::move(request), code);
    return;
  }
  request.for_good = true;
  Dispatcher::singleton().commit(std::move(request)).release();
  if (code != nullptr) pin_library_of(code);
}

bool is_loading_library() { return BlockCollector::current() != nullptr; }

}  // namespace keyway::inline v1
