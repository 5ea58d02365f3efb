#include <keyway/ops/metadata_composites.h>

namespace keyway::inline v1::composite {

bool sym_is_contiguous(const Tensor& self, MemoryFormat memory_format) { return self.is_contiguous(memory_format); }

std::int64_t sym_numel(const Tensor& self) { return self.numel(); }

std::int64_t sym_size(const Tensor& self, std::int64_t dim) { return self.size(dim); }

std::int64_t sym_storage_offset(const Tensor& self) { return self.storage_offset(); }

std::int64_t sym_stride(const Tensor& self, std::int64_t dim) { return self.stride(dim); }

}  // namespace keyway::inline v1::composite
