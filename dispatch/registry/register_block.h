// register_block: registers what a library asks for statement by statement, as those of the stable C ABI do
// (stable/abi.h), where KEYWAY_LIBRARY registers a whole block.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>

#include <string_view>

namespace keyway::inline v1 {

// While the thread loads a library (load_library, load_plugin), what is asked for becomes part of what that library
// registers: all of it or, with every error listed, none. Otherwise it is registered at once and for good, or throws
// keyway::Error(Registration); the library that holds the address `code`, if it is not null, stays mapped then.
KEYWAY_API void register_block(BlockRequest request, const void* code);

// Says which schema an operator must have, with its namespace: another one, or none, is an error that shows the
// difference. While the thread loads a library, it is looked up once all that the library defines is known; otherwise
// now. Throws keyway::Error(Registration), or of kind Parse.
KEYWAY_API void expect_schema(std::string_view schema, const RegistrationSite& site);

// Whether the thread loads a library, so that errors may wait for its end.
KEYWAY_API bool is_loading_library();

}  // namespace keyway::inline v1
