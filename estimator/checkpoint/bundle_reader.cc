#include "estimator/checkpoint/bundle_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle/bundle_index.h"
#include "estimator/checkpoint/bundle/bundle_shards.h"
#include "estimator/checkpoint/bundle/part_rows.h"
#include "estimator/checkpoint/bundle/string_tensor.h"
#include "estimator/checkpoint/keras/keras_file.h"
#include "estimator/checkpoint/object_names.h"
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

absl::StatusOr<const BundleEntry*> BundleReader::Find(StringArg name) const {
  const auto found = index_.tensors.find(NameOf(name));
  if (found == index_.tensors.end()) {
    const auto nearest = NearestName(name, names_);
    return NotFound("checkpoint ", prefix_, " has no variable ", name,
                    nearest ? absl::StrCat("; did you mean ", *nearest, "?")
                            : absl::StrCat("; it has ", names_.size(), " others"));
  }
  const BundleEntry& entry = found->second;
  // An unknown dtype is no error of Open, so that the other variables can be read.
  if (entry.spec.dtype != DType::kInvalid) return &entry;
  return Unimplemented(prefix_, ": ", name, " has dtype ", DTypeOnDiskName(entry.dtype_on_disk),
                       ", which is not supported");
}

absl::Status BundleReader::ReadStrings(const BundleEntry& entry, Array* value) const {
  std::string bytes(static_cast<size_t>(entry.size), '\0');
  EST_RETURN_IF_ERROR(values_->ReadInto(entry, bytes.data()));
  const absl::Status status = DecodeStrings(bytes, entry.crc32c(), value->values<std::string>());
  return status.ok() ? status : values_->Corrupt(entry, status.message());
}

absl::Status BundleReader::ReadSlices(const BundleEntry& entry, Array* value) const {
  for (const BundleEntry::Slice& slice : entry.slices) {
    const BundleEntry& part_entry = index_.slices.at(slice.key);
    const PartRows rows(entry.spec.shape, slice.extents, part_entry.spec.shape);
    if (entry.spec.dtype == DType::kString) {
      // Strings have no fixed size, so the whole slice is decoded before it is placed.
      Array part(DType::kString, part_entry.spec.shape);
      EST_RETURN_IF_ERROR(ReadStrings(part_entry, &part));
      PlaceStrings(part, rows, value);
      continue;
    }
    Placer placer(rows, DTypeSize(entry.spec.dtype), static_cast<char*>(value->raw()));
    EST_RETURN_IF_ERROR(values_->Read(part_entry, [&](absl::string_view piece) {
      placer.Append(piece);
      return absl::OkStatus();
    }));
  }
  return absl::OkStatus();
}

absl::Status BundleReader::RenameObjects() {
  EST_ASSIGN_OR_RETURN(const Array graph, Read(kObjectGraphKey));
  auto names = UseObjectNames(graph, &index_);
  if (!names.ok()) return Annotate(names.status(), IndexPath(prefix_));
  names_of_objects_ = *std::move(names);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(StringArg prefix) {
  auto reader = absl::WrapUnique(new BundleReader(prefix));
  EST_ASSIGN_OR_RETURN(const bool is_keras, IsKerasFile(prefix));
  std::vector<std::string> files;
  if (!is_keras) {
    EST_ASSIGN_OR_RETURN(files, V1Files(prefix));
  }
  if (is_keras) {
    EST_ASSIGN_OR_RETURN(KerasFile file, OpenKerasFile(prefix));
    reader->index_ = std::move(file.index);
    reader->values_ = std::move(file.values);
  } else if (!files.empty()) {
    EST_ASSIGN_OR_RETURN(V1Checkpoint checkpoint, OpenV1Checkpoint(files));
    reader->index_ = std::move(checkpoint.index);
    reader->values_ = std::move(checkpoint.values);
  } else {
    EST_ASSIGN_OR_RETURN(reader->index_, ReadBundleIndex(prefix));
    EST_ASSIGN_OR_RETURN(reader->values_, BundleShards::Open(prefix, reader->index_));
  }
  if (reader->index_.tensors.count(kObjectGraphKey) > 0)
    EST_RETURN_IF_ERROR(reader->RenameObjects());
  for (const auto& [name, entry] : reader->index_.tensors) {
    reader->names_.push_back(name);
    reader->specs_.emplace(name, entry.spec);
  }
  return reader;
}

std::string BundleReader::NameOf(StringArg name) const {
  const auto found = names_of_objects_.find(std::string(name));
  return found == names_of_objects_.end() ? std::string(name) : found->second;
}

bool BundleReader::Has(StringArg name) const { return specs_.count(NameOf(name)) > 0; }

absl::StatusOr<TensorSpec> BundleReader::Spec(StringArg name) const {
  EST_ASSIGN_OR_RETURN(const BundleEntry* const entry, Find(name));
  return entry->spec;
}

absl::StatusOr<Array> BundleReader::Read(StringArg name) const {
  EST_ASSIGN_OR_RETURN(const TensorSpec spec, Spec(name));
  Array value(spec.dtype, spec.shape);
  EST_RETURN_IF_ERROR(ReadInto(name, &value));
  return value;
}

absl::Status BundleReader::ReadInto(StringArg name, Array* value) const {
  EST_ASSIGN_OR_RETURN(const BundleEntry* const entry, Find(name));
  if (value->dtype() != entry->spec.dtype || !(value->shape() == entry->spec.shape)) {
    return InvalidArgument(name, ": checkpoint ", prefix(), " has ", entry->spec.ToString(),
                           ", here it is ", value->TypeString());
  }
  if (!entry->slices.empty()) {
    EST_RETURN_IF_ERROR(ReadSlices(*entry, value));
  } else if (entry->spec.dtype == DType::kString) {
    return ReadStrings(*entry, value);
  } else {
    EST_RETURN_IF_ERROR(values_->ReadInto(*entry, static_cast<char*>(value->raw())));
  }
  if (entry->spec.dtype == DType::kBool) {
    // A byte other than 0 and 1 is not a valid bool in C++.
    char* const bytes = static_cast<char*>(value->raw());
    for (size_t i = 0; i < value->num_bytes(); ++i) bytes[i] = bytes[i] != 0;
  }
  return absl::OkStatus();
}

absl::Status BundleReader::VerifyContents() const {
  for (const auto& [name, entry] : index_.tensors) {
    for (const BundleEntry* const part : index_.PartsOf(entry)) {
      EST_RETURN_IF_ERROR(values_->Read(*part, nullptr));
    }
  }
  return absl::OkStatus();
}

}  // namespace estimator
