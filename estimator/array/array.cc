#include "estimator/array/array.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "absl/base/config.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "glog/logging.h"

namespace estimator {
namespace {

class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(size_t num_bytes) {
    std::snprintf(what_, sizeof(what_), "out of memory: an array of %zu bytes", num_bytes);
  }
  const char* what() const noexcept override { return what_; }

 private:
  char what_[80];
};

constexpr size_t kHugePage = 2 << 20;  // x86-64: one TLB entry instead of 512
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
constexpr bool kMapsLargeArrays = false;  // asan watches only what malloc returns
#else
constexpr bool kMapsLargeArrays = true;
#endif

// Maps pages of zeros, on huge pages where the system has them. A page is zeroed when it is first
// used, so that an array that is overwritten at once costs nothing more. Null if that fails.
std::shared_ptr<void> MapZeroed(size_t num_bytes) {
  constexpr size_t kPage = 4096;
  const size_t size = (num_bytes + kPage - 1) / kPage * kPage;
  void* const mapped =
      ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  char* const bytes = begin + before;
  if (before > 0) (void)::munmap(begin, before);
  if (before < kHugePage) (void)::munmap(bytes + size, kHugePage - before);
  (void)::madvise(bytes, size, MADV_HUGEPAGE);  // only a hint
  return {bytes, [size](void* p) { (void)::munmap(p, size); }};
}

std::shared_ptr<void> AllocateZeroed(size_t num_bytes) {
  if (kMapsLargeArrays && num_bytes >= kHugePage) {
    std::shared_ptr<void> mapped = MapZeroed(num_bytes);
    if (mapped != nullptr) return mapped;
  }
  // aligned_alloc requires a size that is a multiple of the alignment. posix_memalign takes the
  // exact size, so asan reports a read past the end.
  const size_t size = std::max<size_t>(num_bytes, 1);
  void* bytes = nullptr;
  if (::posix_memalign(&bytes, Array::kAlignment, size) != 0) throw OutOfMemory(num_bytes);
  std::memset(bytes, 0, size);
  return {bytes, std::free};
}

// Converts one element. From float to integer, values out of range saturate and NaN becomes 0; in
// C++ these casts are undefined.
template <typename To, typename From>
To ConvertElement(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return static_cast<double>(value) != 0;
  } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    const double number = static_cast<double>(value);
    if (std::isnan(number)) return 0;
    if (number <= static_cast<double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    if (number >= static_cast<double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(number);
  } else if constexpr (std::is_same_v<To, Bfloat16> || std::is_same_v<To, Float16>) {
    return To(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

std::string ElementToString(const Array& array, int64_t i) {
  if (array.dtype() == DType::kString) {
    const std::string& text = array.data<std::string>()[i];
    const bool is_long = text.size() > 40;
    return absl::StrCat("'", absl::CEscape(absl::string_view(text).substr(0, 40)),
                        is_long ? "..." : "", "'");
  }
  if (array.dtype() == DType::kBool) return array.data<bool>()[i] ? "true" : "false";
  if (IsInteger(array.dtype())) {
    if (array.dtype() == DType::kInt64) return absl::StrCat(array.data<int64_t>()[i]);
    return absl::StrCat(static_cast<int64_t>(array.AsDouble(i)));
  }
  return absl::StrFormat("%.6g", array.AsDouble(i));
}

void AppendAxis(const Array& array, int axis, int64_t offset, int edge, std::string* out) {
  if (axis == array.shape().rank()) {
    out->append(ElementToString(array, offset));
    return;
  }
  const int64_t size = array.shape().dim(axis);
  const int64_t stride = array.shape().strides()[static_cast<size_t>(axis)];
  const bool is_last = axis == array.shape().rank() - 1;
  const bool abbreviate = size > 2 * edge + 1;
  out->append("[");
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0)
      out->append(is_last ? ", "
                          : absl::StrCat(",\n", std::string(static_cast<size_t>(axis) + 1, ' ')));
    if (abbreviate && i == edge) {
      out->append("...");
      i = size - edge - 1;
      continue;
    }
    AppendAxis(array, axis + 1, offset + i * stride, edge, out);
  }
  out->append("]");
}

}  // namespace

Array::Array(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  CHECK(shape_.fully_known()) << "an array needs a known shape, not " << shape_;
  const size_t count = static_cast<size_t>(shape_.num_elements());
  if (dtype == DType::kString) {
    auto* strings = new std::string[std::max<size_t>(count, 1)];
    owner_ = std::shared_ptr<void>(strings, [](void* p) { delete[] static_cast<std::string*>(p); });
  } else {
    owner_ = AllocateZeroed(count * DTypeSize(dtype));
  }
  bytes_ = owner_.get();
}

Array Array::Wrap(DType dtype, Shape shape, void* bytes, std::shared_ptr<void> owner) {
  Array array;
  array.dtype_ = dtype;
  array.shape_ = std::move(shape);
  array.bytes_ = bytes;
  array.owner_ = std::move(owner);
  return array;
}

void Array::CheckType(DType requested) const {
  CHECK(requested == dtype_)
      << (valid() ? absl::StrCat("this array is ", TypeString(), " (", DTypeName(dtype_), ")")
                  : "this array is empty, default-constructed")
      << ", but its elements were requested as " << DTypeCppName(requested) << " ("
      << DTypeName(requested)
      << "): " << (valid() ? absl::StrCat("request ", DTypeCppName(dtype_), ", or ") : "")
      << "create it with dtype " << DTypeName(requested)
      << (valid() && dtype_ != DType::kString && requested != DType::kString
              ? ", or convert it with Cast"
              : "");
}

void Array::CheckSingle() const {
  CHECK_EQ(num_elements(), 1) << "scalar() needs one element; the shape is " << shape_;
}

double Array::AsDouble(int64_t i) const {
  double result = 0;
  const bool numeric = VisitNumeric(
      dtype_, [&](auto tag) { result = static_cast<double>(data<decltype(tag)>()[i]); });
  CHECK(numeric) << "AsDouble needs a numeric dtype, not " << DTypeName(dtype_);
  return result;
}

Array Array::Clone() const {
  if (!valid()) return Array();
  Array copy(dtype_, shape_);
  if (dtype_ == DType::kString) {
    std::copy_n(data<std::string>(), num_elements(), copy.data<std::string>());
  } else if (num_bytes() > 0) {
    std::memcpy(copy.bytes_, bytes_, num_bytes());
  }
  return copy;
}

Array Array::Reshaped(Shape shape) const {
  if (shape.num_elements() != num_elements()) {
    throw std::invalid_argument(absl::StrCat("cannot reshape ", TypeString(), ", ", num_elements(),
                                             " elements, to ", shape.ToString(), ", ",
                                             shape.num_elements(), " elements"));
  }
  Array result = *this;
  result.shape_ = std::move(shape);
  return result;
}

// The result shares owner_, so the bytes live as long as any slice of them.
Array Array::Slice(int64_t begin, int64_t end) const {
  CHECK(shape_.rank() >= 1 && 0 <= begin && begin <= end && end <= shape_.dim(0))
      << "rows [" << begin << ", " << end << ") are not in " << shape_;
  Array result = *this;
  result.shape_.set_dim(0, end - begin);
  const int64_t row = shape_.dim(0) == 0 ? 0 : num_elements() / shape_.dim(0);
  const size_t size = dtype_ == DType::kString ? sizeof(std::string) : DTypeSize(dtype_);
  result.bytes_ = static_cast<char*>(bytes_) + static_cast<size_t>(begin * row) * size;
  return result;
}

Array Array::Row(int64_t i) const {
  Array row = Slice(i, i + 1);
  return row.Reshaped(Shape(std::vector<int64_t>(shape_.dims().begin() + 1, shape_.dims().end())));
}

Array Array::Cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  Array result(dtype, shape_);
  const bool numeric = VisitNumeric(dtype_, [&](auto from) {
    const auto* in = data<decltype(from)>();
    CHECK(VisitNumeric(dtype,
                       [&](auto to) {
                         auto* out = result.data<decltype(to)>();
                         for (int64_t i = 0; i < num_elements(); ++i)
                           out[i] = ConvertElement<decltype(to)>(in[i]);
                       }))
        << "cannot cast to " << DTypeName(dtype);
  });
  CHECK(numeric) << "cannot cast from " << DTypeName(dtype_);
  return result;
}

