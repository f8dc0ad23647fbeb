// Finds the values of a slice in a V1 checkpoint. They are in a SavedTensorSlices message
// (saved_tensor_slice.proto), which has a TensorProto with only the repeated field of the dtype:
//
//   floats, doubles, complex numbers   packed, with the bytes as in memory
//   integers, bools, half floats       packed varints; a negative int32 has ten bytes
//   strings                            one field for each
//
// Source: TF 2.15 tensorflow/core/util/saved_tensor_slice_util.h.
#ifndef ESTIMATOR_CHECKPOINT_V1_SAVED_SLICE_H_
#define ESTIMATOR_CHECKPOINT_V1_SAVED_SLICE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/table/file_window.h"

namespace estimator {

// Walks the fields of a serialized message in a file, without reading the whole message. Not
// thread-safe.
class FieldWalker {
 public:
  // The message is the bytes [begin, end).
  FieldWalker(ReadAt read_at, int64_t begin, int64_t end)
      : window_(std::move(read_at)), position_(begin), end_(end) {}

  // Moves to the next field. Returns false after the last one.
  // Errors: DATA_LOSS with the offset in the file.
  absl::StatusOr<bool> Next();
  int number() const { return number_; }
  bool has_length() const { return has_length_; }  // true for a message, a string, packed numbers
  // The range of the field's contents in the file.
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
  int field = 0;          // the field of TensorProto
  int element_bytes = 0;  // in memory; 0 for strings
};
// Nullopt for dtypes that the V1 format does not support: variants and resources.
std::optional<SavedEncoding> EncodingOf(int dtype_on_disk);

// A range of the file: the packed values, or the whole TensorProto for strings.
struct SavedValues {
  int64_t begin = 0;
  int64_t end = 0;
};
// Finds the values in the SavedTensorSlices message at [begin, end).
// Errors: DATA_LOSS with the offset in the file.
absl::StatusOr<SavedValues> FindSavedValues(const ReadAt& read_at, int64_t begin, int64_t end,
                                            const SavedEncoding& encoding);

// The number of the field of strings in TensorProto.
inline constexpr int kStringField = 8;

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_V1_SAVED_SLICE_H_
