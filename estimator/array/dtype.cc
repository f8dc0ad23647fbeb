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
};

constexpr DTypeInfo kInfos[] = {
    {DType::kFloat32, 4, "float32", "f32"}, {DType::kFloat64, 8, "float64", "f64"},
    {DType::kInt32, 4, "int32", "i32"},     {DType::kUint8, 1, "uint8", "u8"},
    {DType::kInt16, 2, "int16", "i16"},     {DType::kInt8, 1, "int8", "i8"},
    {DType::kString, 0, "string", "str"},   {DType::kInt64, 8, "int64", "i64"},
    {DType::kBool, 1, "bool", "bool"},      {DType::kBfloat16, 2, "bfloat16", "bf16"},
    {DType::kFloat16, 2, "float16", "f16"}, {DType::kInvalid, 0, "invalid", "invalid"},
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
