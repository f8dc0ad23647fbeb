#include "estimator/checkpoint/bundle_writer.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/file_lock.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/stored_crc.h"
#include "estimator/checkpoint/bundle/string_tensor.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/table/index_table.h"
#include "estimator/proto/tensor_bundle.pb.h"

namespace estimator {
namespace {

// A piece of this size is still in the cache when it is written after its crc is computed.
constexpr size_t kPieceBytes = size_t{1} << 20;

void SetShape(const Shape& shape, proto::TensorShapeProto* out) {
  for (const int64_t size : shape.dims()) out->add_dim()->set_size(size);
}

// Errors: INVALID_ARGUMENT if the slice does not lie in the whole tensor.
absl::StatusOr<Shape> CheckedSliceShape(absl::string_view name, const Shape& full_shape,
                                        const std::vector<SliceExtent>& extents) {
  if (std::optional<Shape> shape = SliceShape(full_shape, extents)) return *std::move(shape);
  return InvalidArgument(name, ": the extents of a slice do not fit into ", full_shape.ToString());
}

using Table = std::map<std::string, std::string>;

// The index at path; empty if it does not exist or cannot be read.
Table IndexInUse(const std::string& path) {
  const auto entries = ReadIndexTable(path);
  return entries.ok() ? Table(entries->begin(), entries->end()) : Table();
}

int NumShards(const Table& table) {
  proto::BundleHeaderProto header;
  const auto found = table.find("");
  return found != table.end() && header.ParseFromString(found->second) ? header.num_shards() : 0;
}

// The number of a data file that the index in use does not name. A data file must not change while
// an index names it, so the new file needs another name. It is the second of two shards; the first
// one is empty and does not exist.
int FreeShard(const Table& in_use) { return NumShards(in_use) == 1 ? 1 : 0; }

}  // namespace

struct BundleWriter::Entries {
  std::map<std::string, proto::BundleEntryProto> by_key;

