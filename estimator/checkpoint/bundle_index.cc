#include "estimator/checkpoint/bundle_index.h"

#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/index_table.h"
#include "estimator/proto/tensor_bundle.pb.h"

namespace estimator {
namespace {

absl::Status Corrupt(absl::string_view where, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(where, ": ", what));
}

DType ToDType(int dtype_on_disk) {
  const DType dtype = static_cast<DType>(dtype_on_disk);
  if (dtype == DType::kString || DTypeSize(dtype) > 0) return dtype;
  return DType::kInvalid;
}

absl::Status ParseHeader(absl::string_view path, const std::string& value, BundleIndex* index) {
  proto::BundleHeaderProto header;
  if (!header.ParseFromString(value)) return Corrupt(path, "the header is not a BundleHeaderProto");
  if (header.endianness() != proto::BundleHeaderProto::LITTLE) {
    return absl::UnimplementedError(absl::StrCat(
        path, ": written on a big-endian machine; load and save it with TensorFlow on a PC first"));
  }
  if (header.version().min_consumer() > kBundleVersion) {
    return absl::UnimplementedError(absl::StrCat(
        path, ": bundle version ", header.version().producer(), " is newer than this reader's 1"));
  }
  if (header.num_shards() < 1) {
    return Corrupt(path, absl::StrCat("the header says ", header.num_shards(), " data shards"));
  }
  index->num_shards = header.num_shards();
  return absl::OkStatus();
}

absl::StatusOr<Shape> ParseShape(absl::string_view where, const proto::TensorShapeProto& shape) {
  Shape result;
  int64_t product = 1;
  bool overflow = shape.unknown_rank();
  for (const auto& dim : shape.dim()) {
    if (dim.size() < 0) return Corrupt(where, absl::StrCat("a dimension of size ", dim.size()));
    overflow |= __builtin_mul_overflow(product, dim.size() == 0 ? 1 : dim.size(), &product);
    result.push_back(dim.size());
  }
  if (overflow || product > (int64_t{1} << 56)) return Corrupt(where, "an impossible shape");
  return result;
}

absl::StatusOr<BundleEntry> ParseEntry(absl::string_view where, const std::string& name,
                                       const std::string& value, int num_shards) {
  proto::BundleEntryProto message;
  if (!message.ParseFromString(value)) return Corrupt(where, "not a BundleEntryProto");
  BundleEntry entry;
  entry.dtype_on_disk = static_cast<int>(message.dtype());
  entry.spec.dtype = ToDType(entry.dtype_on_disk);
  EST_ASSIGN_OR_RETURN(entry.spec.shape, ParseShape(where, message.shape()));
  entry.shard = message.shard_id();
  entry.offset = message.offset();
  entry.size = message.size();
  entry.masked_crc32c = message.crc32c();
  for (const proto::TensorSliceProto& slice : message.slices()) {
    std::vector<SliceExtent> extents;
    BundleEntry::Slice part;
    for (const auto& extent : slice.extent()) {
      // As TensorFlow has it: the start of a whole axis is not looked at.
      const bool whole = extent.has_length_case() != proto::TensorSliceProto::Extent::kLength;
      extents.push_back(whole ? SliceExtent()
                              : SliceExtent{.start = extent.start(), .length = extent.length()});
    }
    part.key = SliceKey(name, extents);
    part.extents = std::move(extents);
    entry.slices.push_back(std::move(part));
  }
  if (!entry.slices.empty()) return entry;
  int64_t end = 0;
  if (entry.shard < 0 || entry.shard >= num_shards) {
    return Corrupt(where, absl::StrCat("in shard ", entry.shard, " of ", num_shards));
  }
  if (entry.offset < 0 || entry.size < 0 ||
      __builtin_add_overflow(entry.offset, entry.size, &end)) {
    return Corrupt(where, absl::StrCat("at offset ", entry.offset, ", of ", entry.size, " bytes"));
  }
  const int64_t element_bytes = DTypeOnDiskSize(entry.dtype_on_disk);
  if (element_bytes > 0 && entry.size != entry.spec.shape.num_elements() * element_bytes) {
    return Corrupt(
        where, absl::StrCat(DTypeOnDiskName(entry.dtype_on_disk), " ", entry.spec.shape.ToString(),
                            " is ", entry.spec.shape.num_elements() * element_bytes,
                            " bytes, the index says ", entry.size));
  }
  // A string takes one byte at least, for its length.
  if (entry.spec.dtype == DType::kString && entry.size < entry.spec.shape.num_elements()) {
    return Corrupt(where, absl::StrCat(entry.spec.ToString(), " cannot be ", entry.size, " bytes"));
  }
  return entry;
}

bool Overlap(const std::vector<SliceExtent>& at_a, const Shape& a,
             const std::vector<SliceExtent>& at_b, const Shape& b) {
  for (size_t axis = 0; axis < at_a.size(); ++axis) {
    const int i = static_cast<int>(axis);
    if (at_a[axis].start >= at_b[axis].start + b.dim(i)) return false;
    if (at_b[axis].start >= at_a[axis].start + a.dim(i)) return false;
  }
  return true;
}

// Slices are few: partitions by hand, or one a parameter server.
absl::Status CheckSlices(absl::string_view where, const BundleIndex& index,
                         const BundleEntry& entry) {
  std::vector<const BundleEntry*> parts;
  int64_t covered = 0;
  for (const BundleEntry::Slice& slice : entry.slices) {
    const auto found = index.slices.find(slice.key);
    if (found == index.slices.end()) {
      return Corrupt(where, absl::StrCat("slice ", parts.size(), " of ", entry.slices.size(),
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
      return Corrupt(where, absl::StrCat("slice ", parts.size(), ", ", part.spec.ToString(),
                                         ", does not fit into ", entry.spec.ToString()));
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      if (part.spec.shape.num_elements() > 0 && parts[i]->spec.shape.num_elements() > 0 &&
          Overlap(entry.slices[i].extents, parts[i]->spec.shape, slice.extents, part.spec.shape)) {
        return Corrupt(where, absl::StrCat("slices ", i, " and ", parts.size(), " overlap"));
      }
    }
    parts.push_back(&part);
    covered += part.spec.shape.num_elements();
  }
  if (covered == entry.spec.shape.num_elements()) return absl::OkStatus();
  return Corrupt(where, absl::StrCat("its ", parts.size(), " slices hold ", covered, " of ",
                                     entry.spec.shape.num_elements(), " elements"));
}

// What is there of a checkpoint whose index is not.
std::string DataFilesText(absl::string_view prefix) {
  const absl::string_view directory = Dirname(prefix);
  const auto names = ListDirectory(directory.empty() ? "." : directory);
  if (!names.ok()) return "";
  for (const std::string& name : *names) {
    if (!absl::StartsWith(name, absl::StrCat(Basename(prefix), ".data-"))) continue;
    return absl::StrCat(", only ", name, ": without the index no variable in it can be found");
  }
  return "";
}

}  // namespace

std::string DTypeOnDiskName(int dtype_on_disk) {
  const DType dtype = ToDType(dtype_on_disk);
  if (dtype != DType::kInvalid) return std::string(DTypeName(dtype));
  const std::string& name = proto::DataType_Name(static_cast<proto::DataType>(dtype_on_disk));
  if (name.empty()) return absl::StrCat("dtype ", dtype_on_disk);
  return absl::AsciiStrToLower(absl::StripPrefix(name, "DT_"));
}

int DTypeOnDiskSize(int dtype_on_disk) {
  if (const DType dtype = ToDType(dtype_on_disk); dtype != DType::kInvalid) {
    return static_cast<int>(DTypeSize(dtype));
  }
  switch (dtype_on_disk) {
    case proto::DT_QINT8:
    case proto::DT_QUINT8:
    case proto::DT_FLOAT8_E5M2:
    case proto::DT_FLOAT8_E4M3FN:
    case proto::DT_INT4:  // a byte each
    case proto::DT_UINT4:
      return 1;
    case proto::DT_QINT16:
    case proto::DT_QUINT16:
    case proto::DT_UINT16:
      return 2;
    case proto::DT_QINT32:
    case proto::DT_UINT32:
      return 4;
    case proto::DT_UINT64:
    case proto::DT_COMPLEX64:
      return 8;
    case proto::DT_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

std::vector<const BundleEntry*> BundleIndex::PartsOf(const BundleEntry& tensor) const {
  if (tensor.slices.empty()) return {&tensor};
  std::vector<const BundleEntry*> parts;
  for (const BundleEntry::Slice& slice : tensor.slices) parts.push_back(&slices.at(slice.key));
  return parts;
}

absl::StatusOr<BundleIndex> ReadBundleIndex(absl::string_view prefix) {
  const std::string path = IndexPath(prefix);
  if (!FileExists(path)) {
    if (FileExists(prefix) && !IsDirectory(prefix)) {
      return absl::UnimplementedError(absl::StrCat(
          prefix,
          ": a checkpoint in TensorFlow's old V1 format, or no checkpoint at all; there is no ",
          path, ". Load it with TensorFlow and save it with a tf.train.Saver of today"));
    }
    return absl::NotFoundError(
        absl::StrCat("no checkpoint ", prefix, ": there is no ", path, DataFilesText(prefix)));
  }
  EST_ASSIGN_OR_RETURN(const auto table, ReadIndexTable(path));
  if (table.empty() || !table.front().first.empty()) {
    return Corrupt(path, "there is no header: every variable is lost");
  }
  BundleIndex index;
  EST_RETURN_IF_ERROR(ParseHeader(path, table.front().second, &index));
  for (size_t i = 1; i < table.size(); ++i) {
    const auto& [key, value] = table[i];
    const bool is_slice = key[0] == '\0';
    const std::string where = absl::StrCat(path, ": ", is_slice ? "a slice" : key);
    EST_ASSIGN_OR_RETURN(BundleEntry entry, ParseEntry(where, key, value, index.num_shards));
    if (!is_slice) entry.variable = key;
    (is_slice ? index.slices : index.tensors).emplace(key, std::move(entry));
  }
  for (const auto& [name, entry] : index.tensors) {
    if (entry.slices.empty()) continue;
    EST_RETURN_IF_ERROR(CheckSlices(absl::StrCat(path, ": ", name), index, entry));
    for (const auto& slice : entry.slices) index.slices.at(slice.key).variable = name;
  }
  return index;
}

}  // namespace estimator
