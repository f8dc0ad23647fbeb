#include "estimator/checkpoint/bundle/bundle_index.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/table/index_table.h"
#include "estimator/proto/tensor_bundle.pb.h"

namespace estimator {
namespace {

absl::Status ParseHeader(absl::string_view path, const std::string& value, BundleIndex* index) {
  proto::BundleHeaderProto header;
  if (!header.ParseFromString(value))
    return CorruptIndex(path, "the header is not a BundleHeaderProto");
  if (header.endianness() != proto::BundleHeaderProto::LITTLE) {
    return Unimplemented(
        path,
        ": it was written on a big-endian machine; load and save it with TensorFlow on a "
        "little-endian machine first");
  }
  if (header.version().min_consumer() > kBundleVersion) {
    return Unimplemented(path, ": bundle version ", header.version().producer(),
                         " is newer than this reader's 1");
  }
  if (header.num_shards() < 1) {
    return CorruptIndex(path,
                        absl::StrCat("the header says ", header.num_shards(), " data shards"));
  }
  index->num_shards = header.num_shards();
  return absl::OkStatus();
}

absl::StatusOr<BundleEntry> ParseEntry(absl::string_view where, const std::string& name,
                                       const std::string& value, int num_shards) {
  proto::BundleEntryProto message;
  if (!message.ParseFromString(value))
    return CorruptIndex(where, "its entry is not a BundleEntryProto");
  BundleEntry entry;
  entry.dtype_on_disk = static_cast<int>(message.dtype());
  entry.spec.dtype = DTypeFromDisk(entry.dtype_on_disk);
  EST_ASSIGN_OR_RETURN(entry.spec.shape, ParseShape(where, message.shape()));
  entry.shard = message.shard_id();
  entry.offset = message.offset();
  entry.size = message.size();
  entry.masked_crc32c = message.crc32c();
  for (const proto::TensorSliceProto& slice : message.slices()) {
    BundleEntry::Slice part;
    part.extents = ParseExtents(slice);
    part.key = SliceKey(name, part.extents);
    entry.slices.push_back(std::move(part));
  }
  // A partitioned tensor has no bytes of its own. Its slices have entries.
  if (!entry.slices.empty()) return entry;
  int64_t end = 0;
  if (entry.shard < 0 || entry.shard >= num_shards) {
    return CorruptIndex(where, absl::StrCat("it is in shard ", entry.shard, " of ", num_shards));
  }
  if (entry.offset < 0 || entry.size < 0 ||
      __builtin_add_overflow(entry.offset, entry.size, &end)) {
    return CorruptIndex(
        where, absl::StrCat("it is at offset ", entry.offset, ", of ", entry.size, " bytes"));
  }
  const int64_t element_bytes = DTypeOnDiskSize(entry.dtype_on_disk);
  if (element_bytes > 0 && entry.size != entry.spec.shape.num_elements() * element_bytes) {
    return CorruptIndex(
        where, absl::StrCat(DTypeOnDiskName(entry.dtype_on_disk), " ", entry.spec.shape.ToString(),
                            " is ", entry.spec.shape.num_elements() * element_bytes,
                            " bytes, but the index says ", entry.size));
  }
  // A string takes at least one byte, for its length.
  if (entry.spec.dtype == DType::kString && entry.size < entry.spec.shape.num_elements()) {
    return CorruptIndex(where,
                        absl::StrCat(entry.spec.ToString(), " cannot be ", entry.size, " bytes"));
  }
  return entry;
}

// A clause that names a data file of a checkpoint without an index; empty if there is none.
std::string DataFilesText(absl::string_view prefix) {
  const auto names = DataFilesOf(prefix);
  if (!names.ok() || names->empty()) return "";
  return absl::StrCat(", only ", names->front(),
                      ": without the index no variable in it can be found");
}

// A clause that names the checkpoints beside one that does not exist; empty if there are none.
std::string OthersText(absl::string_view prefix) {
  constexpr size_t kMaxNames = 10;
  const absl::string_view directory = Dirname(prefix);
  const auto names = FilesBeside(prefix);
  if (!names.ok()) return "";
  std::vector<std::string> others;
  for (absl::string_view name : *names) {
    if (absl::ConsumeSuffix(&name, ".index") && !name.empty() && name[0] != '.')
      others.emplace_back(name);
  }
  if (others.empty()) return "";
  // By step: as text, 1000 would come before 200.
  std::stable_sort(others.begin(), others.end(), [](const std::string& a, const std::string& b) {
    return StepOfPrefix(a) < StepOfPrefix(b);
  });
  return absl::StrCat("; ", directory.empty() ? "this folder" : directory, " has ",
                      JoinSome(others, kMaxNames));
}

}  // namespace

absl::StatusOr<BundleIndex> ReadBundleIndex(absl::string_view prefix) {
  const std::string path = IndexPath(prefix);
  // Only a missing index is NOT_FOUND, after which a run falls back to an older checkpoint and
  // overwrites this one.
  const absl::Status found = FileSize(path).status();
  if (absl::IsNotFound(found)) {
    return NotFound("no checkpoint ", prefix, ": there is no ", path, DataFilesText(prefix),
                    OthersText(prefix));
  }
  EST_RETURN_IF_ERROR(found);
  EST_ASSIGN_OR_RETURN(const auto table, ReadIndexTable(path));
  if (table.empty() || !table.front().first.empty()) {
    return CorruptIndex(path, "there is no header: every variable is lost");
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
