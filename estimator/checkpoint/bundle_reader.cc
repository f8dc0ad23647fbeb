#include "estimator/checkpoint/bundle_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle/bundle_index.h"
#include "estimator/checkpoint/bundle/bundle_shards.h"
#include "estimator/checkpoint/bundle/part_rows.h"
#include "estimator/checkpoint/bundle/string_tensor.h"
#include "estimator/checkpoint/v1/v1_checkpoint.h"

namespace estimator {
namespace {

// Copies a slice of strings into the whole tensor.
void PlaceStrings(const Array& part, const PartRows& rows, Array* whole) {
  for (int64_t i = 0; i < rows.num_runs(); ++i) {
    std::copy_n(part.data<std::string>() + i * rows.run(), rows.run(),
                whole->data<std::string>() + rows.Begin(i));
  }
}

// Copies the bytes of a slice, which arrive in pieces, to their places in the whole tensor.
class Placer {
 public:
  Placer(const PartRows& rows, size_t element_bytes, char* whole)
      : rows_(rows), element_bytes_(element_bytes), whole_(whole) {}

  void Append(absl::string_view piece) {
    const size_t run_bytes = static_cast<size_t>(rows_.run()) * element_bytes_;
    while (!piece.empty()) {
      const size_t in_run = position_ % run_bytes;
      const size_t count = std::min(piece.size(), run_bytes - in_run);
      const auto begin =
          static_cast<size_t>(rows_.Begin(static_cast<int64_t>(position_ / run_bytes)));
      std::memcpy(whole_ + begin * element_bytes_ + in_run, piece.data(), count);
      position_ += count;
      piece.remove_prefix(count);
    }
  }

 private:
  const PartRows& rows_;
  const size_t element_bytes_;
  char* const whole_;
  size_t position_ = 0;  // bytes of the slice that are copied
};

}  // namespace

struct BundleReader::Rep {
  std::string prefix;
  BundleIndex index;
  std::unique_ptr<const ValueSource> values;
  std::vector<std::string> names;
  std::map<std::string, TensorSpec> specs;

  absl::Status Unsupported(StringArg name, const BundleEntry& entry) const;
  absl::StatusOr<const BundleEntry*> Find(StringArg name) const;
  absl::Status ReadStrings(const BundleEntry& entry, Array* value) const;
  absl::Status ReadSlices(const BundleEntry& entry, Array* value) const;
};

absl::Status BundleReader::Rep::Unsupported(StringArg name, const BundleEntry& entry) const {
  if (entry.spec.dtype != DType::kInvalid) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(prefix, ": ", name, " has dtype ",
                                               DTypeOnDiskName(entry.dtype_on_disk),
                                               ", which is not supported"));
}

absl::StatusOr<const BundleEntry*> BundleReader::Rep::Find(StringArg name) const {
  const auto found = index.tensors.find(std::string(name));
  if (found != index.tensors.end()) return &found->second;
  const auto nearest = NearestName(name, names);
  return absl::NotFoundError(
      absl::StrCat("checkpoint ", prefix, " has no variable ", name,
                   nearest ? absl::StrCat("; did you mean ", *nearest, "?")
                           : absl::StrCat("; it has ", names.size(), " others")));
}

absl::Status BundleReader::Rep::ReadStrings(const BundleEntry& entry, Array* value) const {
  std::string bytes(static_cast<size_t>(entry.size), '\0');
  EST_RETURN_IF_ERROR(values->ReadInto(entry, bytes.data()));
  const absl::Status status = DecodeStrings(bytes, entry.crc32c(), value->values<std::string>());
  return status.ok() ? status : values->Corrupt(entry, status.message());
}

