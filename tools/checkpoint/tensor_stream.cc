#include "tools/checkpoint/tensor_stream.h"

#include <algorithm>
#include <string>

#include "estimator/base/status.h"

namespace estimator {
namespace {

constexpr int64_t kMaxStringBytes = 8 << 20;

}  // namespace

bool StringsFitInMemory(const BundleReader& reader, const BundleEntry& entry) {
  if (entry.spec.dtype != DType::kString) return false;
  const int64_t each = sizeof(std::string) + sizeof(uint64_t);  // the string and its decoded length
  int64_t bytes = entry.spec.shape.num_elements() * each;
  for (const BundleEntry* const part : reader.index().PartsOf(entry)) bytes += part->size;
  return bytes <= kMaxStringBytes;
}

TensorStream::TensorStream(const BundleReader& reader, const BundleEntry& entry)
    : reader_(&reader),
      entry_(&entry),
      element_bytes_(DTypeOnDiskSize(entry.dtype_on_disk)),
      size_(entry.spec.shape.num_elements() * element_bytes_),
      crc_(entry.dtype_on_disk, entry.spec.shape.num_elements()) {
  for (const BundleEntry::Slice& slice : entry.slices) {
    rows_.emplace_back(entry.spec.shape, slice.extents,
                       reader.index().slices.at(slice.key).spec.shape);
  }
}

absl::StatusOr<TensorStream> TensorStream::Open(const BundleReader& reader,
                                                absl::string_view name) {
  const auto found = reader.index().tensors.find(std::string(name));
  if (found == reader.index().tensors.end()) {
    return NotFound(reader.prefix(), " has no variable ", name);
  }
  const BundleEntry& entry = found->second;
  if (DTypeOnDiskSize(entry.dtype_on_disk) == 0) {
    return Unimplemented(reader.prefix(), ": the dtype of ", name, " is ",
                         DTypeOnDiskName(entry.dtype_on_disk), ", which has no numbers");
  }
  // Gather reads ranges of slices, whose crc32c it cannot check.
  if (!entry.slices.empty()) {
    for (const BundleEntry* const part : reader.index().PartsOf(entry)) {
      EST_RETURN_IF_ERROR(reader.values().Read(*part, nullptr));
    }
  }
  return TensorStream(reader, entry);
}

absl::Status TensorStream::Gather(size_t n, char* out) {
  const int64_t begin = position_, end = position_ + static_cast<int64_t>(n);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const PartRows& rows = rows_[i];
    const BundleEntry& part = reader_->index().slices.at(entry_->slices[i].key);
    const int64_t run_bytes = rows.run() * element_bytes_;
    for (int64_t run = rows.FirstRunAfter(begin / element_bytes_); run < rows.num_runs(); ++run) {
      const int64_t at = rows.Begin(run) * element_bytes_;
      if (at >= end) break;
      const int64_t from = std::max(at, begin), to = std::min(at + run_bytes, end);
      if (from >= to) continue;
      EST_RETURN_IF_ERROR(reader_->values().ReadRange(
          part, run * run_bytes + from - at, static_cast<size_t>(to - from), out + (from - begin)));
    }
  }
  return absl::OkStatus();
}

absl::Status TensorStream::Read(size_t n, char* out) {
  if (!rows_.empty()) {
    EST_RETURN_IF_ERROR(Gather(n, out));
    position_ += static_cast<int64_t>(n);
    return absl::OkStatus();
  }
  EST_RETURN_IF_ERROR(reader_->values().ReadRange(*entry_, position_, n, out));
  EST_RETURN_IF_ERROR(crc_.Append({out, n}));
  position_ += static_cast<int64_t>(n);
  if (position_ < size_) return absl::OkStatus();
  const absl::Status status = crc_.Finish(entry_->crc32c());
  return status.ok() ? status : reader_->values().Corrupt(*entry_, status.message());
}

}  // namespace estimator
