// ElementSpec: the names, dtypes and shapes of a Dataset's elements, as far as they are known when
// the pipeline is built. SpecGuard checks elements of functions whose spec is not known by then.
#ifndef ESTIMATOR_DATA_PIPELINE_ELEMENT_SPEC_H_
#define ESTIMATOR_DATA_PIPELINE_ELEMENT_SPEC_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// The type of an array. Source: TF 2.15 tf.TensorSpec.
struct ArraySpec {
  DType dtype = DType::kInvalid;
  // Sizes that are not known are Shape::kUnknownDim. Without a shape the rank is not known either.
  std::optional<Shape> shape = std::nullopt;

  // "f32 [?,28,28]"; "f32 of unknown rank".
  std::string ToString() const;
  friend bool operator==(const ArraySpec& a, const ArraySpec& b) {
    return a.dtype == b.dtype && a.shape == b.shape;
  }
};

// Specs by name. A single array without a name has the name "".
class ArraySpecMap : public std::map<std::string, ArraySpec> {
 public:
  using std::map<std::string, ArraySpec>::map;
  ArraySpecMap() = default;
  ArraySpecMap(ArraySpec bare) {  // NOLINT: a spec converts to a map with one entry
    emplace("", std::move(bare));
  }
};

// {.features = {{"image", {DType::kUint8, Shape{28, 28}}}}, .labels = {DType::kInt32, Shape{}}}
struct ElementSpec {
  ArraySpecMap features;
  ArraySpecMap labels = {};

  // "image u8 [28,28], labels i32 []", as Element::ToString.
  std::string ToString() const;
  friend bool operator==(const ElementSpec& a, const ElementSpec& b) {
    return a.features == b.features && a.labels == b.labels;
  }
};

// Calls fn(arrays of `a`, arrays of `b`, "features" or "labels") for the features and the labels of
// two specs or elements.
template <typename A, typename B, typename Fn>
void ForEachKind(A& a, B& b, const Fn& fn) {
  fn(a.features, b.features, absl::string_view("features"));
  fn(a.labels, b.labels, absl::string_view("labels"));
}

// features["image"]; labels, if the name is empty.
std::string QuotedComponent(absl::string_view kind, absl::string_view name);

// The spec of one element, with all sizes.
ElementSpec SpecOf(const Element& element);

enum class CompareShapes { kNo, kYes };

// Checks that an element or a spec has the names and dtypes of `expected` and, with kYes, shapes
// that may be equal. A size that is not known equals every size.
//   where_expected, where_actual: for messages, such as "output_signature" and "the element".
// Errors: INVALID_ARGUMENT with the first component that differs, and both types.
absl::Status CheckSpec(const ElementSpec& expected, absl::string_view where_expected,
                       const ElementSpec& actual, absl::string_view where_actual,
                       CompareShapes shapes);

// The spec that covers both. Sizes that differ are unknown. REQUIRES: CheckSpec(kNo) is OK.
ElementSpec MostGeneral(const ElementSpec& a, const ElementSpec& b);

// A shape with a new axis 0 of this size.
Shape WithAxis(int64_t size, const Shape& row);
// Each component with a new axis 0 of this size.
ElementSpec WithBatchAxis(const ElementSpec& row, int64_t size);
// Each component without its axis 0. REQUIRES: no component is a scalar.
ElementSpec WithoutBatchAxis(const ElementSpec& batch);

// Checks the elements of one transform. If a spec is declared, all elements must have it. Otherwise
// all elements must have the names and dtypes of the first one; shapes may differ. Thread-safe.
class SpecGuard {
 public:
  explicit SpecGuard(std::optional<ElementSpec> declared);
  // Errors: INVALID_ARGUMENT with the component and both types.
  absl::Status Check(const Element& element) const;

 private:
  const bool declared_;
  mutable std::once_flag first_;
  mutable ElementSpec spec_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_ELEMENT_SPEC_H_