absl::Status BundleReader::Rep::ReadSlices(const BundleEntry& entry, Array* value) const {
  for (const BundleEntry::Slice& slice : entry.slices) {
    const BundleEntry& part_entry = index.slices.at(slice.key);
    const PartRows rows(entry.spec.shape, slice.extents, part_entry.spec.shape);
    if (entry.spec.dtype == DType::kString) {
      Array part(DType::kString, part_entry.spec.shape);
      EST_RETURN_IF_ERROR(ReadStrings(part_entry, &part));
      PlaceStrings(part, rows, value);
      continue;
    }
    Placer placer(rows, DTypeSize(entry.spec.dtype), static_cast<char*>(value->raw()));
    EST_RETURN_IF_ERROR(values->Read(part_entry, [&](absl::string_view piece) {
      placer.Append(piece);
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(StringArg prefix) {
  auto rep = std::make_unique<Rep>();
  rep->prefix = std::string(prefix);
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> files, V1Files(prefix));
  if (!files.empty()) {
    EST_ASSIGN_OR_RETURN(V1Checkpoint checkpoint, OpenV1Checkpoint(files));
    rep->index = std::move(checkpoint.index);
    rep->values = std::move(checkpoint.values);
  } else {
    EST_ASSIGN_OR_RETURN(rep->index, ReadBundleIndex(prefix));
    EST_ASSIGN_OR_RETURN(rep->values, BundleShards::Open(prefix, rep->index));
  }
  for (const auto& [name, entry] : rep->index.tensors) {
    rep->names.push_back(name);
    rep->specs.emplace(name, entry.spec);
  }
  return std::unique_ptr<BundleReader>(new BundleReader(std::move(rep)));
}

BundleReader::BundleReader(std::unique_ptr<const Rep> rep) : rep_(std::move(rep)) {}
BundleReader::~BundleReader() = default;

const std::string& BundleReader::prefix() const { return rep_->prefix; }
const std::vector<std::string>& BundleReader::names() const { return rep_->names; }
const std::map<std::string, TensorSpec>& BundleReader::specs() const { return rep_->specs; }
bool BundleReader::Has(StringArg name) const { return rep_->specs.count(std::string(name)) > 0; }

absl::StatusOr<TensorSpec> BundleReader::Spec(StringArg name) const {
  EST_ASSIGN_OR_RETURN(const BundleEntry* const entry, rep_->Find(name));
  EST_RETURN_IF_ERROR(rep_->Unsupported(name, *entry));
  return entry->spec;
}

absl::StatusOr<Array> BundleReader::Read(StringArg name) const {
  EST_ASSIGN_OR_RETURN(const TensorSpec spec, Spec(name));
  Array value(spec.dtype, spec.shape);
  EST_RETURN_IF_ERROR(ReadInto(name, &value));
  return value;
}

absl::Status BundleReader::ReadInto(StringArg name, Array* value) const {
  EST_ASSIGN_OR_RETURN(const BundleEntry* const entry, rep_->Find(name));
  EST_RETURN_IF_ERROR(rep_->Unsupported(name, *entry));
  if (value->dtype() != entry->spec.dtype || !(value->shape() == entry->spec.shape)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": checkpoint ", prefix(), " has ",
                                                   entry->spec.ToString(), ", here it is ",
                                                   value->TypeString()));
  }
  if (!entry->slices.empty()) {
    EST_RETURN_IF_ERROR(rep_->ReadSlices(*entry, value));
  } else if (entry->spec.dtype == DType::kString) {
    return rep_->ReadStrings(*entry, value);
  } else {
    EST_RETURN_IF_ERROR(rep_->values->ReadInto(*entry, static_cast<char*>(value->raw())));
  }
  if (entry->spec.dtype == DType::kBool) {
    // A byte other than 0 and 1 is not a valid bool in C++.
    char* const bytes = static_cast<char*>(value->raw());
    for (size_t i = 0; i < value->num_bytes(); ++i) bytes[i] = bytes[i] != 0;
  }
  return absl::OkStatus();
}

const BundleIndex& BundleReader::index() const { return rep_->index; }
const ValueSource& BundleReader::values() const { return *rep_->values; }

absl::Status BundleReader::VerifyContents() const {
  for (const auto& [name, entry] : rep_->index.tensors) {
    for (const BundleEntry* const part : rep_->index.PartsOf(entry)) {
      EST_RETURN_IF_ERROR(rep_->values->Read(*part, nullptr));
    }
  }
  return absl::OkStatus();
}

}  // namespace estimator
