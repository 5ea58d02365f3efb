#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/device/held.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/core/tensor/pinned_memory.h>
#include <keyway/core/tensor/storage_listener.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

namespace keyway::inline v1 {

namespace {

// Two threads may clone one tensor at once.
constinit ForkSafeMutex sharing(LockOrder::Sharing);

}  // namespace

// The owner of bytes that several storages refer to; each counts as one reference.
class SharedBytes final : public RefCounted {
 public:
  // A new storage over the bytes of `storage`. Requires: the caller holds the lock.
  static Storage share(StorageImpl& storage) {
    auto made = make_intrusive<StorageImpl>(DataPtr(nullptr, storage.device()), storage.nbytes(), /*resizable=*/true);
    void* const data = storage.data();
    // The last one to have bytes keeps their owner, which is enough for the next time.
    if (storage.data_.deleter() != let_go) {
      auto bytes = make_intrusive<SharedBytes>();
      SharedBytes& own = *bytes;
      own.data_ = storage.data_.exchange(data, bytes.release(), let_go);
    }
    storage.is_shared_.store(true, std::memory_order_release);
    made->data_ = DataPtr(data, intrusive_ptr<SharedBytes>::retain(of(storage)).release(), let_go, storage.device());
    made->is_shared_.store(true, std::memory_order_release);
    return Storage(std::move(made));
  }

  // Gives a storage bytes of its own. Requires: the storage shares, and no other thread uses it.
  static void end_sharing(StorageImpl& storage) {
    // The last one has them for itself: whoever shared them has read what it wanted.
    if (of(storage)->use_count() != 1) (void)take_over(storage, copy_of(storage.nbytes(), storage.data()));
    note_own(storage);
  }

  // The same while other threads read, or do the same: who reads at the old address may go on, as the storage keeps
  // what was there. Other threads may share bytes while these are copied.
  static void end_sharing_beside_readers(StorageImpl& storage) {
    intrusive_ptr<SharedBytes> held;  // another holder, so that nobody takes them for its own
    {
      const std::lock_guard lock(sharing);
      if (!storage.is_shared()) return;
      if (of(storage)->use_count() == 1) return note_own(storage);
      held = intrusive_ptr<SharedBytes>::retain(of(storage));
    }
    std::unique_ptr<OwnBytes> own = copy_of(storage.nbytes(), held->data_.get());
    const std::lock_guard lock(sharing);
    if (!storage.is_shared()) return;  // another thread was first
    OwnBytes& memory = *own;
    memory.before = take_over(storage, std::move(own));
    note_own(storage);
  }

  // Frees what a storage keeps for those who read beside the end of its sharing. Requires: no other thread uses it.
  static void free_kept(const StorageImpl& storage) {
    if (storage.data_.deleter() == OwnBytes::free) static_cast<OwnBytes*>(storage.data_.context())->before = DataPtr();
  }

  // Memory within a storage's own block cannot be handed over, nor what nobody frees.
  static bool is_owned_apart(const StorageImpl& storage) { return storage.data_.deleter() != nullptr; }

 private:
  struct OwnBytes {
    static void free(void* bytes) { delete static_cast<OwnBytes*>(bytes); }
    DataPtr data, before;
  };

  static DataPtr allocate(std::size_t bytes) {
    const bool is_default = find_allocator(DeviceType::CPU) == &host_allocator();
    return is_default ? host_allocator().allocate(bytes)
                      : allocate_held(Device(DeviceType::CPU), ResourceKind::Memory, bytes);
  }
  static std::unique_ptr<OwnBytes> copy_of(std::size_t bytes, const void* data) {
    auto own = std::make_unique<OwnBytes>();
    own->data = allocate(bytes);
    std::memcpy(own->data.get(), data, bytes);
    return own;
  }
  // Gives what the storage owned.
  static DataPtr take_over(StorageImpl& storage, std::unique_ptr<OwnBytes> own) {
    void* const data = own->data.get();
    return storage.data_.exchange(data, own.release(), OwnBytes::free);
  }
  static void note_own(StorageImpl& storage) { storage.is_shared_.store(false, std::memory_order_release); }
  static SharedBytes* of(const StorageImpl& storage) { return static_cast<SharedBytes*>(storage.data_.context()); }
  static void let_go(void* bytes) { intrusive_ptr<SharedBytes>::adopt(static_cast<SharedBytes*>(bytes)); }

  DataPtr data_;
};

namespace {

constinit thread_local bool may_share = true;

// Keys of tensors that have memory of their own, whose calls come to the backend.
constexpr DispatchKeySet kPlainKeys = DispatchKeySet(Functionality::Dense) | DispatchKeySet(DeviceType::CPU) |
                                      DispatchKeySet(Functionality::ADInplaceOrView) | kAutogradKeys |
                                      DispatchKeySet(Functionality::CopyOnWrite);

bool can_share(const TensorBase& tensor) {
  const StorageImpl* const storage = tensor.storage().impl();
  return may_share && storage != nullptr && kPlainKeys.has_all(tensor.key_set()) && tensor.impl()->extra() == nullptr &&
         storage->resizable() && !storage->is_exposed() && storage->data() != nullptr &&
         SharedBytes::is_owned_apart(*storage) && tensor.nbytes() >= storage->nbytes() / 2 &&
         (storage->is_shared() || storage->use_count() == 1);
}

}  // namespace

TensorBase share_bytes(const TensorBase& tensor) {
  if (is_pinned(tensor)) return {};  // by others than make_pinned_tensor(), which says so itself
  const Storage& storage = tensor.storage();
  Storage made;
  {
    const std::lock_guard lock(sharing);
    if (!can_share(tensor)) return {};
    const bool was_shared = storage.is_shared();
    made = SharedBytes::share(*storage.impl());
    if (!was_shared) {
      tensor.impl()->set_key_set(tensor.key_set().add(Functionality::CopyOnWrite));
      // A view that another thread makes meanwhile either has the key, or is counted here. Likewise another thread that
      // asks for the address either finds the storage shared, or is seen here.
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (storage.use_count() != 1 || storage.impl()->is_exposed()) {
        made = Storage();
        own_bytes(storage);
        return {};
      }
    }
  }
  note_made(made);
  auto clone = make_intrusive<TensorImpl>(std::move(made), tensor.dtype(), tensor.sizes(), tensor.strides(),
                                          tensor.numel(), false);
  clone->set_geometry(tensor.sizes(), tensor.strides(), tensor.storage_offset(), tensor.numel());
  return TensorBase(std::move(clone));
}

void own_bytes(const Storage& storage) {
  if (!storage) return;
  if (storage.is_shared()) {
    SharedBytes::end_sharing(*storage.impl());
  } else {
    SharedBytes::free_kept(*storage.impl());
  }
}

void expose_bytes(const Storage& storage) {
  // Said before it is asked whether others share the bytes: who shares them asks in the other order.
  if (!storage.impl()->is_exposed()) {
    storage.impl()->note_exposed();
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  if (storage.is_shared()) SharedBytes::end_sharing_beside_readers(*storage.impl());
}

void own_bytes(const TensorBase& tensor) {
  own_bytes(tensor.storage());
  tensor.impl()->set_key_set(tensor.key_set().remove(Functionality::CopyOnWrite));
}

NoSharing::NoSharing() : outer_(may_share) { may_share = false; }
NoSharing::~NoSharing() { may_share = outer_; }

}  // namespace keyway::inline v1
