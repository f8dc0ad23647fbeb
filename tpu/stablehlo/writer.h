// Writer: writes a StableHLO module as text, one op a line, in MLIR's generic form:
//
//   %7 = "stablehlo.add"(%5, %6) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc(#loc3)
//
// Every op carries the name of the node that it comes from as its location, so the messages of a
// compiler name the user's ops. Shapes are static.
// Source: the StableHLO specification, version 1.0 and later.
#ifndef TPU_STABLEHLO_WRITER_H_
#define TPU_STABLEHLO_WRITER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/base/string_arg.h"

namespace estimator::tpu::stablehlo {

// The type of a value: a TensorSpec, or that with unsigned integers (ui32 has no DType).
struct Type {
  DType dtype = DType::kInvalid;
  Shape shape;
  bool is_unsigned = false;  // of kInt32 and kInt64: ui32 and ui64. uint8 is always ui8.

  Type() = default;
  Type(DType dtype, Shape shape, bool is_unsigned = false);
  Type(const TensorSpec& spec);  // NOLINT: an op's outputs are TensorSpecs
  TensorSpec spec() const { return {dtype, shape}; }
  std::string ToString() const;  // "tensor<8x10xf32>", "tensor<i1>"
  friend bool operator==(const Type& a, const Type& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.is_unsigned == b.is_unsigned;
  }
};

// A value of the module.
struct Value {
  std::string name;  // "%7", "%7#1"
  Type type;

  DType dtype() const { return type.dtype; }
  const Shape& shape() const { return type.shape; }
  int rank() const { return type.shape.rank(); }
  int64_t dim(int64_t axis) const { return type.shape.dim(static_cast<int>(axis)); }
};
using Values = std::vector<Value>;
using Ints = std::vector<int64_t>;

// A region of an op. `body` gets the region's arguments, writes ops, and returns what the region
// returns.
struct Region {
  std::vector<Type> arguments;
  std::function<Values(const Values& arguments)> body;
};

// The operands and results of DotGeneral: as StableHLO names them.
struct DotDimensions {
  Ints lhs_batch = {};
  Ints rhs_batch = {};
  Ints lhs_contracting = {};
  Ints rhs_contracting = {};
};

// The texts of attributes.
std::string IntsAttr(absl::Span<const int64_t> values);  // "array<i64: 1, 2>", "array<i64>"
std::string IntAttr(int64_t value);                      // "3 : i64"
// "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>". REQUIRES: rows of one length.
std::string MatrixAttr(const std::vector<Ints>& rows);

// Not thread-safe. Ops are written to the innermost open region.
//
// Names of ops are StableHLO's without "stablehlo.": Unary("exponential", x).
// REQUIRES, for all: operands that StableHLO's op accepts. A wrong one is a bug in a lowering.
class Writer {
 public:
  // --- Any op
  // attributes: the text between { and }: "dimension = 0 : i64".
  Value Op(StringArg op, const Values& operands, const Type& result, StringArg attributes = "");
  // The same with several results, and with regions.
  Values Ops(StringArg op, const Values& operands, const std::vector<Type>& results,
             StringArg attributes = "", const std::vector<Region>& regions = {});

  // --- Constants
  Value Constant(const Array& value);
  // All elements are `value`, converted to the dtype. Infinities and NaN are allowed.
  Value Fill(const Type& type, double value);
  Value FillInt(const Type& type, int64_t value);  // exact for 64 bits
  Value Scalar(DType dtype, double value) { return Fill({dtype, Shape{}}, value); }
  // The smallest value of the dtype (-inf for floats, false), and the largest.
  Value Lowest(const Type& type) { return Extreme(type, false); }
  Value Highest(const Type& type) { return Extreme(type, true); }
  // Element i along `axis` is i.
  Value Iota(const Type& type, int64_t axis);

