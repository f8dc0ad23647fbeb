#include "estimator/checkpoint/bundle/bundle_shards.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle/stored_crc.h"

namespace estimator {

std::string BundleShards::Path(int shard) const { return DataPath(prefix_, shard, num_shards_); }

// Opens the data file of an entry, and adds the entry to `lost` if it is not in the file. The error
// then lists the losses of all files, so the first one does not end the search.
absl::Status BundleShards::OpenShard(const BundleEntry& entry, std::map<int, Lost>* lost) {
  if (!entry.slices.empty()) return absl::OkStatus();
  const auto [file, is_new] = files_.try_emplace(entry.shard);
  if (is_new) {
    auto opened = RandomAccessFile::Open(Path(entry.shard));
    if (opened.ok()) {
      file->second = *std::move(opened);
    } else if (!absl::IsNotFound(opened.status())) {
      return opened.status();
    }
  }
  const bool is_there = file->second != nullptr;
  if (is_there && entry.offset + entry.size <= file->second->size()) return absl::OkStatus();
  Lost& of_shard = (*lost)[entry.shard];
  of_shard.variables.insert(entry.NameForMessages());
  if (of_shard.first == nullptr || entry.offset < of_shard.first->offset) of_shard.first = &entry;
  return absl::OkStatus();
}

absl::Status BundleShards::LossError(const std::map<int, Lost>& lost) const {
  std::vector<std::string> texts;
  for (const auto& [shard, of_shard] : lost) {
    const std::vector<std::string> names(of_shard.variables.begin(), of_shard.variables.end());
    const std::unique_ptr<RandomAccessFile>& file = files_.at(shard);
    if (file == nullptr) {
      texts.push_back(absl::StrCat(Path(shard), " is missing; it holds ", ListNames(names),
                                   ", from offset ", of_shard.first->offset, " on"));
    } else {
      const std::string what =
          absl::StrCat("the file ends at ", file->size(), "; it lost ", ListNames(names));
      texts.emplace_back(Corrupt(*of_shard.first, what).message());
    }
  }
  return DataLoss(absl::StrJoin(texts, "; "));
}

// Damaged slices may share bytes. This check bounds the allocation for a tensor by the size of the
// files.
absl::Status BundleShards::CheckSizes(const BundleIndex& index) const {
  int64_t total = 0;
  for (const auto& [shard, file] : files_) total += file->size();
  for (const auto& [name, entry] : index.tensors) {
    // A string takes at least one byte.
    const size_t least = entry.spec.dtype == DType::kString
                             ? static_cast<size_t>(entry.spec.shape.num_elements())
                             : entry.spec.num_bytes();
    if (entry.slices.empty() || least <= static_cast<size_t>(total)) continue;
    return DataLoss(IndexPath(prefix_), ": ", name, " is ", entry.spec.ToString(),
                    ", but the data files have only ", total, " bytes");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<BundleShards>> BundleShards::Open(absl::string_view prefix,
                                                                 const BundleIndex& index) {
  std::unique_ptr<BundleShards> shards(new BundleShards(prefix, index.num_shards));
  std::map<int, Lost> lost;
  for (const auto* const entries : {&index.tensors, &index.slices}) {
    for (const auto& [key, entry] : *entries) {
      EST_RETURN_IF_ERROR(shards->OpenShard(entry, &lost));
    }
  }
  if (!lost.empty()) return shards->LossError(lost);
  EST_RETURN_IF_ERROR(shards->CheckSizes(index));
  return shards;
}

absl::Status BundleShards::ReadRange(const BundleEntry& entry, int64_t begin, size_t n,
                                     char* bytes) const {
  const absl::Status status = files_.at(entry.shard)->ReadExactly(entry.offset + begin, n, bytes);
  if (absl::IsOutOfRange(status)) {
    // Open checked the length, so the file was truncated since.
    return Corrupt(entry, absl::StrCat("the file was truncated: ", n, " bytes after ", begin,
                                       " of it are missing"));
  }
  return Annotate(status, entry.NameForMessages());
}

absl::Status BundleShards::ReadPieces(const BundleEntry& entry, char* whole,
                                      const Sink& sink) const {
  StoredCrc crc(entry.dtype_on_disk, entry.spec.shape.num_elements());
  std::string buffer;
  if (whole == nullptr) {
    buffer.resize(std::min(kPieceBytes, static_cast<size_t>(entry.size)));
  }
  for (int64_t done = 0; done < entry.size;) {
    const size_t count = std::min(kPieceBytes, static_cast<size_t>(entry.size - done));
    char* const piece = whole == nullptr ? buffer.data() : whole + done;
    EST_RETURN_IF_ERROR(ReadRange(entry, done, count, piece));
    const absl::Status status = crc.Append({piece, count});
    if (!status.ok()) return Corrupt(entry, status.message());
    // The sink gets the bytes before the checksum of the whole value is known.
    if (sink) EST_RETURN_IF_ERROR(sink({piece, count}));
    done += static_cast<int64_t>(count);
  }
  const absl::Status status = crc.Finish(entry.crc32c());
  return status.ok() ? status : Corrupt(entry, status.message());
}

absl::Status BundleShards::Read(const BundleEntry& entry, const Sink& sink) const {
  return ReadPieces(entry, nullptr, sink);
}

absl::Status BundleShards::ReadInto(const BundleEntry& entry, char* bytes) const {
  return ReadPieces(entry, bytes, nullptr);
}

}  // namespace estimator