std::string Array::TypeString() const {
  return absl::StrCat(DTypeShortName(dtype_), " ", shape_.ToString());
}

std::string Array::ToString(int edge) const {
  if (!valid()) return "<no array>";
  std::string text;
  AppendAxis(*this, 0, 0, edge, &text);
  return text;
}

namespace {

Array CopyParts(absl::Span<const Array> parts, Shape shape) {
  Array result(parts[0].dtype(), std::move(shape));
  int64_t num_elements = 0;
  for (const Array& part : parts) num_elements += part.num_elements();
  // This is checked before anything is copied: too many elements would be written past the end.
  CHECK_EQ(num_elements, result.num_elements()) << "the parts have unequal shapes";
  int64_t offset = 0;
  for (const Array& part : parts) {
    CHECK(part.dtype() == result.dtype())
        << "cannot join " << part.TypeString() << " to " << result.TypeString();
    if (part.dtype() == DType::kString) {
      std::copy_n(part.data<std::string>(), part.num_elements(),
                  result.data<std::string>() + offset);
    } else if (part.num_bytes() > 0) {
      std::memcpy(
          static_cast<char*>(result.raw()) + static_cast<size_t>(offset) * DTypeSize(part.dtype()),
          part.raw(), part.num_bytes());
    }
    offset += part.num_elements();
  }
  return result;
}

}  // namespace

Array Concatenate(absl::Span<const Array> parts) {
  CHECK(!parts.empty());
  Shape shape = parts[0].shape();
  CHECK_GE(shape.rank(), 1) << "scalars cannot be concatenated; use Stack";
  int64_t rows = 0;
  for (const Array& part : parts) rows += part.shape().dim(0);
  shape.set_dim(0, rows);
  return CopyParts(parts, std::move(shape));
}

Array Stack(absl::Span<const Array> rows) {
  CHECK(!rows.empty());
  std::vector<int64_t> dims = {static_cast<int64_t>(rows.size())};
  dims.insert(dims.end(), rows[0].shape().dims().begin(), rows[0].shape().dims().end());
  return CopyParts(rows, Shape(std::move(dims)));
}

}  // namespace estimator