  // The index for a data file that is number `shard`.
  Table Serialize(int shard) {
    Table table;
    proto::BundleHeaderProto header;
    header.set_num_shards(shard + 1);
    header.mutable_version()->set_producer(kBundleVersion);
    header.SerializeToString(&table[""]);
    for (auto& [key, entry] : by_key) {
      if (entry.slices().empty()) entry.set_shard_id(shard);
      entry.SerializeToString(&table[key]);
    }
    return table;
  }
};

absl::StatusOr<std::unique_ptr<BundleWriter>> BundleWriter::Open(StringArg prefix) {
  if (Basename(prefix).empty()) {
    return InvalidArgument("\"", prefix,
                           "\" is not a checkpoint prefix; it needs a name, such as model.ckpt-0");
  }
  std::string temporary = TemporaryName(prefix);
  std::string data_path = DataPath(temporary, 0, 1);
  if (IsRemotePath(prefix)) {
    // A remote file appears when it is whole, so it is written under the name that it keeps. An
    // empty index marks the checkpoint as one being written, as the name of the data does locally.
    const int shard = FreeShard(IndexInUse(IndexPath(std::string(prefix))));
    data_path = DataPath(prefix, shard, shard + 1);
    EST_RETURN_IF_ERROR(WriteDerivedFile(IndexPath(temporary), ""));
  }
  EST_ASSIGN_OR_RETURN(auto data, WritableFile::Open(data_path));
  return std::unique_ptr<BundleWriter>(
      new BundleWriter(std::string(prefix), std::move(temporary), std::move(data)));
}

BundleWriter::BundleWriter(std::string prefix, std::string temporary,
                           std::unique_ptr<WritableFile> data)
    : prefix_(std::move(prefix)),
      temporary_(std::move(temporary)),
      data_(std::move(data)),
      entries_(std::make_unique<Entries>()) {}

BundleWriter::~BundleWriter() {
  if (!finished_) Discard().IgnoreError();
}

absl::Status BundleWriter::Discard() {
  finished_ = true;
  // A remote file that was not closed is not there.
  const bool is_there = !data_->Abandon().ok() || !IsRemotePath(prefix_);
  RemoveFile(IndexPath(temporary_)).IgnoreError();  // it may not exist
  return is_there ? RemoveFile(data_->path()) : absl::OkStatus();
}

absl::Status BundleWriter::Add(StringArg name, const Array& value) {
  return AddSlice(name, value.shape(), {}, value);
}

absl::Status BundleWriter::AddSlice(StringArg name, const Shape& full_shape,
                                    const std::vector<SliceExtent>& extents, const Array& value) {
  if (!value.valid()) {
    return InvalidArgument(name, ": the array has no dtype");
  }
  Shape expected = full_shape;
  if (!extents.empty()) {
    EST_ASSIGN_OR_RETURN(expected, CheckedSliceShape(name, full_shape, extents));
  }
  if (!(expected == value.shape())) {
    return InvalidArgument(name, ": a slice of ", value.TypeString(),
                           " does not fit its extents in ", full_shape.ToString());
  }
  Stored stored{.dtype_on_disk = static_cast<int>(value.dtype()),
                .shape = full_shape,
                .extents = extents,
                .crc32c = std::nullopt};
  if (value.dtype() == DType::kString) {
    const EncodedStrings strings = EncodeStrings(value.values<std::string>());
    stored.crc32c = strings.crc32c;
    return AddStored(name, stored, [&](const Append& append) { return append(strings.bytes); });
  }
  return AddStored(name, stored, [&](const Append& append) {
    return append({static_cast<const char*>(value.raw()), value.num_bytes()});
  });
}

absl::StatusOr<std::string> BundleWriter::KeyOf(StringArg name, const Stored& stored) {
  if (finished_) return FailedPrecondition(prefix_, " is finished");
  // A zero byte at the beginning would make the name a slice key.
  if (name.empty() || name[0] == '\0') {
    return InvalidArgument(prefix_,
                           ": a variable needs a name that does not begin with a zero byte");
  }
  auto found = entries_->by_key.find(std::string(name));
  const bool is_new = found == entries_->by_key.end();
  std::string key(name);
  if (!stored.extents.empty()) key = SliceKey(name, stored.extents);
  const bool mixed = !is_new && found->second.slices().empty() != stored.extents.empty();
  if (entries_->by_key.count(key) > 0 || mixed) {
    return InvalidArgument(name, ": it was added twice", mixed ? ", whole and as a slice" : "");
  }
  if (stored.extents.empty()) return key;
  if (is_new) {
    proto::BundleEntryProto whole;
    whole.set_dtype(static_cast<proto::DataType>(stored.dtype_on_disk));
    SetShape(stored.shape, whole.mutable_shape());
    found = entries_->by_key.emplace(name, std::move(whole)).first;
  }
  proto::TensorSliceProto* const slice = found->second.add_slices();
  for (const SliceExtent& extent : stored.extents) {
    auto* const out = slice->add_extent();
    out->set_start(extent.start);
    if (extent.length != SliceExtent::kWholeAxis) out->set_length(extent.length);
  }
  return key;
}

absl::Status BundleWriter::AddStored(
    StringArg name, const Stored& stored,
    const std::function<absl::Status(const Append& append)>& produce) {
  Shape shape = stored.shape;
  if (!stored.extents.empty()) {
    EST_ASSIGN_OR_RETURN(shape, CheckedSliceShape(name, stored.shape, stored.extents));
  }
  EST_ASSIGN_OR_RETURN(const std::string key, KeyOf(name, stored));
  proto::BundleEntryProto entry;
  entry.set_dtype(static_cast<proto::DataType>(stored.dtype_on_disk));
  SetShape(shape, entry.mutable_shape());
  entry.set_offset(data_->size());
  StoredCrc crc(stored.dtype_on_disk, shape.num_elements());
  EST_RETURN_IF_ERROR(produce([&](absl::string_view bytes) -> absl::Status {
    while (!bytes.empty()) {
      const absl::string_view piece = bytes.substr(0, kPieceBytes);
      if (!stored.crc32c) EST_RETURN_IF_ERROR(Annotate(crc.Append(piece), name));
      EST_RETURN_IF_ERROR(data_->Append(piece));
      bytes.remove_prefix(piece.size());
    }
    return absl::OkStatus();
  }));
  if (!stored.crc32c) EST_RETURN_IF_ERROR(Annotate(crc.Finish(std::nullopt), name));
  entry.set_size(data_->size() - entry.offset());
  entry.set_crc32c(MaskCrc32c(stored.crc32c.value_or(crc.crc32c())));
  entries_->by_key.emplace(key, std::move(entry));
  return absl::OkStatus();
}

absl::Status BundleWriter::Finish() {
  if (finished_) return FailedPrecondition(prefix_, " is finished");
  return Annotate(Commit(), absl::StrCat("writing checkpoint ", prefix_));
}

namespace {

bool IsWhole(const std::string& prefix) {
  const auto reader = BundleReader::Open(prefix);
  return reader.ok() && (*reader)->VerifyContents().ok();
}

}  // namespace

absl::Status BundleWriter::Commit() {
  const Table in_use = IndexInUse(IndexPath(prefix_));
  const int shards_in_use = NumShards(in_use);
  if (shards_in_use == 1 || shards_in_use == 2) {
    // A run that starts saves again the checkpoint that it just restored. That need not be written.
    // It must be written if the old files are damaged: the run then fell back to an earlier
    // checkpoint and reached this step again with the same values.
    // Equal indexes have equal checksums of all values.
    if (entries_->Serialize(shards_in_use - 1) == in_use && IsWhole(prefix_)) {
      EST_RETURN_IF_ERROR(Discard());
      return RemoveOtherDataFiles(shards_in_use - 1, shards_in_use);
    }
  }
  const int shard = FreeShard(in_use);
  if (IsRemotePath(prefix_)) return CommitRemote(shard);
  EST_RETURN_IF_ERROR(data_->Sync());
  EST_RETURN_IF_ERROR(data_->Close());
  EST_RETURN_IF_ERROR(WriteIndexTable(IndexPath(temporary_), entries_->Serialize(shard)));
  const std::string data = DataPath(prefix_, shard, shard + 1);
  EST_RETURN_IF_ERROR(RenameFile(data_->path(), data));
  // The data file has its name on disk before the index that refers to it.
  EST_RETURN_IF_ERROR(SyncDirectory(Dirname(prefix_)));
  EST_RETURN_IF_ERROR(RenameFile(IndexPath(temporary_), IndexPath(prefix_)));
  // The files are the checkpoint now, so the destructor must not remove them.
  finished_ = true;
  EST_RETURN_IF_ERROR(SyncDirectory(Dirname(prefix_)));
  return RemoveOtherDataFiles(shard, shard + 1);
}

absl::Status BundleWriter::CommitRemote(int shard) {
  if (data_->path() != DataPath(prefix_, shard, shard + 1)) {
    return FailedPrecondition(IndexPath(prefix_),
                              " has changed since this save began: another run writes to the same "
                              "directory; stop one of them");
  }
  EST_RETURN_IF_ERROR(data_->Close());
  // After an error, the bucket may have the new index or the old one, so that the destructor must
  // not remove the data.
  finished_ = true;
  EST_RETURN_IF_ERROR(WriteIndexTable(IndexPath(prefix_), entries_->Serialize(shard)));
  const absl::Status removed = RemoveFile(IndexPath(temporary_));
  if (!absl::IsNotFound(removed)) EST_RETURN_IF_ERROR(removed);
  return RemoveOtherDataFiles(shard, shard + 1);
}

absl::Status BundleWriter::RemoveOtherDataFiles(int shard, int num_shards) {
  const std::string kept = DataPath(prefix_, shard, num_shards);
  EST_ASSIGN_OR_RETURN(const auto names, DataFilesOf(prefix_));
  for (const std::string& name : names) {
    if (name != Basename(kept)) EST_RETURN_IF_ERROR(RemoveFile(JoinPath(Dirname(kept), name)));
  }
  return absl::OkStatus();
}

namespace {

// Whether the process that wrote a temporary file (".model.ckpt-50.tmp-1234-0.index") may still
// write it. The number of this process is not enough: in a container, a restarted program gets the
// number of the killed one.
bool WriterLives(absl::string_view name) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(name.substr(name.rfind(".tmp-") + 5), absl::MaxSplits('-', 1));
  int pid = 0;
  return absl::SimpleAtoi(parts[0], &pid) && pid > 0 && pid != ::getpid() && ProcessExists(pid);
}

}  // namespace

