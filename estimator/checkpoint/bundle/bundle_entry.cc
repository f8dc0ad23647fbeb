#include "estimator/checkpoint/bundle/bundle_entry.h"

#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/status.h"
#include "estimator/proto/tensor_bundle.pb.h"

namespace estimator {
namespace {

bool Overlap(const std::vector<SliceExtent>& at_a, const Shape& a,
             const std::vector<SliceExtent>& at_b, const Shape& b) {
  for (size_t axis = 0; axis < at_a.size(); ++axis) {
    const int i = static_cast<int>(axis);
    if (at_a[axis].start >= at_b[axis].start + b.dim(i)) return false;
    if (at_b[axis].start >= at_a[axis].start + a.dim(i)) return false;
  }
  return true;
}

}  // namespace

absl::Status CorruptIndex(absl::string_view where, absl::string_view what) {
  return DataLoss(where, ": ", what);
}

std::optional<uint32_t> BundleEntry::crc32c() const {
  if (!masked_crc32c) return std::nullopt;
  return UnmaskCrc32c(*masked_crc32c);
}

std::string BundleEntry::NameForMessages() const {
  return variable.empty() ? "a slice of no variable" : variable;
}

DType DTypeFromDisk(int dtype_on_disk) {
  const DType dtype = static_cast<DType>(dtype_on_disk);
  if (dtype == DType::kString || DTypeSize(dtype) > 0) return dtype;
  return DType::kInvalid;
}

absl::StatusOr<Shape> ParseShape(absl::string_view where, const proto::TensorShapeProto& shape) {
  Shape result;
  int64_t product = 1;
  bool overflow = shape.unknown_rank();
  for (const auto& dim : shape.dim()) {
    if (dim.size() < 0) {
      return CorruptIndex(where, absl::StrCat("it has a dimension of size ", dim.size()));
    }
    // Sizes beside a 0 count too, because strides are products of them.
    overflow |= __builtin_mul_overflow(product, dim.size() == 0 ? 1 : dim.size(), &product);
    result.push_back(dim.size());
  }
  // The bound leaves room to multiply the number of elements by their size.
  if (overflow || product > (int64_t{1} << 56)) {
    return CorruptIndex(where, "it has an impossible shape");
  }
  return result;
}

std::vector<SliceExtent> ParseExtents(const proto::TensorSliceProto& slice) {
  std::vector<SliceExtent> extents;
  for (const auto& extent : slice.extent()) {
    // As in TensorFlow, the start of a whole axis is ignored.
    const bool whole = extent.has_length_case() != proto::TensorSliceProto::Extent::kLength;
    extents.push_back(whole ? SliceExtent()
                            : SliceExtent{.start = extent.start(), .length = extent.length()});
  }
  return extents;
}

std::optional<Shape> SliceShape(const Shape& whole, const std::vector<SliceExtent>& extents) {
  if (static_cast<int>(extents.size()) != whole.rank()) return std::nullopt;
  Shape shape;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    const auto [start, given] = extents[static_cast<size_t>(axis)];
    const bool is_whole = given == SliceExtent::kWholeAxis;
    const int64_t length = is_whole ? whole.dim(axis) : given;
    // `start` is compared with a difference, because a sum of numbers of a file may overflow.
    if (start < 0 || length < 0 || (is_whole && start != 0) || start > whole.dim(axis) - length)
      return std::nullopt;
    shape.push_back(length);
  }
  return shape;
}

// Comparing all pairs is fast enough: there are few slices, made by hand or one for each parameter
// server.
absl::Status CheckSlices(absl::string_view where, const BundleIndex& index,
                         const BundleEntry& entry) {
  std::vector<const BundleEntry*> parts;
  int64_t covered = 0;
  for (const BundleEntry::Slice& slice : entry.slices) {
    const auto found = index.slices.find(slice.key);
    if (found == index.slices.end()) {
      return CorruptIndex(where, absl::StrCat("slice ", parts.size(), " of ", entry.slices.size(),
                                              " is not in the index"));
    }
    const BundleEntry& part = found->second;
    bool fits = part.slices.empty() && part.dtype_on_disk == entry.dtype_on_disk &&
                part.spec.shape.rank() == entry.spec.shape.rank() &&
                static_cast<int>(slice.extents.size()) == entry.spec.shape.rank();
    for (int axis = 0; fits && axis < part.spec.shape.rank(); ++axis) {
      const int64_t start = slice.extents[static_cast<size_t>(axis)].start;
      fits = start >= 0 && part.spec.shape.dim(axis) <= entry.spec.shape.dim(axis) &&
             start <= entry.spec.shape.dim(axis) - part.spec.shape.dim(axis);
    }
    if (!fits) {
      return CorruptIndex(where, absl::StrCat("slice ", parts.size(), ", ", part.spec.ToString(),
                                              ", does not fit into ", entry.spec.ToString()));
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      if (part.spec.shape.num_elements() > 0 && parts[i]->spec.shape.num_elements() > 0 &&
          Overlap(entry.slices[i].extents, parts[i]->spec.shape, slice.extents, part.spec.shape)) {
        return CorruptIndex(where, absl::StrCat("slices ", i, " and ", parts.size(), " overlap"));
      }
    }
    parts.push_back(&part);
    covered += part.spec.shape.num_elements();
  }
  // Slices that lie in the whole, do not overlap and have as many elements cover it.
  if (covered == entry.spec.shape.num_elements()) return absl::OkStatus();
  return CorruptIndex(where, absl::StrCat("its ", parts.size(), " slices hold ", covered, " of ",
                                          entry.spec.shape.num_elements(), " elements"));
}

std::string DTypeOnDiskName(int dtype_on_disk) {
  const DType dtype = DTypeFromDisk(dtype_on_disk);
  if (dtype != DType::kInvalid) return std::string(DTypeName(dtype));
  const std::string& name = proto::DataType_Name(static_cast<proto::DataType>(dtype_on_disk));
  if (name.empty()) return absl::StrCat("dtype ", dtype_on_disk);
  return absl::AsciiStrToLower(absl::StripPrefix(name, "DT_"));
}

int DTypeOnDiskSize(int dtype_on_disk) {
  if (const DType dtype = DTypeFromDisk(dtype_on_disk); dtype != DType::kInvalid) {
    return static_cast<int>(DTypeSize(dtype));
  }
  static constexpr std::pair<proto::DataType, int> kSizes[] = {
      {proto::DT_QINT8, 1},       {proto::DT_QUINT8, 1},
      {proto::DT_FLOAT8_E5M2, 1}, {proto::DT_FLOAT8_E4M3FN, 1},
      {proto::DT_INT4, 1},        {proto::DT_UINT4, 1},  // stored as one byte for each element
      {proto::DT_QINT16, 2},      {proto::DT_QUINT16, 2},
      {proto::DT_UINT16, 2},      {proto::DT_QINT32, 4},
      {proto::DT_UINT32, 4},      {proto::DT_UINT64, 8},
      {proto::DT_COMPLEX64, 8},   {proto::DT_COMPLEX128, 16}};
  for (const auto& [dtype, size] : kSizes) {
    if (dtype == dtype_on_disk) return size;
  }
  return 0;
}

std::vector<const BundleEntry*> BundleIndex::PartsOf(const BundleEntry& tensor) const {
  if (tensor.slices.empty()) return {&tensor};
  std::vector<const BundleEntry*> parts;
  for (const BundleEntry::Slice& slice : tensor.slices) parts.push_back(&slices.at(slice.key));
  return parts;
}

}  // namespace estimator
