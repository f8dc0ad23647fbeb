#include "estimator/data/pipeline/element_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/iterator_state.h"

namespace estimator {
namespace {

constexpr int64_t kMostDims = 254;  // as in TensorFlow

void AppendArray(const Array& array, StateWriter* out) {
  out->Int(static_cast<int>(array.dtype()));
  out->Int(array.shape().rank());
  for (const int64_t size : array.shape().dims()) out->Int(size);
  if (array.dtype() == DType::kString) {
    for (const std::string& text : array.values<std::string>()) out->Bytes(text);
  } else {
    out->Bytes({static_cast<const char*>(array.raw()), array.num_bytes()});
  }
}

absl::Status Damaged(absl::string_view what) {
  return DataLoss("the bytes of an element are damaged: ", what);
}

bool IsKnown(int64_t dtype) {
  return dtype == static_cast<int64_t>(DType::kString) ||
         (dtype <= static_cast<int64_t>(DType::kFloat16) &&
          VisitNumeric(static_cast<DType>(dtype), [](auto) {}));
}

absl::StatusOr<Array> ReadArray(StateReader& in) {
  EST_ASSIGN_OR_RETURN(const int64_t number, in.Int());
  if (!IsKnown(number)) return Damaged(absl::StrCat("unknown dtype ", number));
  const auto dtype = static_cast<DType>(number);
  EST_ASSIGN_OR_RETURN(const int64_t rank, in.Int());
  if (rank > kMostDims) return Damaged(absl::StrCat("rank ", rank));
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  int64_t bytes = static_cast<int64_t>(std::max<size_t>(1, DTypeSize(dtype)));
  bool is_empty = false;
  for (int64_t& size : dims) {
    EST_ASSIGN_OR_RETURN(size, in.Int());
    if (size == 0) {
      is_empty = true;
    } else if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return Damaged("its shape is too large");
    }
  }
  if (is_empty) bytes = 0;
  if (dtype != DType::kString) {
    EST_ASSIGN_OR_RETURN(const absl::string_view values, in.Bytes());
    if (static_cast<int64_t>(values.size()) != bytes) {
      return Damaged(
          absl::StrCat("it has ", values.size(), " bytes of numbers, but its shape has ", bytes));
    }
    Array array(dtype, Shape(std::move(dims)));
    if (!values.empty()) std::memcpy(array.raw(), values.data(), values.size());
    return array;
  }
  // Each string takes at least one byte, so damaged sizes cannot allocate more than that.
  if (bytes > static_cast<int64_t>(in.remaining())) return Damaged("it has too few strings");
  Array array(dtype, Shape(std::move(dims)));
  for (std::string& text : array.values<std::string>()) {
    EST_ASSIGN_OR_RETURN(const absl::string_view value, in.Bytes());
    text.assign(value.data(), value.size());
  }
  return array;
}

}  // namespace

std::string ElementToBytes(const Element& element) {
  StateWriter out;
  for (const ArrayMap* arrays : {&element.features, &element.labels}) {
    out.Int(static_cast<uint64_t>(arrays->size()));
    for (const auto& [name, array] : *arrays) {
      out.Bytes(name);
      AppendArray(array, &out);
    }
  }
  return out.bytes();
}

absl::StatusOr<Element> ElementFromBytes(absl::string_view bytes) {
  StateReader in(bytes);
  Element element;
  for (ArrayMap* arrays : {&element.features, &element.labels}) {
    EST_ASSIGN_OR_RETURN(const int64_t count, in.Int());
    for (int64_t i = 0; i < count; ++i) {
      EST_ASSIGN_OR_RETURN(const absl::string_view name, in.Bytes());
      EST_ASSIGN_OR_RETURN(Array array, ReadArray(in));
      if (!arrays->emplace(std::string(name), std::move(array)).second) {
        return Damaged(absl::StrCat("two arrays are named \"", name, "\""));
      }
    }
  }
  if (in.remaining() > 0) return Damaged(absl::StrCat(in.remaining(), " bytes follow its end"));
  return element;
}

}  // namespace estimator
