// For op families: adds an op together with the constant operands that it takes (axes, shapes,
// paddings), with TensorFlow's names: `Sum` and `Sum/reduction_indices`.
#ifndef ESTIMATOR_OPS_BUILDING_BUILDER_H_
#define ESTIMATOR_OPS_BUILDING_BUILDER_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// Add the operands in the op's order, then call Build once. The op is added to the graph of the
// first tensor.
//   return OpBuilder("Sum", name)
//       .Input(x)
//       .Ints("reduction_indices", axes)
//       .Attr("keep_dims", false)
//       .Build();
class OpBuilder {
 public:
  OpBuilder(absl::string_view op, absl::string_view name) : op_(op), name_(name) {}

  OpBuilder& Input(const Tensor& tensor);
  OpBuilder& Inputs(const std::vector<Tensor>& tensors);
  // A constant operand with the name `<op's name>/<name>`.
  OpBuilder& Const(absl::string_view name, Array value);
  // A constant i32 [n], or i64 [n] if a value does not fit into i32.
  OpBuilder& Ints(absl::string_view name, absl::Span<const int64_t> values);
  OpBuilder& Int(absl::string_view name, int64_t value);  // i32 []
  OpBuilder& Attr(absl::string_view name, AttrValue value);

  Tensor Build();
  // REQUIRES: the op has that many outputs.
  std::vector<Tensor> BuildN(int num_outputs);

 private:
  struct Constant {
    std::string name;
    Array value;
  };
  const std::string op_;
  const std::string name_;
  std::vector<std::variant<Tensor, Constant>> operands_;
  Attrs attrs_;
};

// The name that an op's options give, or the op's own.
inline absl::string_view NameOr(const std::string& name, absl::string_view own) {
  return name.empty() ? own : absl::string_view(name);
}

// The numbers as an array of the given shape: i32, or i64 if a number does not fit into i32.
Array IntArray(const Shape& shape, absl::Span<const int64_t> values);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_BUILDER_H_
