#include "estimator/checkpoint/bundle_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle_index.h"
#include "estimator/checkpoint/string_tensor.h"

namespace estimator {
namespace {

// Read and checksummed while it is in the cache.
constexpr size_t kPieceBytes = size_t{1} << 20;

// Copies a dense part into a dense whole, row by row of the last axis.
void CopyIntoSlice(const Array& part, const std::vector<int64_t>& start, Array* whole) {
  const int rank = part.shape().rank();
  if (part.num_elements() == 0) return;
  const std::vector<int64_t> strides = whole->shape().strides();
  const int64_t row = rank == 0 ? 1 : part.shape().dim(-1);
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  for (int64_t from = 0; from < part.num_elements(); from += row) {
    int64_t to = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      to += (start[axis] + index[axis]) * strides[axis];
    }
    if (part.dtype() == DType::kString) {
      std::copy_n(part.data<std::string>() + from, row, whole->data<std::string>() + to);
    } else {
      const size_t size = DTypeSize(part.dtype());
      std::memcpy(static_cast<char*>(whole->raw()) + static_cast<size_t>(to) * size,
                  static_cast<const char*>(part.raw()) + static_cast<size_t>(from) * size,
                  static_cast<size_t>(row) * size);
    }
    for (int axis = rank - 2; axis >= 0; --axis) {
      if (++index[static_cast<size_t>(axis)] < part.shape().dim(axis)) break;
      index[static_cast<size_t>(axis)] = 0;
    }
  }
}

}  // namespace

struct BundleReader::Rep {
  std::string prefix;
  BundleIndex index;
  std::vector<std::string> names;
  std::map<std::string, TensorSpec> specs;
  std::map<int, std::unique_ptr<RandomAccessFile>> shards;  // those that hold something

  absl::Status OpenShards();
  absl::Status OpenShard(absl::string_view name, const BundleEntry& entry);
  absl::StatusOr<const BundleEntry*> Find(absl::string_view name) const;
  absl::Status ReadEntry(absl::string_view name, const BundleEntry& entry, Array* value) const;
  absl::Status ReadBytes(absl::string_view name, const BundleEntry& entry, char* bytes,
                         uint32_t* crc) const;
  absl::Status Corrupt(absl::string_view name, const BundleEntry& entry,
                       absl::string_view what) const;
};

absl::Status BundleReader::Rep::Corrupt(absl::string_view name, const BundleEntry& entry,
                                        absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(DataPath(prefix, entry.shard, index.num_shards), ": ",
                                          name, " (", entry.size, " bytes at offset ", entry.offset,
                                          "): ", what));
}

absl::Status BundleReader::Rep::OpenShard(absl::string_view name, const BundleEntry& entry) {
  if (!entry.slices.empty()) return absl::OkStatus();
  std::unique_ptr<RandomAccessFile>& file = shards[entry.shard];
  if (file == nullptr) {
    const std::string path = DataPath(prefix, entry.shard, index.num_shards);
    auto opened = RandomAccessFile::Open(path);
    if (absl::IsNotFound(opened.status())) {
      return absl::DataLossError(
          absl::StrCat(IndexPath(prefix), ": ", name, " is in ", path, ", which is not there"));
    }
    EST_RETURN_IF_ERROR(opened.status());
    file = *std::move(opened);
  }
  if (entry.offset + entry.size <= file->size()) return absl::OkStatus();
  return Corrupt(name, entry, absl::StrCat("the file ends at ", file->size()));
}

