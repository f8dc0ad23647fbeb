// How a V1 checkpoint holds the values of a slice: a SavedTensorSlices message (saved_tensor_slice.
// proto), in which a TensorProto has them in the repeated field of their dtype and nothing else.
//   floats, doubles, complex numbers   packed: their bytes as in memory
//   integers, bools, half floats       packed varints; of a negative int32 ten bytes
//   strings                            a field each
// Source: TF 2.15 tensorflow/core/util/saved_tensor_slice_util.h.
#ifndef ESTIMATOR_CHECKPOINT_V1_SAVED_SLICE_H_
#define ESTIMATOR_CHECKPOINT_V1_SAVED_SLICE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/checkpoint/table/file_window.h"

namespace estimator {

// Walks the fields of a serialized message where it lies in a file. Not thread-safe.
class FieldWalker {
 public:
  // Of the bytes [begin, end).
  FieldWalker(ReadAt read_at, int64_t begin, int64_t end)
      : window_(std::move(read_at)), position_(begin), end_(end) {}

  // Goes to the next field; false after the last. Errors: DATA_LOSS with the offset in the file.
  absl::StatusOr<bool> Next();
  int number() const { return number_; }
  bool has_length() const { return has_length_; }  // a message, a string, packed numbers
  // What it holds.
  int64_t begin() const { return begin_; }
  int64_t end() const { return position_; }

 private:
  FileWindow window_;
  int64_t position_;
  const int64_t end_;
  int number_ = 0;
  bool has_length_ = false;
  int64_t begin_ = 0;
};

struct SavedEncoding {
  enum class Kind { kBytes, kVarints, kStrings };
  Kind kind = Kind::kBytes;
  int field = 0;          // of TensorProto
  int element_bytes = 0;  // in memory; 0 of strings
};
// Nullopt for dtypes that TensorFlow cannot write so: variants, resources.
std::optional<SavedEncoding> EncodingOf(int dtype_on_disk);

// A range of the file: the packed values; of strings the TensorProto.
struct SavedValues {
  int64_t begin = 0;
  int64_t end = 0;
};
// The values in the SavedTensorSlices message at [begin, end).
// Errors: DATA_LOSS with the offset in the file.
absl::StatusOr<SavedValues> FindSavedValues(const ReadAt& read_at, int64_t begin, int64_t end,
                                            const SavedEncoding& encoding);

// Of a string in a TensorProto.
inline constexpr int kStringField = 8;

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_V1_SAVED_SLICE_H_