std::string TemporaryName(absl::string_view prefix) {
  static std::atomic<int> next_number = 0;
  return JoinPath(Dirname(prefix),
                  absl::StrCat(".", Basename(prefix), ".tmp-", ::getpid(), "-", next_number++));
}

absl::StatusOr<std::map<std::string, std::vector<std::string>>> TemporaryFilesOf(
    StringArg directory, StringArg basename) {
  EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(directory));
  std::map<std::string, std::vector<std::string>> files;
  for (const std::string& name : names) {
    const size_t end = name.rfind(".tmp-");
    if (!absl::StartsWith(name, absl::StrCat(".", basename)) || end == std::string::npos ||
        WriterLives(name)) {
      continue;
    }
    files[name.substr(1, end - 1)].push_back(name);
  }
  return files;
}

absl::Status RemoveTemporaryFiles(StringArg directory, StringArg basename) {
  EST_ASSIGN_OR_RETURN(const auto files, TemporaryFilesOf(directory, basename));
  for (const auto& [prefix, names] : files) {
    for (const std::string& name : names) {
      // The writer may have renamed its file since.
      const absl::Status status = RemoveFile(JoinPath(directory, name));
      if (!absl::IsNotFound(status)) EST_RETURN_IF_ERROR(status);
    }
  }
  return absl::OkStatus();
}

}  // namespace estimator
