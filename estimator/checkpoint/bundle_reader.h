// Reads checkpoints in TensorFlow's formats: the current one (bundle_format.h) and the one before
// it, V1 (v1_checkpoint.h). Files of Keras are checkpoints too (keras_file.h).
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_READER_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_READER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/base/string_arg.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/bundle/value_source.h"

namespace estimator {

// The variables of one checkpoint. Thread-safe. The reader trusts nothing in the files: any damage
// is a DATA_LOSS error with the file, the variable and the offset.
class BundleReader {
 public:
  // Reads the index and opens the data shards. The values are not read yet. If this succeeds, every
  // entry is valid, and every data file exists and is long enough. If there is no index, the prefix
  // is that of a V1 checkpoint: the name of its file, or the common prefix of its files
  // "<prefix>-00000-of-00002". "<prefix>-?????-of-00002" is also accepted. A .h5 or .keras file of
  // Keras is given by its path.
  // Errors: NOT_FOUND if there is no checkpoint at the prefix; FAILED_PRECONDITION if there are
  // files of two checkpoints; DATA_LOSS if it is damaged; UNIMPLEMENTED for big-endian files and
  // for newer versions of the format; other errors of the file system.
  static absl::StatusOr<std::unique_ptr<BundleReader>> Open(StringArg prefix);
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  const std::string& prefix() const { return prefix_; }
  // The variables, sorted by bytes. If a variable's dtype has no DType (complex64, uint16, variant,
  // ...), its spec has the dtype kInvalid. The other variables can still be read.
  // In an object-based checkpoint of TensorFlow 2, these are the names of the variables, not of the
  // objects that hold them (object_names.h).
  const std::vector<std::string>& names() const { return names_; }
  const std::map<std::string, TensorSpec>& specs() const { return specs_; }
  bool Has(StringArg name) const;
  // The name of the variable that an object-based checkpoint stores under the path `name`. All
  // functions take such a path as well. `name` itself, if it is no such path.
  std::string NameOf(StringArg name) const;

  // Errors: NOT_FOUND with the nearest variable name; UNIMPLEMENTED for a dtype without a DType.
  absl::StatusOr<TensorSpec> Spec(StringArg name) const;

  // Reads a value and verifies its crc32c. The slices of a partitioned variable are joined.
  // Errors: as Spec; DATA_LOSS if the bytes differ from those that were written.
  absl::StatusOr<Array> Read(StringArg name) const;
  // The same, but into an existing array. After an error its contents are undefined.
  // Errors: also INVALID_ARGUMENT, with both types, if its dtype or shape differs.
  absl::Status ReadInto(StringArg name, Array* value) const;

  // Reads every variable, of any dtype, and verifies its crc32c. Returns the first error. The
  // values are not kept in memory.
  absl::Status VerifyContents() const;

  // For programs that stream values: the index, and the source of the bytes.
  const BundleIndex& index() const { return index_; }
  const ValueSource& values() const { return *values_; }

 private:
  explicit BundleReader(absl::string_view prefix) : prefix_(prefix) {}
  // Errors: as Spec.
  absl::StatusOr<const BundleEntry*> Find(StringArg name) const;
  absl::Status RenameObjects();
  absl::Status ReadStrings(const BundleEntry& entry, Array* value) const;
  absl::Status ReadSlices(const BundleEntry& entry, Array* value) const;

  const std::string prefix_;
  // Open fills these in, and nothing changes after it.
  BundleIndex index_;
  std::unique_ptr<const ValueSource> values_;
  std::vector<std::string> names_;
  std::map<std::string, TensorSpec> specs_;
  std::map<std::string, std::string> names_of_objects_;  // by path
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_READER_H_
