// register_block: registers what a library asks for statement by statement, as those of the stable C ABI do
// (stable/abi.h), where KEYWAY_LIBRARY registers a whole block.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>

namespace keyway::inline v1 {

// While the thread loads a library (load_library, load_plugin), what is asked for becomes part of what that library
// registers: all of it or, with every error listed, none. Otherwise it is registered at once and for good, or throws
// keyway::Error(Registration); the library that holds the address `code`, if it is not null, stays mapped then.
KEYWAY_API void register_block(BlockRequest request, const void* code);

// Whether the thread loads a library, so that errors may wait for its end.
KEYWAY_API bool is_loading_library();

}  // namespace keyway::inline v1
