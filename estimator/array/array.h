// Array: typed bytes on the host, with a static shape. Arrays are the inputs and outputs of a graph
// and the contents of checkpoints. A Tensor, by contrast, is a handle to a value inside a graph.
#ifndef ESTIMATOR_ARRAY_ARRAY_H_
#define ESTIMATOR_ARRAY_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// A value type that is cheap to copy: copies share the bytes, like views in NumPy. Row-major and
// dense. Thread-compatible. Before you write through data<T>(), make sure that no copy is in use,
// or call Clone().
class Array {
 public:
  // Alignment of owned storage in bytes: the size of a cache line and of an AVX-512 register.
  // Storage of 2 MiB and more begins at a huge page.
  static constexpr size_t kAlignment = 64;

  Array() = default;  // dtype kInvalid, shape []
  // Creates an array of zeros, or of empty strings.
  Array(DType dtype, Shape shape);

  // Array::Of<float>({2, 2}, {1, 2, 3, 4}). REQUIRES: as many values as the shape holds.
  template <typename T>
  static Array Of(const Shape& shape, std::initializer_list<T> values) {
    return FromSpan<T>(shape, absl::Span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Array FromSpan(const Shape& shape, absl::Span<const T> values);
  template <typename T>
  static Array Scalar(T value) {
    return FromSpan<T>(Shape{}, absl::Span<const T>(&value, 1));
  }
  static Array String(StringArg value) { return Scalar<std::string>(std::string(value)); }
  // Strings of shape [values.size()]: Array::Strings({"cat", "dog"}).
  static Array Strings(const std::vector<std::string>& values) {
    return FromSpan<std::string>({static_cast<int64_t>(values.size())}, values);
  }
  // Wraps existing bytes without a copy. `owner` keeps them alive (a mapped file, another array).
  static Array Wrap(DType dtype, Shape shape, void* bytes, std::shared_ptr<void> owner);

  bool valid() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t num_elements() const { return shape_.num_elements(); }
  // 0 for strings.
  size_t num_bytes() const { return static_cast<size_t>(num_elements()) * DTypeSize(dtype_); }

  // REQUIRES: T is the dtype's C++ type.
  template <typename T>
  T* data() {
    CheckType(kDTypeOf<T>);
    return static_cast<T*>(bytes_);
  }
  template <typename T>
  const T* data() const {
    CheckType(kDTypeOf<T>);
    return static_cast<const T*>(bytes_);
  }
  template <typename T>
  absl::Span<const T> values() const {
    // No braces: for bool they would make a span over an initializer list.
    return absl::Span<const T>(data<T>(), static_cast<size_t>(num_elements()));
  }
  template <typename T>
  absl::Span<T> values() {
    return absl::Span<T>(data<T>(), static_cast<size_t>(num_elements()));
  }
  // REQUIRES: one element, of type T.
  template <typename T>
  T scalar() const {
    CheckSingle();
    return data<T>()[0];
  }
  void* raw() { return bytes_; }
  const void* raw() const { return bytes_; }

  // Element i (row-major) as a double. REQUIRES: numeric.
  double AsDouble(int64_t i = 0) const;

  Array Clone() const;
  // The same bytes with another shape. Another number of elements throws std::invalid_argument,
  // which a function of a Dataset (Map) may leave to the Dataset: it becomes an error with the
  // element.
  Array Reshaped(Shape shape) const;
  // Rows [begin, end) along axis 0; shares the bytes. REQUIRES: rank >= 1, in range.
  Array Slice(int64_t begin, int64_t end) const;
  // Row i without its axis 0; shares the bytes.
  Array Row(int64_t i) const;
  // Converts numbers as TensorFlow's Cast does. REQUIRES: both numeric.
  Array Cast(DType dtype) const;

  // "f32 [2,3]"
  std::string TypeString() const;
  // The values as NumPy prints them. A long axis shows only its first and last `edge` elements.
  std::string ToString(int edge = 3) const;

 private:
  void CheckType(DType requested) const;
  void CheckSingle() const;

  DType dtype_ = DType::kInvalid;
  Shape shape_;
  void* bytes_ = nullptr;
  std::shared_ptr<void> owner_;
};

// Concatenates along axis 0. REQUIRES: at least one array; all have the same dtype and the same
// sizes of the other axes.
Array Concatenate(absl::Span<const Array> parts);
// Stacks along a new axis 0. REQUIRES: at least one array; all have the same dtype and shape.
Array Stack(absl::Span<const Array> rows);

template <typename T>
Array Array::FromSpan(const Shape& shape, absl::Span<const T> values) {
  Array array(kDTypeOf<T>, shape);
  const absl::Span<T> out = array.values<T>();
  if (values.size() != out.size()) return Array();
  for (size_t i = 0; i < out.size(); ++i) out[i] = values[i];
  return array;
}

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_ARRAY_H_
