// The ops of kernels/conv_block.h, as the reference kernels of their parts, one after the other;
// f32 and NHWC.
#include "estimator/kernels/conv_block.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "estimator/kernels/conv_spec.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"

namespace estimator {
namespace {

// An operand of a part: an input or output of the whole op, or a value in its scratch.
struct Place {
  enum class Kind { kInput, kOutput, kScratch };
  Kind kind = Kind::kInput;
  size_t at = 0;  // index, or offset in bytes
  TensorSpec spec;
};

// Runs reference kernels one after the other. The factory builds it; Run allocates nothing.
class KernelChain : public Kernel {
 public:
  explicit KernelChain(const KernelSpec& spec) : spec_(spec) {}

  Place Input(size_t i) const { return {Place::Kind::kInput, i, spec_.inputs[i]}; }
  Place Output(size_t i) const { return {Place::Kind::kOutput, i, spec_.outputs[i]}; }
  Place Scratch(const TensorSpec& spec) {
    return {Place::Kind::kScratch, Reserve(spec.num_bytes()), spec};
  }
  // Adds the reference kernel of `op`. Without one, the chain is not complete.
  void Add(const char* op, const Attrs& attrs, const std::vector<Place>& inputs,
           const std::vector<Place>& outputs) {
    KernelSpec part{.op = op, .name = spec_.name, .attrs = attrs};
    for (const Place& place : inputs) part.inputs.push_back(place.spec);
    for (const Place& place : outputs) part.outputs.push_back(place.spec);
    part.constants.resize(inputs.size());
    auto kernel = CreateKernel(part, KernelTier::kReference);
    // A part without a kernel is no error here: the factory then refuses the op as a whole.
    complete_ &= kernel.ok();
    if (!complete_) return;
    Step step;
    step.scratch = Reserve((*kernel)->scratch_bytes());
    step.kernel = *std::move(kernel);
    step.inputs = inputs;
    step.outputs = outputs;
    step.in.resize(inputs.size());
    step.out.resize(outputs.size());
    steps_.push_back(std::move(step));
  }
  bool complete() const { return complete_; }
  // Runs after the last part.
  void set_last(std::function<void(const KernelArgs&)> last) { last_ = std::move(last); }

  absl::Status Run(const KernelArgs& args) override {
    for (Step& step : steps_) {
      for (size_t i = 0; i < step.in.size(); ++i) step.in[i] = Address(args, step.inputs[i]);
      for (size_t o = 0; o < step.out.size(); ++o) step.out[o] = Address(args, step.outputs[o]);
      const absl::Status status =
          step.kernel->Run({.inputs = step.in,
                            .outputs = absl::MakeSpan(step.out),
                            .scratch = static_cast<char*>(args.scratch) + step.scratch,
                            .step = args.step});
      if (!status.ok()) return status;
    }
    if (last_) last_(args);
    return absl::OkStatus();
  }
  size_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  struct Step {
    std::unique_ptr<Kernel> kernel;
    std::vector<Place> inputs, outputs;
    std::vector<const void*> in;
    std::vector<void*> out;
    size_t scratch = 0;  // offset
  };

  size_t Reserve(size_t bytes) {
    const size_t offset = scratch_bytes_;
    scratch_bytes_ += AlignedBytes(bytes);
    return offset;
  }
  static void* Address(const KernelArgs& args, const Place& place) {
    switch (place.kind) {
      case Place::Kind::kInput:
        return const_cast<void*>(args.inputs[place.at]);  // parts only read their inputs
      case Place::Kind::kOutput:
        return args.outputs[place.at];
      case Place::Kind::kScratch:
        return static_cast<char*>(args.scratch) + place.at;
    }
    return nullptr;
  }

