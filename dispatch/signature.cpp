#include <keyway/dispatch/signature.h>

#include <keyway/core/schema/canonical_cpp.h>

namespace keyway::inline v1 {

std::uint64_t signature_hash_of(const FunctionSchema& schema) {
  SignatureHash hash;
  for (const char c : canonical_signature(schema).code) hash << c;
  return hash.value();
}

std::string signature_text_of(const FunctionSchema& schema) { return canonical_signature(schema).cpp; }

}  // namespace keyway::inline v1
