#include "estimator/graph/constant_value.h"

#include <map>

#include "estimator/graph/op_registry.h"
#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

// The evaluation is recursive. Values that are worth folding are near constants; a longer chain of
// nodes could overflow the stack.
constexpr int kMaxDepth = 1000;

// Evaluates tensors recursively and remembers every result, also "not constant".
class Evaluator {
 public:
  explicit Evaluator(int64_t max_elements) : max_elements_(max_elements) {}

  std::optional<Array> Value(const Tensor& tensor) {
    if (!tensor.valid() || tensor.shape().num_elements() > max_elements_) return std::nullopt;
    const auto done = values_.find(tensor);
    if (done != values_.end()) return done->second;
    if (depth_ == kMaxDepth) return std::nullopt;
    ++depth_;
    std::optional<Array> value = Compute(tensor);
    --depth_;
    values_.emplace(tensor, value);
    return value;
  }

 private:
  std::optional<Array> Compute(const Tensor& tensor) {
    const Node& node = *tensor.node();
    if (node.op() == "Const") return node.attrs().get<Array>("value");
    if (node.rules().stateful) return std::nullopt;
    KernelSpec spec{.op = node.op(),
                    .name = node.name(),
                    .attrs = node.attrs(),
                    .inputs = {},
                    .outputs = node.outputs(),
                    .constants = {}};
    std::vector<Array> inputs;
    // Shape, Size and Rank need only the static shape of their operand, so the operand may be fed.
    const bool needs_shape_only =
        node.op() == "Shape" || node.op() == "Size" || node.op() == "Rank";
    for (const Tensor& input : node.inputs()) {
      spec.inputs.push_back(input.spec());
      if (needs_shape_only) continue;
      std::optional<Array> value = Value(input);
      if (!value.has_value()) return std::nullopt;
      spec.constants.push_back(value);
      inputs.push_back(*value);
    }
    if (needs_shape_only) return FromShape(spec);
    absl::StatusOr<std::vector<Array>> outputs = RunReferenceKernel(spec, inputs);
    if (!outputs.ok()) return std::nullopt;
    return (*outputs)[static_cast<size_t>(tensor.output())];
  }

  // Runs a kernel that does not read its operand.
  static std::optional<Array> FromShape(const KernelSpec& spec) {
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = CreateKernel(spec, KernelTier::kReference);
    if (!kernel.ok()) return std::nullopt;
    Array output(spec.outputs[0].dtype, spec.outputs[0].shape);
    const std::vector<const void*> in = {nullptr};
    const std::vector<void*> out = {output.raw()};
    const absl::Status status =
        (*kernel)->Run({.inputs = in, .outputs = out, .scratch = nullptr, .step = {}});
    return status.ok() ? std::optional<Array>(output) : std::nullopt;
  }

  const int64_t max_elements_;
  int depth_ = 0;
  std::map<Tensor, std::optional<Array>> values_;
};

}  // namespace

std::optional<Array> ConstantValue(const Tensor& tensor, int64_t max_elements) {
  return Evaluator(max_elements).Value(tensor);
}

}  // namespace estimator
