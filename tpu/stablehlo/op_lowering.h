// The registry of lowerings: how each op is written in StableHLO (writer.h).
//
//   EST_REGISTER_STABLEHLO("Relu", [](Writer& w, const LoweringArgs& args) -> LoweringResult {
//     return Values{w.Max(args.input(0), w.Scalar(args.input(0).dtype(), 0))};
//   });
//
// A lowering computes what the op's reference kernel computes, from the same attributes and
// constant inputs. The row of an op that a TPU cannot compute has the reason instead
// (OpTraits::not_lowered).
#ifndef TPU_STABLEHLO_OP_LOWERING_H_
#define TPU_STABLEHLO_OP_LOWERING_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"
#include "estimator/kernels/kernel.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo {

// Where the step is in the run. Random ops read it.
struct StepValues {
  Value step;     // i64 []: global_step at the start of the step
  Value replica;  // ui32 []: this replica's number
  int num_replicas = 1;
  // i64 []: for each loop around the op, the outermost first, the row of its trip: what TripKey of
  // kernels/kernel.h is called with.
  Values rows = {};
};

// A body of a While, an If or a Case.
struct LoweredFunction {
  size_t num_inputs = 0;  // its parameters and captures
  // Writes the body's ops, and returns its results. Null for a condition that a While lacks.
  //   inputs: the parameters, then the captures.
  std::function<Values(const Values& inputs, const StepValues& step)> write = nullptr;
};

// One node to lower. The values of `inputs` have the types of spec.inputs.
struct LoweringArgs {
  // Op, the node's name, attributes, the types of inputs and outputs, and the values of constant
  // inputs: what a kernel is built from.
  const KernelSpec& spec;
  const Values& inputs;
  const StepValues& step;
  absl::Span<const LoweredFunction> functions = {};

  const Value& input(int i) const { return inputs[static_cast<size_t>(i)]; }
  const TensorSpec& output(int i) const { return spec.outputs[static_cast<size_t>(i)]; }
  int num_inputs() const { return static_cast<int>(inputs.size()); }
  // The value of input i, if it is known at compile time; else null.
  const Array* constant(int i) const {
    const std::optional<Array>& value = spec.constants[static_cast<size_t>(i)];
    return value.has_value() ? &*value : nullptr;
  }
  // The same for an input that must be known (axes, a shape, paddings), as int64 values for any
  // integer dtype. Errors: UNIMPLEMENTED if the value is not known at compile time.
  absl::StatusOr<Ints> ConstantInts(int i) const;
};

// One value for each output, of the output's type. Errors: NotLowerable.
using LoweringResult = absl::StatusOr<Values>;
using OpLowering = std::function<LoweringResult(Writer& w, const LoweringArgs& args)>;

// The error of a lowering that cannot be done for these attributes, dtypes or shapes:
// UNIMPLEMENTED with the reason and the cure. LowerStep adds the op and the node's name.
//   NotLowerable("float64: a TPU computes in float32; cast to float32")
absl::Status NotLowerable(StringArg reason);

// EST_REGISTER_STABLEHLO calls this before main. REQUIRES: the op is not registered yet.
bool RegisterLowering(absl::string_view op, OpLowering lowering);

const OpLowering* FindLowering(absl::string_view op);  // null if there is none
std::vector<std::string> LoweredOps();                 // sorted

// The library that does this needs alwayslink = True.
#define EST_REGISTER_STABLEHLO(...) EST_REGISTER_STABLEHLO_AT(__COUNTER__, __VA_ARGS__)
#define EST_REGISTER_STABLEHLO_AT(counter, ...) EST_REGISTER_STABLEHLO_AT2(counter, __VA_ARGS__)
#define EST_REGISTER_STABLEHLO_AT2(counter, ...)                     \
  [[maybe_unused]] static const bool lowering_registered_##counter = \
      ::estimator::tpu::stablehlo::RegisterLowering(__VA_ARGS__)

}  // namespace estimator::tpu::stablehlo

#endif  // TPU_STABLEHLO_OP_LOWERING_H_
