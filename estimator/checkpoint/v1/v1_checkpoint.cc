#include "estimator/checkpoint/v1/v1_checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/table/table_file.h"
#include "estimator/checkpoint/v1/saved_slice.h"
#include "estimator/checkpoint/v1/v1_values.h"
#include "estimator/proto/saved_tensor_slice.pb.h"
#include "estimator/proto/serialize.h"

namespace estimator {
namespace {

// The newest version of the format that can be read. On disk: do not change.
constexpr int kV1Version = 1;
constexpr char kAnyShard[] = "?????";

// The text of the shard number in a path: digits, or "?????".
enum class ShardText { kNumber, kAny };

// Removes "-00001-of-00002" or "-?????-of-00002" from the end of a path, and returns the number of
// shards. Returns 0 if the path has no such end.
int ConsumeShardSuffix(ShardText text, absl::string_view* path) {
  constexpr size_t kSuffixBytes = 15;
  if (path->size() <= kSuffixBytes) return 0;
  const absl::string_view suffix = path->substr(path->size() - kSuffixBytes);
  const absl::string_view shard = suffix.substr(1, 5), number = suffix.substr(10);
  // SimpleAtoi also accepts signs and spaces, which the names of shards do not have.
  const auto is_number = [](absl::string_view text) {
    return text.find_first_not_of("0123456789") == absl::string_view::npos;
  };
  int num_shards = 0;
  if (suffix[0] != '-' || suffix.substr(6, 4) != "-of-" || !is_number(number) ||
      !(text == ShardText::kAny ? shard == kAnyShard : is_number(shard)) ||
      !absl::SimpleAtoi(number, &num_shards)) {
    return 0;
  }
  path->remove_suffix(kSuffixBytes);
  return num_shards;
}

std::vector<std::string> ShardPaths(absl::string_view prefix, int num_shards) {
  std::vector<std::string> paths;
  for (int shard = 0; shard < num_shards; ++shard) {  // at most 99,999, because of the five digits
    paths.push_back(absl::StrFormat("%s-%05d-of-%05d", prefix, shard, num_shards));
  }
  return paths;
}

// One file of a checkpoint while it is being opened.
struct V1File {
  const int shard;
  const TableFile* const table;
  std::map<std::string, TableFile::ValuePlace> entries = {};  // by key
  proto::SavedTensorSliceMeta meta = {};

