#include "estimator/checkpoint/v1/saved_slice.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/table/varint.h"
#include "estimator/proto/types.pb.h"

namespace estimator {
namespace {

// The fields that lead to the TensorProto. On disk: do not change.
constexpr int kSavedSlicesData = 2;
constexpr int kSavedSliceData = 3;

constexpr int64_t kHeadBytes = 20;  // a tag, and a length or a varint, of ten bytes each

absl::Status Corrupt(int64_t offset, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("offset ", offset, ": ", what));
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
  if (size > static_cast<uint64_t>(end_ - begin_)) {
    return Corrupt(field_begin, absl::StrCat("a field has ", size, " bytes, of which only ",
                                             end_ - begin_, " are there"));
  }
  position_ = begin_ + static_cast<int64_t>(size);
  return true;
}

std::optional<SavedEncoding> EncodingOf(int dtype_on_disk) {
  using Kind = SavedEncoding::Kind;
  switch (dtype_on_disk) {
    case proto::DT_FLOAT:
      return SavedEncoding{Kind::kBytes, 5, 4};
    case proto::DT_DOUBLE:
      return SavedEncoding{Kind::kBytes, 6, 8};
    case proto::DT_COMPLEX64:
      return SavedEncoding{Kind::kBytes, 9, 8};
    case proto::DT_COMPLEX128:
      return SavedEncoding{Kind::kBytes, 12, 16};
    case proto::DT_INT8:
    case proto::DT_UINT8:
    case proto::DT_QINT8:
    case proto::DT_QUINT8:
      return SavedEncoding{Kind::kVarints, 7, 1};
    case proto::DT_INT16:
    case proto::DT_UINT16:
    case proto::DT_QINT16:
    case proto::DT_QUINT16:
      return SavedEncoding{Kind::kVarints, 7, 2};
    case proto::DT_INT32:
    case proto::DT_QINT32:
      return SavedEncoding{Kind::kVarints, 7, 4};
    case proto::DT_INT64:
      return SavedEncoding{Kind::kVarints, 10, 8};
    case proto::DT_BOOL:
      return SavedEncoding{Kind::kVarints, 11, 1};
    case proto::DT_HALF:
    case proto::DT_BFLOAT16:
      return SavedEncoding{Kind::kVarints, 13, 2};
    case proto::DT_UINT32:
      return SavedEncoding{Kind::kVarints, 16, 4};
    case proto::DT_UINT64:
      return SavedEncoding{Kind::kVarints, 17, 8};
    case proto::DT_STRING:
      return SavedEncoding{Kind::kStrings, kStringField, 0};
    default:
      return std::nullopt;
  }
}

absl::StatusOr<SavedValues> FindSavedValues(const ReadAt& read_at, int64_t begin, int64_t end,
                                            const SavedEncoding& encoding) {
  SavedValues range{.begin = begin, .end = end};
  for (const int number : {kSavedSlicesData, kSavedSliceData}) {
    EST_ASSIGN_OR_RETURN(range, FindField(read_at, range, number));
  }
  if (encoding.kind == SavedEncoding::Kind::kStrings) return range;
  return FindField(read_at, range, encoding.field);
}

}  // namespace estimator
