// The attributes of an op: small typed values by name, as in TensorFlow's NodeDef.
#ifndef ESTIMATOR_ARRAY_ATTRS_H_
#define ESTIMATOR_ARRAY_ATTRS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator {

using AttrValue = std::variant<bool, int64_t, float, std::string, DType, Shape, Array,
                               std::vector<int64_t>, std::vector<float>, std::vector<std::string>>;

// The text of a value in messages: "5", "SAME", "float32", "[2,2]".
std::string AttrToString(const AttrValue& value);

// REQUIRES for all reads: the attribute exists and has the type asked for. Ops set every attribute
// when they build a node, so a missing attribute is a bug in this framework.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<const std::string, AttrValue>> values) : values_(values) {}

  bool has(absl::string_view name) const { return values_.count(std::string(name)) > 0; }
  template <typename T>
  const T& get(absl::string_view name) const {
    return std::get<T>(Find(name));
  }
  int64_t i(absl::string_view name) const { return get<int64_t>(name); }
  float f(absl::string_view name) const { return get<float>(name); }
  bool b(absl::string_view name) const { return get<bool>(name); }
  const std::string& s(absl::string_view name) const { return get<std::string>(name); }
  DType dtype(absl::string_view name) const { return get<DType>(name); }
  const std::vector<int64_t>& ints(absl::string_view name) const {
    return get<std::vector<int64_t>>(name);
  }

  void Set(absl::string_view name, AttrValue value) {
    values_[std::string(name)] = std::move(value);
  }
  const std::map<std::string, AttrValue>& values() const { return values_; }
  // Compares names, types and values. Arrays are compared by their bits.
  friend bool operator==(const Attrs& a, const Attrs& b);
  // "padding=SAME, strides=[1,1,1,1]"
  std::string ToString() const;

 private:
  const AttrValue& Find(absl::string_view name) const;
  std::map<std::string, AttrValue> values_;
};

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_ATTRS_H_
