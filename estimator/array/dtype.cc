#include "estimator/array/dtype.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

struct DTypeInfo {
  DType dtype;
  size_t size;
  const char* name;
  const char* short_name;
  const char* cpp_name;
};

constexpr DTypeInfo kInfos[] = {
#define EST_INFO(name, number, cpp_type, full_name, short_name)                          \
  {DType::name, std::is_same_v<cpp_type, std::string> ? 0 : sizeof(cpp_type), full_name, \
   short_name, #cpp_type},
    EST_DTYPES(EST_INFO)
#undef EST_INFO
        {DType::kInvalid, 0, "invalid", "invalid", "nothing"},
};

const DTypeInfo& Info(DType dtype) {
  for (const DTypeInfo& info : kInfos) {
    if (info.dtype == dtype) return info;
  }
  return kInfos[std::size(kInfos) - 1];
}

}  // namespace

size_t DTypeSize(DType dtype) { return Info(dtype).size; }
absl::string_view DTypeName(DType dtype) { return Info(dtype).name; }
absl::string_view DTypeShortName(DType dtype) { return Info(dtype).short_name; }
absl::string_view DTypeCppName(DType dtype) { return Info(dtype).cpp_name; }

absl::StatusOr<DType> DTypeFromName(StringArg name) {
  std::vector<std::string> known;
  for (const DTypeInfo& info : kInfos) {
    if (info.dtype == DType::kInvalid) continue;
    if (name == info.name || name == info.short_name) return info.dtype;
    known.push_back(info.name);
  }
  return InvalidArgument("unknown dtype '", name, "'; known: ", absl::StrJoin(known, ", "));
}

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kBfloat16 ||
         dtype == DType::kFloat16;
}

bool IsInteger(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kInt16 ||
         dtype == DType::kInt8 || dtype == DType::kUint8;
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << DTypeName(dtype); }

}  // namespace estimator
