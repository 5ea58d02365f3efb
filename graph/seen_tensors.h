// The tensors and the memory that a capture has seen, and which values they are.
#pragma once

#include <keyway/graph/graph.h>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace keyway::inline v1::graph {

// It holds weak references. So a tensor lives no longer than without a capture, and no other tensor gets its address.
class SeenTensors {
 public:
  struct Seen {
    weak_intrusive_ptr<TensorImpl> tensor;
    ValueId value;
    const StorageImpl* storage;   // as the last call left it
    bool is_made_beside = false;  // by autograd, over the memory of the tensor that is the value
  };
  // Where memory comes from. It decides what a tensor over it is that no call has made.
  enum class Origin : std::uint8_t {
    Call,            // a recorded call made it
    WithinCall,      // a call within a recorded one made it
    State,           // the program has it from elsewhere
    Argument,        // of arguments alone
    SharedArgument,  // of arguments, and of tensors that are none
  };
  struct Memory {
    weak_intrusive_ptr<StorageImpl> storage;
    Origin origin;
    std::vector<ValueId> values;  // that lie in it
    bool is_set = true;           // false until a call writes to what empty() gave
    std::size_t bytes = 0;        // that it has
  };

  Seen* find(const TensorBase& tensor);
  Memory* find_memory(const TensorBase& tensor);
  void add(const TensorBase& tensor, ValueId value, Origin origin_of_memory);
  // Memory that a call has made for itself: no value lies there.
  void add_memory_within_call(const TensorBase& tensor) { memory_of(tensor, Origin::WithinCall); }
  // Those that are alive.
  std::vector<std::pair<TensorBase, ValueId>> alive() const;
  // After a call that may have given a tensor that was seen other memory.
  void move_memory(const TensorBase& tensor, Origin origin);

 private:
  Memory& memory_of(const TensorBase& tensor, Origin origin);
  std::unordered_map<const TensorImpl*, Seen> tensors_;
  std::unordered_map<const StorageImpl*, Memory> memories_;
};

}  // namespace keyway::inline v1::graph