absl::Status BundleReader::Rep::OpenShards() {
  for (const auto& [name, entry] : index.tensors) EST_RETURN_IF_ERROR(OpenShard(name, entry));
  for (const auto& [key, entry] : index.slices) EST_RETURN_IF_ERROR(OpenShard("a slice", entry));
  // Slices that share bytes must not make us allocate more than there is.
  int64_t total = 0;
  for (const auto& [shard, file] : shards) total += file->size();
  for (const auto& [name, entry] : index.tensors) {
    if (entry.slices.empty() || entry.spec.num_bytes() <= static_cast<size_t>(total)) continue;
    return absl::DataLossError(absl::StrCat(IndexPath(prefix), ": ", name, " is ",
                                            entry.spec.ToString(), ", the data files have only ",
                                            total, " bytes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<const BundleEntry*> BundleReader::Rep::Find(absl::string_view name) const {
  const auto found = index.tensors.find(std::string(name));
  if (found != index.tensors.end()) return &found->second;
  const auto nearest = NearestName(name, names);
  return absl::NotFoundError(
      absl::StrCat("checkpoint ", prefix, " has no variable ", name,
                   nearest ? absl::StrCat("; did you mean ", *nearest, "?")
                           : absl::StrCat("; it has ", names.size(), " others")));
}

absl::Status BundleReader::Rep::ReadBytes(absl::string_view name, const BundleEntry& entry,
                                          char* bytes, uint32_t* crc) const {
  const RandomAccessFile& file = *shards.at(entry.shard);
  for (int64_t done = 0; done < entry.size;) {
    const size_t count = std::min(kPieceBytes, static_cast<size_t>(entry.size - done));
    const absl::Status status = file.ReadExactly(entry.offset + done, count, bytes + done);
    if (absl::IsOutOfRange(status)) {
      return Corrupt(name, entry, absl::StrCat("cut off after ", done, " bytes"));
    }
    EST_RETURN_IF_ERROR(Annotate(status, name));
    *crc = ExtendCrc32c(*crc, bytes + done, count);
    done += static_cast<int64_t>(count);
  }
  return absl::OkStatus();
}

absl::Status BundleReader::Rep::ReadEntry(absl::string_view name, const BundleEntry& entry,
                                          Array* value) const {
  if (entry.spec.dtype == DType::kInvalid) {
    return absl::UnimplementedError(absl::StrCat(prefix, ": ", name, " is of ",
                                                 DTypeOnDiskName(entry.dtype_on_disk),
                                                 ", which is not supported"));
  }
  if (value->dtype() != entry.spec.dtype || !(value->shape() == entry.spec.shape)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": checkpoint ", prefix, " has ",
                                                   entry.spec.ToString(), ", here it is ",
                                                   value->TypeString()));
  }
  for (const BundleEntry::Slice& slice : entry.slices) {
    const BundleEntry& part_entry = index.slices.at(slice.key);
    Array part(part_entry.spec.dtype, part_entry.spec.shape);
    EST_RETURN_IF_ERROR(ReadEntry(name, part_entry, &part));
    CopyIntoSlice(part, slice.start, value);
  }
  if (!entry.slices.empty()) return absl::OkStatus();
  uint32_t crc = 0;
  const uint32_t expected = UnmaskCrc32c(entry.masked_crc32c);
  if (entry.spec.dtype == DType::kString) {
    std::string bytes(static_cast<size_t>(entry.size), '\0');
    EST_RETURN_IF_ERROR(ReadBytes(name, entry, bytes.data(), &crc));
    const absl::Status status = DecodeStrings(bytes, expected, value->values<std::string>());
    return status.ok() ? status : Corrupt(name, entry, status.message());
  }
  char* const bytes = static_cast<char*>(value->raw());
  EST_RETURN_IF_ERROR(ReadBytes(name, entry, bytes, &crc));
  if (crc != expected) {
    return Corrupt(name, entry,
                   absl::StrCat("crc32c is ", absl::Hex(crc, absl::kZeroPad8), ", the index says ",
                                absl::Hex(expected, absl::kZeroPad8)));
  }
  if (entry.spec.dtype == DType::kBool) {
    // A byte that is neither 0 nor 1 is no bool in C++.
    for (int64_t i = 0; i < entry.size; ++i) bytes[i] = bytes[i] != 0;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(absl::string_view prefix) {
  auto rep = std::make_unique<Rep>();
  rep->prefix = std::string(prefix);
  EST_ASSIGN_OR_RETURN(rep->index, ReadBundleIndex(prefix));
  for (const auto& [name, entry] : rep->index.tensors) {
    rep->names.push_back(name);
    rep->specs.emplace(name, entry.spec);
  }
  EST_RETURN_IF_ERROR(rep->OpenShards());
  return std::unique_ptr<BundleReader>(new BundleReader(std::move(rep)));
}

BundleReader::BundleReader(std::unique_ptr<const Rep> rep) : rep_(std::move(rep)) {}
BundleReader::~BundleReader() = default;

const std::string& BundleReader::prefix() const { return rep_->prefix; }
const std::vector<std::string>& BundleReader::names() const { return rep_->names; }
const std::map<std::string, TensorSpec>& BundleReader::specs() const { return rep_->specs; }
bool BundleReader::Has(absl::string_view name) const {
  return rep_->specs.count(std::string(name)) > 0;
}

absl::StatusOr<TensorSpec> BundleReader::Spec(absl::string_view name) const {
  EST_ASSIGN_OR_RETURN(const BundleEntry* const entry, rep_->Find(name));
  if (entry->spec.dtype != DType::kInvalid) return entry->spec;
  return absl::UnimplementedError(absl::StrCat(rep_->prefix, ": ", name, " is of ",
                                               DTypeOnDiskName(entry->dtype_on_disk),
                                               ", which is not supported"));
}

absl::StatusOr<Array> BundleReader::Read(absl::string_view name) const {
  EST_ASSIGN_OR_RETURN(const TensorSpec spec, Spec(name));
  Array value(spec.dtype, spec.shape);
  EST_RETURN_IF_ERROR(ReadInto(name, &value));
  return value;
}

absl::Status BundleReader::ReadInto(absl::string_view name, Array* value) const {
  EST_ASSIGN_OR_RETURN(const BundleEntry* const entry, rep_->Find(name));
  return rep_->ReadEntry(name, *entry, value);
}

absl::Status BundleReader::VerifyContents() const {
  for (const auto& [name, spec] : rep_->specs) {
    if (spec.dtype == DType::kInvalid) continue;
    EST_RETURN_IF_ERROR(Read(name).status());
  }
  return absl::OkStatus();
}

}  // namespace estimator
