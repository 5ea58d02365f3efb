// AutogradMetaInterface: what a tensor carries for gradients. The graph itself lives in autograd/; core sees this much
// of it.
#pragma once

#include <keyway/core/base/intrusive_ptr.h>
#include <keyway/core/base/macros.h>

namespace keyway::inline v1 {

class TensorImpl;

class KEYWAY_API AutogradMetaInterface {
 public:
  virtual ~AutogradMetaInterface();

  // Whether gradients flow to this tensor. Not a plain flag: a view's answer follows its base.
  virtual bool requires_grad() const = 0;
  // Whether the tensor is a leaf of the graph: not computed from something that requires a gradient.
  virtual bool is_leaf() const = 0;
  // The accumulated gradient; null if there is none.
  virtual const intrusive_ptr<TensorImpl>& grad() const = 0;
};

}  // namespace keyway::inline v1
