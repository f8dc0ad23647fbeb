#include "estimator/ops/building/builder.h"

#include <algorithm>
#include <limits>

namespace estimator {

Array IntArray(const Shape& shape, absl::Span<const int64_t> values) {
  const Array wide = Array::FromSpan<int64_t>(shape, values);
  const bool fits = std::all_of(values.begin(), values.end(), [](int64_t value) {
    return value >= std::numeric_limits<int32_t>::min() &&
           value <= std::numeric_limits<int32_t>::max();
  });
  return fits ? wide.Cast(DType::kInt32) : wide;
}

OpBuilder& OpBuilder::Input(const Tensor& tensor) {
  operands_.emplace_back(tensor);
  return *this;
}

OpBuilder& OpBuilder::Inputs(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) Input(tensor);
  return *this;
}

OpBuilder& OpBuilder::Const(absl::string_view name, Array value) {
  operands_.emplace_back(Constant{std::string(name), std::move(value)});
  return *this;
}

OpBuilder& OpBuilder::Ints(absl::string_view name, absl::Span<const int64_t> values) {
  return Const(name, IntArray(Shape{static_cast<int64_t>(values.size())}, values));
}

OpBuilder& OpBuilder::Int(absl::string_view name, int64_t value) {
  return Const(name, IntArray(Shape{}, {value}));
}

OpBuilder& OpBuilder::Attr(absl::string_view name, AttrValue value) {
  attrs_.Set(name, std::move(value));
  return *this;
}

Tensor OpBuilder::Build() { return BuildN(1)[0]; }

std::vector<Tensor> OpBuilder::BuildN(int num_outputs) {
  std::vector<Tensor> tensors;
  bool has_constants = false;
  for (const auto& operand : operands_) {
    if (const Tensor* tensor = std::get_if<Tensor>(&operand))
      tensors.push_back(*tensor);
    else
      has_constants = true;
  }
  Graph& graph = GraphFor(tensors);
  std::string name = name_;
  std::vector<Tensor> inputs;
  if (!has_constants) {
    inputs = std::move(tensors);
  } else {
    // As in TensorFlow, the op has the name of the scope that contains its constants.
    const NameScope scope(name_, graph);
    name = scope.prefix();
    for (const auto& operand : operands_) {
      if (const Tensor* tensor = std::get_if<Tensor>(&operand)) {
        inputs.push_back(*tensor);
      } else {
        const Constant& constant = std::get<Constant>(operand);
        inputs.push_back(graph.AddConst(constant.value, constant.name));
      }
    }
  }
  return AddOpN(op_, num_outputs, std::move(inputs), std::move(attrs_), name);
}

}  // namespace estimator