  absl::Status Corrupt(absl::string_view what) const { return DataLoss(table->path(), ": ", what); }
};

// The error to report for `found`, when only the first block was verified. If a block is damaged,
// that is the cause.
absl::Status FirstDamage(const TableFile& table, const absl::Status& found) {
  // An unknown version or dtype may be a damaged one, so UNIMPLEMENTED counts too.
  if (!absl::IsDataLoss(found) && !absl::IsUnimplemented(found)) return found;
  for (size_t i = 0; i < table.blocks().size(); ++i) {
    EST_RETURN_IF_ERROR(table.VerifyBlock(i));
  }
  return found;
}

absl::Status ReadMeta(V1File& file) {
  const auto found = file.entries.find("");
  if (found == file.entries.end() || found->second.block != 0) {
    return file.Corrupt("it has no list of tensors at offset 0: every variable is lost");
  }
  const TableFile::ValuePlace& entry = found->second;
  // The names and shapes are used at once. Other blocks are verified when a value of theirs is
  // read.
  EST_RETURN_IF_ERROR(file.table->VerifyBlock(0));
  std::string bytes(static_cast<size_t>(entry.end - entry.begin), '\0');
  EST_RETURN_IF_ERROR(file.table->ReadExactly(entry.begin, bytes.size(), bytes.data()));
  proto::SavedTensorSlices message;
  if (!ParseWithinLimit(bytes, &message) || !message.has_meta()) {
    return file.Corrupt(absl::StrCat("its list of tensors (", bytes.size(), " bytes at offset ",
                                     entry.begin, ") cannot be parsed: every variable is lost"));
  }
  if (message.meta().versions().min_consumer() > kV1Version) {
    return Unimplemented(file.table->path(), ": version ", message.meta().versions().producer(),
                         " of the V1 format is newer than this reader's 1");
  }
  file.meta = std::move(*message.mutable_meta());
  return absl::OkStatus();
}

// Adds a slice of `variable` to the index and to `values`, and describes it in `slice`.
absl::Status AddSlice(const V1File& file, const BundleEntry& variable,
                      const std::vector<SliceExtent>& extents, V1Values& values, BundleIndex* index,
                      BundleEntry::Slice* slice) {
  BundleEntry part = variable;
  const std::optional<Shape> shape = SliceShape(variable.spec.shape, extents);
  if (!shape) {
    return DataLoss("a slice does not lie in ", variable.spec.shape.ToString());
  }
  part.spec.shape = *shape;
  *slice = {.extents = extents, .key = SliceKey(variable.variable, extents)};
  const auto found = file.entries.find(slice->key);
  if (found == file.entries.end()) {
    return DataLoss("the list of tensors has a slice of ", part.spec.shape.ToString(),
                    ", but the table does not");
  }
  const TableFile::ValuePlace& stored = found->second;
  const auto encoding = EncodingOf(variable.dtype_on_disk);
  if (!encoding) {
    return Unimplemented(file.table->path(), ": ", variable.variable, " has dtype ",
                         DTypeOnDiskName(variable.dtype_on_disk),
                         ", which the V1 format does not support");
  }
  V1Values::Place place{.block = stored.block,
                        .encoding = *encoding,
                        .values = {},
                        .num_elements = part.spec.shape.num_elements()};
  EST_ASSIGN_OR_RETURN(place.values,
                       FindSavedValues(file.table->Reader(), stored.begin, stored.end, *encoding));
  part.shard = file.shard;
  part.offset = stored.begin;
  const auto size = values.Add(part.shard, part.offset, place);
  if (absl::IsDataLoss(size.status())) {
    return DataLoss("offset ", stored.begin, ": ", size.status().message());
  }
  EST_RETURN_IF_ERROR(size.status());
  part.size = *size;
  if (index->slices.emplace(slice->key, std::move(part)).second) return absl::OkStatus();
  return DataLoss("two files have the same slice of it");
}

absl::Status AddTensor(const V1File& file, const proto::SavedSliceMeta& meta, V1Values& values,
                       BundleIndex* index) {
  const std::string& name = meta.name();
  BundleEntry entry;
  entry.variable = name;
  entry.dtype_on_disk = static_cast<int>(meta.type());
  entry.spec.dtype = DTypeFromDisk(entry.dtype_on_disk);
  EST_ASSIGN_OR_RETURN(entry.spec.shape,
                       ParseShape(absl::StrCat(file.table->path(), ": ", name), meta.shape()));
  const auto [found, is_new] = index->tensors.emplace(name, entry);
  BundleEntry& whole = found->second;
  if (!is_new &&
      (whole.dtype_on_disk != entry.dtype_on_disk || !(whole.spec.shape == entry.spec.shape))) {
    return file.Corrupt(absl::StrCat(name, ": it is ", DTypeOnDiskName(entry.dtype_on_disk), " ",
                                     entry.spec.shape.ToString(), " here, and in another file ",
                                     DTypeOnDiskName(whole.dtype_on_disk), " ",
                                     whole.spec.shape.ToString()));
  }
  for (const proto::TensorSliceProto& slice : meta.slice()) {
    whole.slices.emplace_back();
    const absl::Status status =
        AddSlice(file, entry, ParseExtents(slice), values, index, &whole.slices.back());
    if (absl::IsDataLoss(status)) return file.Corrupt(absl::StrCat(name, ": ", status.message()));
    EST_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// Checks the slices of each tensor. A tensor of one slice is not partitioned, so the slice replaces
// its entry.
absl::Status JoinSlices(const std::vector<std::string>& files, BundleIndex* index) {
  for (auto& [name, entry] : index->tensors) {
    if (entry.slices.empty()) {
      return DataLoss(files.front(), ": ", name, ": it has no slices");
    }
    const int shard = index->slices.at(entry.slices.front().key).shard;
    EST_RETURN_IF_ERROR(
        CheckSlices(absl::StrCat(files[static_cast<size_t>(shard)], ": ", name), *index, entry));
    // A copy, because the assignment below destroys the list that has it.
    const std::string key = entry.slices.front().key;
    if (entry.slices.size() > 1) continue;
    entry = index->slices.at(key);
    index->slices.erase(key);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> V1Files(absl::string_view prefix) {
  // As in TensorFlow, a TensorBundle of this prefix has precedence.
  EST_ASSIGN_OR_RETURN(const bool has_bundle, Exists(IndexPath(prefix)));
  if (has_bundle) return std::vector<std::string>();
  EST_ASSIGN_OR_RETURN(const bool is_file, Exists(prefix));
  EST_ASSIGN_OR_RETURN(const bool is_directory, DirectoryExists(prefix));
  if (is_file && !is_directory) {
    return std::vector<std::string>{std::string(prefix)};
  }
  absl::string_view base = prefix;
  if (const int num_shards = ConsumeShardSuffix(ShardText::kAny, &base); num_shards > 0) {
    return ShardPaths(base, num_shards);
  }
  const auto names = FilesBeside(prefix);
  if (!names.ok()) return std::vector<std::string>();
  std::set<int> numbers;
  for (absl::string_view name : *names) {
    const int num_shards = ConsumeShardSuffix(ShardText::kNumber, &name);
    if (num_shards > 0 && name == Basename(prefix)) numbers.insert(num_shards);
  }
  if (numbers.empty()) return std::vector<std::string>();
  // All shards that the names count, so that a missing one is reported.
  if (numbers.size() == 1) return ShardPaths(prefix, *numbers.begin());
  return FailedPrecondition(absl::StrFormat(
      "%s: there are files of a checkpoint in %d and of one in %d files; name one: %s-%s-of-%05d",
      prefix, *numbers.begin(), *numbers.rbegin(), prefix, kAnyShard, *numbers.rbegin()));
}

std::optional<std::string> V1PrefixOfFile(absl::string_view path) {
  absl::string_view prefix = path;
  ConsumeShardSuffix(ShardText::kNumber, &prefix);
  if (StepOfPrefix(prefix) < 0 || IsDirectory(path)) return std::nullopt;
  const bool is_named_so = absl::EndsWith(prefix.substr(0, prefix.rfind('-')), ".ckpt");
  if (!is_named_so && !TableFile::EndsAsOne(path)) return std::nullopt;
  return std::string(prefix);
}

namespace {

// Whether a file that cannot be opened as a table is still likely to be a V1 checkpoint, which was
// damaged. The first entry of one has an empty key, so its first two bytes are 0.
bool LooksLikeV1(const std::string& path) {
  if (StepOfPrefix(path) >= 0 || TableFile::EndsAsOne(path)) return true;
  const auto file = RandomAccessFile::Open(path);
  char begin[2] = {1, 1};
  return file.ok() && (*file)->ReadExactly(0, sizeof(begin), begin).ok() && begin[0] == 0 &&
         begin[1] == 0;
}

// The likely cure, if the user gave the name of another file of a model_dir.
std::string LikelyMeant(const std::string& path) {
  const size_t name_at = path.size() - Basename(path).size();
  for (const char* const end : {".meta", ".data-", ".input"}) {
    const size_t at = path.find(end, name_at);
    if (at != std::string::npos) return absl::StrCat("; did you mean ", path.substr(0, at), "?");
  }
  if (Basename(path) != "checkpoint") return "";
  const absl::string_view directory = Dirname(path);
  return absl::StrCat("; did you mean its folder, ", directory.empty() ? "." : directory, "?");
}

absl::StatusOr<std::unique_ptr<TableFile>> OpenFile(const std::string& path, size_t num_files) {
  auto table = TableFile::Open(path);
  if (absl::IsNotFound(table.status())) {
    return DataLoss(path, " is missing; it is one of ", num_files,
                    " files of a checkpoint: every variable in it is lost, "
                    "from offset 0 on");
  }
  // The name of a shard says that the file is of a V1 checkpoint. A single file may be anything.
  if (!absl::IsDataLoss(table.status()) || num_files > 1) return table;
  if (!LooksLikeV1(path)) {
    return InvalidArgument(
        path, " is not a checkpoint: there is no ", IndexPath(path),
        ", and the file is not in TensorFlow's V1 format, in which a checkpoint is "
        "one file",
        LikelyMeant(path));
  }
  return DataLoss(table.status().message(), ". There is no ", IndexPath(path),
                  ", so this should be a checkpoint in TensorFlow's V1 format, which is one file",
                  LikelyMeant(path));
}

absl::Status AddFile(int shard, V1Values& values, BundleIndex* index) {
  V1File file{.shard = shard, .table = &values.file(shard)};
  EST_RETURN_IF_ERROR(file.table->WalkEntries(
      [&](const std::string& key, const TableFile::ValuePlace& place) -> absl::Status {
        // The keys come in sorted order, but the list of tensors names slices in any order.
        file.entries.emplace(key, place);
        return absl::OkStatus();
      }));
  EST_RETURN_IF_ERROR(ReadMeta(file));
  for (const proto::SavedSliceMeta& meta : file.meta.tensor()) {
    EST_RETURN_IF_ERROR(AddTensor(file, meta, values, index));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<V1Checkpoint> OpenV1Checkpoint(const std::vector<std::string>& files) {
  std::vector<std::unique_ptr<TableFile>> tables;
  for (const std::string& path : files) {
    EST_ASSIGN_OR_RETURN(auto table, OpenFile(path, files.size()));
    tables.push_back(std::move(table));
  }
  auto values = std::make_unique<V1Values>(std::move(tables));
  V1Checkpoint checkpoint;
  checkpoint.index.num_shards = static_cast<int>(files.size());
  for (int shard = 0; shard < checkpoint.index.num_shards; ++shard) {
    const absl::Status status = AddFile(shard, *values, &checkpoint.index);
    if (!status.ok()) return FirstDamage(values->file(shard), status);
  }
  EST_RETURN_IF_ERROR(JoinSlices(files, &checkpoint.index));
  checkpoint.values = std::move(values);
  return checkpoint;
}

}  // namespace estimator
