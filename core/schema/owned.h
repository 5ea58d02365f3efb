// OwnedSchema: a schema parsed at run time, with the text that it is a view of.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/schema/schema.h>

#include <memory>
#include <string_view>

namespace keyway::inline v1 {

// Immutable. Copies share one block, so that views of it (FunctionSchema, Argument, names) stay valid while
// any copy lives, wherever it is moved to. Threads may read and copy freely.
class KEYWAY_API OwnedSchema {
 public:
  // Copies `text`. Throws keyway::Error of kind Parse with the column:
  //   schema 'add(tensor a) -> Tensor', column 5: 'tensor' is not a type; did you mean 'Tensor'?
  explicit OwnedSchema(std::string_view text);

  const FunctionSchema& operator*() const { return *schema_; }
  const FunctionSchema* operator->() const { return schema_.get(); }

 private:
  std::shared_ptr<const FunctionSchema> schema_;
};

}  // namespace keyway::inline v1