  // --- Element by element
  Value Unary(StringArg op, const Value& x);  // the result has the type of x
  // Operands of different shapes are broadcast by NumPy's rule. REQUIRES: equal dtypes, and shapes
  // that can be broadcast.
  Value Binary(StringArg op, const Value& a, const Value& b);
  Value Add(const Value& a, const Value& b) { return Binary("add", a, b); }
  Value Sub(const Value& a, const Value& b) { return Binary("subtract", a, b); }
  Value Mul(const Value& a, const Value& b) { return Binary("multiply", a, b); }
  Value Div(const Value& a, const Value& b) { return Binary("divide", a, b); }
  Value Max(const Value& a, const Value& b) { return Binary("maximum", a, b); }
  Value Min(const Value& a, const Value& b) { return Binary("minimum", a, b); }
  // x and a number, in x's dtype.
  Value AddConst(const Value& x, double value) { return Add(x, Scalar(x.dtype(), value)); }
  Value MulConst(const Value& x, double value) { return Mul(x, Scalar(x.dtype(), value)); }
  // direction: "EQ", "NE", "LT", "LE", "GT", "GE". Returns bool. Broadcasts as Binary does.
  Value Compare(StringArg direction, const Value& a, const Value& b);
  // All three are broadcast to one shape.
  Value Select(const Value& condition, const Value& if_true, const Value& if_false);
  // x if it has the dtype already. Floats to integers are cut towards zero; a bool becomes 0 or 1.
  // To bool: x != 0.
  Value Convert(const Value& x, DType dtype);
  // The bits of x as another type of the same size, of x's shape.
  Value Bitcast(const Value& x, DType dtype, bool is_unsigned = false);
  Value IsFinite(const Value& x);  // bool

  // --- Shapes
  Value Reshape(const Value& x, const Shape& shape);  // x if it has the shape already
  // Dimension i of x becomes dimension dims[i] of the result.
  Value BroadcastInDim(const Value& x, const Shape& shape, const Ints& dims);
  // NumPy's rule: axes are aligned at the end. x if it has the shape already.
  Value BroadcastTo(const Value& x, const Shape& shape);
  Value Transpose(const Value& x, const Ints& permutation);
  Value Slice(const Value& x, const Ints& starts, const Ints& limits, const Ints& strides);
  Value Concatenate(const Values& values, int64_t axis);
  // low, high: may be negative (crops). interior: elements between neighbours.
  Value Pad(const Value& x, const Value& value, const Ints& low, const Ints& high,
            const Ints& interior);
  Value Reverse(const Value& x, const Ints& axes);
  // starts: one scalar of an integer dtype for each dimension; clamped so that the slice fits.
  Value DynamicSlice(const Value& x, const Values& starts, const Ints& sizes);
  Value DynamicUpdateSlice(const Value& x, const Value& update, const Values& starts);

  // --- Over several elements
  // op: "add", "multiply", "maximum", "minimum", "and", "or". The reduced axes disappear.
  //   init: the scalar that the reduction begins with; without it the op's neutral element.
  Value Reduce(StringArg op, const Value& x, const Ints& axes);
  Value Reduce(StringArg op, const Value& x, const Value& init, const Ints& axes);
  // A region of one op of two scalars, for reduce_window, select_and_scatter, scatter and the like.
  Region ScalarRegion(StringArg op, DType dtype);
  // The same with a comparison.
  Region CompareRegion(StringArg direction, DType dtype);
  // Operands of f32 are rounded as ProductOperand does. The result has dtype `result`.
  Value DotGeneral(const Value& lhs, const Value& rhs, const DotDimensions& dimensions,
                   DType result);
  // An f32 operand of a matrix product or convolution, in bf16 if the step's compute dtype is bf16;
  // else x. Results stay in f32.
  Value ProductOperand(const Value& x);
  // Loops while `condition`, which returns one bool scalar, holds. Returns the values at the end.
  Values While(const Values& init, const std::function<Value(const Values&)>& condition,
               const std::function<Values(const Values&)>& body);

  // --- For the lowering of a step
  // The location of the ops that follow: the name of the user's node.
  void SetLocation(StringArg name);
  void set_compute_dtype(DType dtype) { compute_dtype_ = dtype; }
  // The text so far: functions and locations. `functions` were written by BeginFunction and
  // EndFunction.
  Values BeginFunction(StringArg name, const std::vector<Type>& arguments,
                       const std::vector<std::string>& argument_attributes,
                       const std::vector<Type>& results);
  void EndFunction(const Values& results);
  // The module with all functions. attributes: "mhlo.num_replicas = 8 : i32".
  std::string Module(StringArg name, StringArg attributes) const;

 private:
  std::string NewName();
  std::string LocationText();
  void WriteBlock(const Region& region);
  Value DenseSplat(const Type& type, const std::string& element);
  Value Extreme(const Type& type, bool largest);

  std::string text_;
  int64_t num_values_ = 0;
  int indent_ = 1;
  DType compute_dtype_ = DType::kFloat32;
  std::string location_;
  std::map<std::string, int> locations_;  // a node's name -> its number
  std::vector<std::string> location_names_;
};

}  // namespace estimator::tpu::stablehlo

#endif  // TPU_STABLEHLO_WRITER_H_
