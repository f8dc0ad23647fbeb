#include "estimator/checkpoint/v1/saved_slice.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/table/varint.h"
#include "estimator/proto/types.pb.h"

namespace estimator {
namespace {

// The fields that lead to the TensorProto. On disk: do not change.
constexpr int kSavedSlicesData = 2;
constexpr int kSavedSliceData = 3;

constexpr int64_t kHeadBytes = 20;  // a tag, and a length or a varint, of ten bytes each

absl::Status Corrupt(int64_t offset, absl::string_view what) {
  return DataLoss("offset ", offset, ": ", what);
}

// The range of the field with that number; empty if there is none. It must have a length and occur
// only once.
absl::StatusOr<SavedValues> FindField(const ReadAt& read_at, const SavedValues& message,
                                      int number) {
  SavedValues found{.begin = message.end, .end = message.end};
  bool is_there = false;
  FieldWalker walker(read_at, message.begin, message.end);
  for (;;) {
    EST_ASSIGN_OR_RETURN(const bool more, walker.Next());
    if (!more) return found;
    if (walker.number() != number) continue;
    // A protobuf parser would merge two of them. TensorFlow writes one, so a second one is damage.
    if (is_there || !walker.has_length()) {
      return Corrupt(walker.begin(),
                     absl::StrCat("field ", number, " is not as TensorFlow writes it"));
    }
    is_there = true;
    found = {.begin = walker.begin(), .end = walker.end()};
  }
}

}  // namespace

absl::StatusOr<bool> FieldWalker::Next() {
  if (position_ >= end_) return false;
  EST_ASSIGN_OR_RETURN(const absl::string_view bytes, window_.At(position_, kHeadBytes, end_));
  const int64_t field_begin = position_;
  size_t at = 0;
  uint64_t tag = 0, value = 0;
  if (!ReadVarint(bytes, &at, &tag) || tag >> 3 == 0 || tag >> 32 != 0) {
    return Corrupt(field_begin, "no field begins there");
  }
  number_ = static_cast<int>(tag >> 3);
  has_length_ = false;
  uint64_t size = 0;
  switch (tag & 7) {
    case 0: {
      const size_t begin = at;
      if (!ReadVarint(bytes, &at, &value)) return Corrupt(field_begin, "a field has no number");
      size = at - begin;
      at = begin;
      break;
    }
    case 1:
      size = 8;
      break;
    case 2:
      has_length_ = true;
      if (!ReadVarint(bytes, &at, &size)) return Corrupt(field_begin, "a field has no length");
      break;
    case 5:
      size = 4;
      break;
    default:
      return Corrupt(field_begin, "a field has an unknown wire type");
  }
  begin_ = field_begin + static_cast<int64_t>(at);
  // Compared with a difference, because begin_ + size may overflow.
  if (size > static_cast<uint64_t>(end_ - begin_)) {
    return Corrupt(field_begin, absl::StrCat("a field has ", size, " bytes, of which only ",
                                             end_ - begin_, " are there"));
  }
  position_ = begin_ + static_cast<int64_t>(size);
  return true;
}

std::optional<SavedEncoding> EncodingOf(int dtype_on_disk) {
  using enum SavedEncoding::Kind;
  struct Row {
    proto::DataType dtype;
    SavedEncoding::Kind kind;
    int field;
  };
  static constexpr Row kRows[] = {{proto::DT_FLOAT, kBytes, 5},
                                  {proto::DT_DOUBLE, kBytes, 6},
                                  {proto::DT_COMPLEX64, kBytes, 9},
                                  {proto::DT_COMPLEX128, kBytes, 12},
                                  {proto::DT_INT8, kVarints, 7},
                                  {proto::DT_UINT8, kVarints, 7},
                                  {proto::DT_QINT8, kVarints, 7},
                                  {proto::DT_QUINT8, kVarints, 7},
                                  {proto::DT_INT16, kVarints, 7},
                                  {proto::DT_UINT16, kVarints, 7},
                                  {proto::DT_QINT16, kVarints, 7},
                                  {proto::DT_QUINT16, kVarints, 7},
                                  {proto::DT_INT32, kVarints, 7},
                                  {proto::DT_QINT32, kVarints, 7},
                                  {proto::DT_INT64, kVarints, 10},
                                  {proto::DT_BOOL, kVarints, 11},
                                  {proto::DT_HALF, kVarints, 13},
                                  {proto::DT_BFLOAT16, kVarints, 13},
                                  {proto::DT_UINT32, kVarints, 16},
                                  {proto::DT_UINT64, kVarints, 17},
                                  {proto::DT_STRING, kStrings, kStringField}};
  for (const Row& row : kRows) {
    if (row.dtype == dtype_on_disk)
      return SavedEncoding{row.kind, row.field, DTypeOnDiskSize(dtype_on_disk)};
  }
  return std::nullopt;
}

absl::StatusOr<SavedValues> FindSavedValues(const ReadAt& read_at, int64_t begin, int64_t end,
                                            const SavedEncoding& encoding) {
  SavedValues range{.begin = begin, .end = end};
  for (const int number : {kSavedSlicesData, kSavedSliceData}) {
    EST_ASSIGN_OR_RETURN(range, FindField(read_at, range, number));
  }
  // Strings cannot be packed, so each one is a field of the TensorProto.
  if (encoding.kind == SavedEncoding::Kind::kStrings) return range;
  return FindField(read_at, range, encoding.field);
}

}  // namespace estimator
