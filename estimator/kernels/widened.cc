#include "estimator/kernels/widened.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "estimator/kernels/fused/bfloat16.h"

namespace estimator {
namespace {

// Elements that one thread converts at a time. Smaller operands are converted by one thread.
constexpr int64_t kPiece = 16384;

// A bfloat16 operand and the place of its float32 copy in the scratch.
struct Copy {
  size_t operand = 0;
  int64_t elements = 0;
  size_t offset = 0;
};

// Calls convert(first element, number of elements) for all pieces, on all threads.
template <typename Convert>
void ForEachPiece(int64_t elements, Convert&& convert) {
  const int64_t pieces = (elements + kPiece - 1) / kPiece;
#pragma omp parallel for schedule(static) if (pieces > 1)
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t begin = piece * kPiece;
    convert(begin, static_cast<size_t>(std::min(kPiece, elements - begin)));
  }
}

class Widened final : public Kernel {
 public:
  Widened(const KernelSpec& spec, std::unique_ptr<Kernel> kernel)
      : kernel_(std::move(kernel)),
        scratch_bytes_(AlignedBytes(kernel_->scratch_bytes())),
        in_(spec.inputs.size()),
        out_(spec.outputs.size()) {
    const auto add_copies = [this](const std::vector<TensorSpec>& operands) {
      std::vector<Copy> copies;
      for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].dtype != DType::kBfloat16) continue;
        const int64_t elements = operands[i].shape.num_elements();
        copies.push_back({i, elements, scratch_bytes_});
        scratch_bytes_ += AlignedBytes(static_cast<size_t>(elements) * sizeof(float));
      }
      return copies;
    };
    if (kernel_->tier().has_value()) set_tier(*kernel_->tier());
    inputs_ = add_copies(spec.inputs);
    outputs_ = add_copies(spec.outputs);
  }

  absl::Status Run(const KernelArgs& args) override {
    char* const scratch = static_cast<char*>(args.scratch);
    std::copy(args.inputs.begin(), args.inputs.end(), in_.begin());
    std::copy(args.outputs.begin(), args.outputs.end(), out_.begin());
    for (const Copy& copy : inputs_) {
      float* const wide = reinterpret_cast<float*>(scratch + copy.offset);
      const Bfloat16* const from = args.in<Bfloat16>(static_cast<int>(copy.operand));
      ForEachPiece(copy.elements, [&](int64_t begin, size_t n) {
        fused::WidenBfloat16(from + begin, wide + begin, n);
      });
      in_[copy.operand] = wide;
    }
    // The kernel writes f32 to scratch: the buffers of bf16 outputs have half the bytes.
    for (const Copy& copy : outputs_) out_[copy.operand] = scratch + copy.offset;
    const absl::Status status =
        kernel_->Run({.inputs = in_, .outputs = out_, .scratch = scratch, .step = args.step});
    if (!status.ok()) return status;
    for (const Copy& copy : outputs_) {
      const float* const wide = reinterpret_cast<const float*>(scratch + copy.offset);
      Bfloat16* const to = args.out<Bfloat16>(static_cast<int>(copy.operand));
      ForEachPiece(copy.elements, [&](int64_t begin, size_t n) {
        fused::NarrowToBfloat16(wide + begin, to + begin, n);
      });
    }
    return absl::OkStatus();
  }

  size_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  const std::unique_ptr<Kernel> kernel_;
  size_t scratch_bytes_;
  std::vector<Copy> inputs_, outputs_;
  // The operands of kernel_. One thread runs a kernel at a time, so they are set in every run.
  std::vector<const void*> in_;
  std::vector<void*> out_;
};

bool Widen(std::vector<TensorSpec>& operands) {
  bool any = false;
  for (TensorSpec& operand : operands) {
    if (operand.dtype != DType::kBfloat16) continue;
    operand.dtype = DType::kFloat32;
    any = true;
  }
  return any;
}

}  // namespace

std::optional<KernelSpec> WidenedSpec(const KernelSpec& spec) {
  // With other dtypes a cast would be another op.
  if (spec.op == "Cast") return std::nullopt;
  KernelSpec wide = spec;
  // Ops with bf16 in their outputs alone are not widened: RandomUniform in bf16 draws other numbers
  // than in f32.
  if (!Widen(wide.inputs)) return std::nullopt;
  Widen(wide.outputs);
  wide.compute_dtype = DType::kBfloat16;  // what computes it may round as its factors are rounded
  // Constants are the values of inputs, so they get the dtype that the inputs have now.
  for (std::optional<Array>& constant : wide.constants) {
    if (constant.has_value() && constant->dtype() == DType::kBfloat16)
      constant = constant->Cast(DType::kFloat32);
  }
  return wide;
}

std::unique_ptr<Kernel> MakeWidened(const KernelSpec& spec, std::unique_ptr<Kernel> kernel) {
  return std::make_unique<Widened>(spec, std::move(kernel));
}

bool IsWidened(const Kernel& kernel) { return dynamic_cast<const Widened*>(&kernel) != nullptr; }

}  // namespace estimator
