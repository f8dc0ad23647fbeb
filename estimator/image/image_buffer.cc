#include "estimator/image/image_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace estimator::image {

absl::StatusOr<Array> UninitializedArray(DType dtype, const Shape& shape) {
  const size_t num_bytes = static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype);
  void* bytes = nullptr;
  if (::posix_memalign(&bytes, Array::kAlignment, std::max<size_t>(num_bytes, 1)) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("out of memory: an image of ", num_bytes, " bytes"));
  }
  return Array::Wrap(dtype, shape, bytes, std::shared_ptr<void>(bytes, std::free));
}

bool ByteBuffer::Reserve(size_t new_capacity) {
  if (new_capacity <= capacity) return true;
  void* const larger = std::realloc(data, new_capacity);
  if (larger == nullptr) return false;
  data = static_cast<char*>(larger);
  capacity = new_capacity;
  return true;
}

bool ByteBuffer::Append(const void* bytes, size_t num_bytes) {
  if (num_bytes > capacity - size && !Reserve(std::max(2 * capacity, size + num_bytes))) {
    return false;
  }
  if (num_bytes > 0) std::memcpy(data + size, bytes, num_bytes);
  size += num_bytes;
  return true;
}

}  // namespace estimator::image