  const KernelSpec spec_;
  bool complete_ = true;  // all parts have a kernel
  std::vector<Step> steps_;
  std::function<void(const KernelArgs&)> last_;
  size_t scratch_bytes_ = 0;
};

// What this file computes of blocks: NHWC, and images of f32.
std::optional<ConvSpec> PlainF32(const KernelSpec& spec) {
  std::optional<ConvSpec> conv = ConvSpecOf(spec);
  if (conv.has_value() && (conv->blocked || !conv->IsAll(DType::kFloat32))) conv.reset();
  return conv;
}

// In the scratch, the result of the block's convolution, or its gradient.
Place FullImage(KernelChain& chain, const ConvSpec& conv) {
  return chain.Scratch({DType::kFloat32, conv.geometry.output()});
}

KernelPlan PlanOf(std::unique_ptr<KernelChain> chain) {
  if (!chain->complete()) return nullptr;
  return chain;
}

KernelPlan MakeForward(const KernelSpec& spec) {
  const std::optional<ConvSpec> conv = PlainF32(spec);
  if (!conv.has_value() || conv->fused.side || conv->fused.activation != fused::TileOp::kRelu)
    return nullptr;
  auto chain = std::make_unique<KernelChain>(spec);
  const Place full = FullImage(*chain, *conv);
  chain->Add("Conv2D", spec.attrs, {chain->Input(0), chain->Input(1)}, {full});
  chain->Add("BiasAdd", {}, {full, chain->Input(2)}, {full});
  chain->Add("Relu", {}, {full}, {full});
  chain->Add("_MaxPoolWithArgmax", PoolAttrs(spec.attrs), {full},
             {chain->Output(0), chain->Output(1)});
  chain->set_last([size = spec.outputs[0].shape.num_elements(),
                   off = static_cast<uint8_t>(conv->pool.rows.kernel * conv->pool.columns.kernel)](
                      const KernelArgs& args) {
    const float* const y = args.out<float>(0);
    uint8_t* const argmax = args.out<uint8_t>(1);
    for (int64_t i = 0; i < size; ++i) {
      if (!(y[i] > 0)) argmax[i] = off;
    }
  });
  return PlanOf(std::move(chain));
}

// Adds the gradient of the block's convolution, from that of its pool. No tap has the number
// taps(), so no gradient flows where relu was off.
Place AddPoolGrad(KernelChain& chain, const KernelSpec& spec, const ConvSpec& conv) {
  const Place full = FullImage(chain, conv);
  Attrs attrs = PoolAttrs(spec.attrs);
  attrs.Set("input_shape", full.spec.shape.dims());
  chain.Add("_MaxPoolGradWithArgmax", attrs, {chain.Input(2), chain.Input(1)}, {full});
  return full;
}

KernelPlan MakeBlockFilter(const KernelSpec& spec) {
  const std::optional<ConvSpec> conv = PlainF32(spec);
  if (!conv.has_value()) return nullptr;
  auto chain = std::make_unique<KernelChain>(spec);
  const Place full = AddPoolGrad(*chain, spec, *conv);
  // Conv2DBackpropFilter does not read its second input, the sizes.
  chain->Add("Conv2DBackpropFilter", spec.attrs, {chain->Input(0), chain->Input(0), full},
             {chain->Output(0)});
  chain->Add("BiasAddGrad", {}, {full}, {chain->Output(1)});
  return PlanOf(std::move(chain));
}

KernelPlan MakeBlockInput(const KernelSpec& spec) {
  const std::optional<ConvSpec> conv = PlainF32(spec);
  if (!conv.has_value()) return nullptr;
  auto chain = std::make_unique<KernelChain>(spec);
  const Place full = AddPoolGrad(*chain, spec, *conv);
  // Conv2DBackpropInput does not read its first input, the sizes.
  chain->Add("Conv2DBackpropInput", spec.attrs, {chain->Input(0), chain->Input(0), full},
             {chain->Output(0)});
  return PlanOf(std::move(chain));
}

KernelPlan MakeFilterAndBias(const KernelSpec& spec) {
  if (IsBlocked(spec.attrs) || spec.inputs.size() != 2 || spec.outputs.size() != 2) return nullptr;
  auto chain = std::make_unique<KernelChain>(spec);
  chain->Add("Conv2DBackpropFilter", spec.attrs,
             {chain->Input(0), chain->Input(0), chain->Input(1)}, {chain->Output(0)});
  chain->Add("BiasAddGrad", {}, {chain->Input(1)}, {chain->Output(1)});
  return PlanOf(std::move(chain));
}

EST_REGISTER_KERNEL("_FusedConv2DMaxPool", KernelTier::kReference, MakeForward);
EST_REGISTER_KERNEL("_Conv2DMaxPoolBackpropFilter", KernelTier::kReference, MakeBlockFilter);
EST_REGISTER_KERNEL("_Conv2DMaxPoolBackpropInput", KernelTier::kReference, MakeBlockInput);
EST_REGISTER_KERNEL("_FusedConv2DBackpropFilter", KernelTier::kReference, MakeFilterAndBias);

}  // namespace
}  // namespace estimator
