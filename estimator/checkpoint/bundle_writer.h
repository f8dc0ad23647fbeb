// Writes a checkpoint in TensorFlow's format (bundle_format.h).
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_WRITER_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_WRITER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/shape.h"
#include "estimator/base/file.h"
#include "estimator/base/string_arg.h"
#include "estimator/checkpoint/bundle/bundle_format.h"

namespace estimator {

// Streams tensors into a temporary data file. Finish writes the index and renames both files into
// place. At every instant the prefix names a whole checkpoint, the old one or the new one, or none.
// To replace a checkpoint of the same prefix, its data file is kept until the new index is in
// place. A checkpoint with the same contents is not rewritten. Without Finish no file of the prefix
// changes, and the destructor removes the temporary file. Not thread-safe.
class BundleWriter {
 public:
  // REQUIRES: the directory of the prefix exists.
  // Errors: INVALID_ARGUMENT if the prefix has no name; those of the file system, with the path.
  static absl::StatusOr<std::unique_ptr<BundleWriter>> Open(StringArg prefix);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  // Adds a variable.
  //   value: of any dtype but kInvalid, and of any shape, including empty ones.
  // Errors: INVALID_ARGUMENT for an empty name, one that begins with a zero byte, or one that was
  // added before.
  absl::Status Add(StringArg name, const Array& value);

  // Adds one slice of a partitioned variable of full_shape. All its slices must be added.
  //   extents: one for each axis; they determine the shape of value.
  // Errors: INVALID_ARGUMENT as above, or if the extents do not fit the shapes.
  absl::Status AddSlice(StringArg name, const Shape& full_shape,
                        const std::vector<SliceExtent>& extents, const Array& value);

  // Describes a value whose bytes are appended in pieces, in their stored form.
  struct Stored {
    int dtype_on_disk = 0;                  // TensorFlow's number; a dtype without a DType is fine
    Shape shape = {};                       // of the whole variable
    std::vector<SliceExtent> extents = {};  // one for each axis; empty if it is not a slice
    // The crc32c of the value (stored_crc.h), not masked. If nullopt, it is computed.
    std::optional<uint32_t> crc32c = std::nullopt;
  };
  using Append = std::function<absl::Status(absl::string_view piece)>;

  // Adds a value whose bytes `produce` appends. They are written as they come, and their number is
  // not checked.
  // Errors: INVALID_ARGUMENT as above; DATA_LOSS if there is no crc32c and the bytes of strings or
  // variants are damaged; those of `produce`. After an error the writer cannot be used any more.
  absl::Status AddStored(StringArg name, const Stored& stored,
                         const std::function<absl::Status(const Append& append)>& produce);

  // Syncs the files, renames them into place, and syncs their directory. A remote checkpoint
  // appears with its index, which is written last. Must be called only once.
  absl::Status Finish();

 private:
  struct Entries;  // the messages of the index, by key

  BundleWriter(std::string prefix, std::string temporary, std::unique_ptr<WritableFile> data);
  // The key of the entry of `stored`. A slice is also added to the entry of its variable.
  absl::StatusOr<std::string> KeyOf(StringArg name, const Stored& stored);
  absl::Status Commit();
  absl::Status CommitRemote(int shard);  // `shard`: the number of the data file
  absl::Status Discard();
  // Removes data files of a checkpoint that was replaced, or whose replacement was interrupted.
  absl::Status RemoveOtherDataFiles(int shard, int num_shards);

  const std::string prefix_;
  const std::string temporary_;  // prefix of the temporary files
  std::unique_ptr<WritableFile> data_;
  std::unique_ptr<Entries> entries_;
  bool finished_ = false;
};

// A name that no shell pattern for checkpoints matches: ".model.ckpt-50.tmp-1234-0".
std::string TemporaryName(absl::string_view prefix);

// The temporary files that writers of killed processes left in `directory`, for prefixes that begin
// with `basename`: the names by prefix ("model.ckpt-50"). Without those of other processes that
// live on this machine.
// REQUIRES: no other writer of this process uses the directory now.
absl::StatusOr<std::map<std::string, std::vector<std::string>>> TemporaryFilesOf(
    StringArg directory, StringArg basename);
// Removes them.
absl::Status RemoveTemporaryFiles(StringArg directory, StringArg basename);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_WRITER_H_
