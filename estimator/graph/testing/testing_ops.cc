// Ops for the tests of this folder, where estimator/ops is out of reach.
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

absl::StatusOr<std::vector<TensorSpec>> Same(const ShapeContext& c) {
  return std::vector<TensorSpec>{c.input(0)};
}

absl::StatusOr<std::vector<TensorSpec>> SameTwo(const ShapeContext& c) {
  if (c.input(0) == c.input(1)) return std::vector<TensorSpec>{c.input(0)};
  return absl::InvalidArgumentError("the inputs differ");
}

absl::StatusOr<std::vector<TensorSpec>> ValueSpec(const ShapeContext& c) {
  const Array& value = c.attrs.get<Array>("value");
  return std::vector<TensorSpec>{{value.dtype(), value.shape()}};
}

absl::StatusOr<std::vector<TensorSpec>> FedSpec(const ShapeContext& c) {
  return std::vector<TensorSpec>{{c.attrs.dtype("dtype"), c.attrs.get<Shape>("shape")}};
}

EST_REGISTER_OP({.name = "Const", .num_inputs = 0, .shape = ValueSpec});
EST_REGISTER_OP({.name = "Placeholder", .num_inputs = 0, .shape = FedSpec, .stateful = true});
EST_REGISTER_OP({.name = "AddN", .num_inputs = -1, .shape = Same});
EST_REGISTER_OP({.name = "Identity",
                 .num_inputs = 1,
                 .shape = Same,
                 .gradient = [](const Node&, const std::vector<Tensor>& grads) { return grads; }});
EST_REGISTER_OP({.name = "Mul",
                 .num_inputs = 2,
                 .shape = SameTwo,
                 .gradient = [](const Node& node, const std::vector<Tensor>& grads) {
                   return std::vector<Tensor>{AddOp("Mul", {grads[0], node.input(1)}),
                                              AddOp("Mul", {grads[0], node.input(0)})};
                 }});
EST_REGISTER_OP({.name = "Opaque", .num_inputs = 1, .shape = Same});
EST_REGISTER_OP({.name = "Cut", .num_inputs = 1, .shape = Same, .not_differentiable = true});

template <typename Fn>
KernelFactory Elementwise(Fn fn) {
  return [fn](const KernelSpec& spec) {
    const int64_t n = spec.outputs[0].shape.num_elements();
    const int num_inputs = static_cast<int>(spec.inputs.size());
    return MakeKernel([n, num_inputs, fn](const KernelArgs& args) {
      for (int64_t i = 0; i < n; ++i) {
        float value = args.in<float>(0)[i];
        for (int k = 1; k < num_inputs; ++k) value = fn(value, args.in<float>(k)[i]);
        args.out<float>(0)[i] = value;
      }
      return absl::OkStatus();
    });
  };
}
EST_REGISTER_KERNEL("AddN", KernelTier::kReference,
                    Elementwise([](float a, float b) { return a + b; }));
EST_REGISTER_KERNEL("Mul", KernelTier::kReference,
                    Elementwise([](float a, float b) { return a * b; }));

}  // namespace
}  // namespace estimator
