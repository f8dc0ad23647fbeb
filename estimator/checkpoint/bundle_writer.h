// Writes a checkpoint in TensorFlow's format: see bundle_format.h.
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
#include "estimator/checkpoint/bundle/bundle_format.h"

namespace estimator {

// Streams tensors into a temporary data file; Finish writes the index and renames both into place.
// At every instant the prefix names the old checkpoint, whole, or the new one, or none; also where
// a checkpoint of the same prefix is replaced, whose data file then stands until the new index
// does. A checkpoint with the same contents is left as it is. Without Finish nothing of the prefix
// changes, and the temporary file goes with the writer. Not thread-safe.
class BundleWriter {
 public:
  // Errors: of the file system, with the path; the directory must be there.
  static absl::StatusOr<std::unique_ptr<BundleWriter>> Open(absl::string_view prefix);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  // Any dtype but kInvalid, any shape, empty ones too.
  // Errors: INVALID_ARGUMENT for an empty name, one that begins with a zero byte, or one given
  // twice.
  absl::Status Add(absl::string_view name, const Array& value);

  // One part of a partitioned variable of full_shape; all its parts are to be added.
  //   extents: one an axis; value's shape is theirs.
  // Errors: INVALID_ARGUMENT as above, or if the extents do not fit the shapes.
  absl::Status AddSlice(absl::string_view name, const Shape& full_shape,
                        const std::vector<SliceExtent>& extents, const Array& value);

  // What a value is whose bytes come in pieces, as they are to be stored.
  struct Stored {
    int dtype_on_disk = 0;                  // TensorFlow's number; may be one that has no DType
    Shape shape = {};                       // of the variable
    std::vector<SliceExtent> extents = {};  // one an axis; empty: not a slice
    // Of what is appended (stored_crc.h), not masked; taken from it if nullopt.
    std::optional<uint32_t> crc32c = std::nullopt;
  };
  using Append = std::function<absl::Status(absl::string_view piece)>;

  // Stores what `produce` appends, without holding it. The number of bytes is not checked. Without
  // a crc32c, DATA_LOSS if strings or variants are not such.
  // Errors: INVALID_ARGUMENT as above; those of `produce`, after which the writer is of no use.
  absl::Status AddStored(absl::string_view name, const Stored& stored,
                         const std::function<absl::Status(const Append& append)>& produce);

  // Syncs the files, renames them into place, and syncs their directory. Once.
  absl::Status Finish();

 private:
  struct Entries;  // by key: the messages of the index

  BundleWriter(std::string prefix, std::string temporary, std::unique_ptr<WritableFile> data);
  // The key under which the bytes of `stored` go; notes the slice under the variable's name.
  absl::StatusOr<std::string> KeyOf(absl::string_view name, const Stored& stored);
  absl::Status Commit();
  absl::Status Discard();
  // Those of a checkpoint that was replaced, or whose replacement was killed.
  absl::Status RemoveOtherDataFiles(int shard, int num_shards);

  const std::string prefix_;
  const std::string temporary_;  // what the temporary names begin with
  std::unique_ptr<WritableFile> data_;
  std::unique_ptr<Entries> entries_;
  bool finished_ = false;
};

// Removes the temporary files that writers of a killed process left in
// `directory` for prefixes that begin with `basename`. REQUIRES: no other writer is at work there.
absl::Status RemoveTemporaryFiles(absl::string_view directory, absl::string_view basename);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_WRITER_H_
