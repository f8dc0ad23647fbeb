// Reads checkpoints in TensorFlow's formats: today's (bundle_format.h), and the one before, V1
// (v1_checkpoint.h).
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_READER_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_READER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/bundle/value_source.h"

namespace estimator {

// The variables of one checkpoint. Thread-safe. Nothing that a file says is trusted: whatever is
// wrong with it is a DATA_LOSS error that names the file, the variable and the offset.
class BundleReader {
 public:
  // Reads the index and opens the data shards; the values are not read yet. An index that opens has
  // every entry well-formed and every data file there and long enough. Where there is no index, the
  // prefix is that of a V1 checkpoint: its file, or its files, "<prefix>-00000-of-00002", for
  // which "<prefix>-?????-of-00002" does as well.
  // Errors: NOT_FOUND if there is no checkpoint at the prefix; FAILED_PRECONDITION if there are
  // files of two; DATA_LOSS if it is not whole; UNIMPLEMENTED for what TensorFlow could have
  // written and this does not read: big-endian files, a newer version; others of the file system.
  static absl::StatusOr<std::unique_ptr<BundleReader>> Open(absl::string_view prefix);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  const std::string& prefix() const;
  // The variables, in the order of their bytes. Of a dtype that has no DType (complex64, uint16,
  // variant, ...) the spec's dtype is kInvalid; everything else about the checkpoint still works.
  const std::vector<std::string>& names() const;
  const std::map<std::string, TensorSpec>& specs() const;
  bool Has(absl::string_view name) const;

  // Errors: NOT_FOUND naming the nearest variable; UNIMPLEMENTED naming a dtype without a DType.
  absl::StatusOr<TensorSpec> Spec(absl::string_view name) const;

  // The value, with its crc32c verified; the parts of a partitioned variable are put together.
  // Errors: as Spec; DATA_LOSS if the bytes are not those that were written.
  absl::StatusOr<Array> Read(absl::string_view name) const;
  // The same, into an array that is there. After an error its contents are undefined.
  // Errors: INVALID_ARGUMENT if its dtype or shape differs (both are named).
  absl::Status ReadInto(absl::string_view name, Array* value) const;

  // Reads every variable, of any dtype, and verifies its crc32c; the first error, if any. Needs no
  // memory for the values.
  absl::Status VerifyContents() const;

  // For programs that stream: what is stored where, and its bytes.
  const BundleIndex& index() const;
  const ValueSource& values() const;

 private:
  struct Rep;
  explicit BundleReader(std::unique_ptr<const Rep> rep);

  const std::unique_ptr<const Rep> rep_;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_READER_H_
