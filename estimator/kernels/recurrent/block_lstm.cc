// BlockLSTM and BlockLSTMGrad of f32 (sequence.h). ops/recurrent.h has their operands.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/recurrent/gates.h"
#include "estimator/kernels/recurrent/sequence.h"

namespace estimator::recurrent {
namespace {

LstmRows<float> Outputs(const KernelArgs& args) {
  return {args.out<float>(0), args.out<float>(1), args.out<float>(2), args.out<float>(3),
          args.out<float>(4), args.out<float>(5), args.out<float>(6)};
}

KernelPlan MakeBlockLstm(const KernelSpec& spec) {
  const std::optional<Sizes> sizes = NativeSizes(spec, /*x=*/1);
  if (!sizes.has_value()) return nullptr;
  const auto [steps, batch, inputs, units] = *sizes;
  const fused::Chunks chunks = BatchChunks(*sizes);
  Scratch scratch;
  const int64_t gates = 4 * units, sums_at = scratch.Add(sizes->rows() * gates);
  const WholeProduct of_inputs(spec, {.m = sizes->rows(), .n = gates, .k = inputs}, scratch);
  const StepProduct of_state(spec, chunks, units, gates, /*transpose_b=*/false, scratch);
  const float forget_bias = spec.attrs.f("forget_bias");
  return MakeKernel(
      [=](const KernelArgs& args) -> absl::Status {
        EST_ASSIGN_OR_RETURN(const int64_t length, CheckedLength(*args.in<int64_t>(0), steps));
        float* const memory = static_cast<float*>(args.scratch);
        float* const sums = memory + sums_at;
        const float* const w = args.in<float>(4);
        of_inputs(args.in<float>(1), w, sums, memory);
        of_state.Pack(w + inputs * gates, memory);
        const LstmRows<float> out = Outputs(args);
        const int64_t step = batch * units;
        fused::ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
          for (int64_t t = 0; t < length; ++t) {
            const float* const cs = t == 0 ? args.in<float>(2) : out.cs + (t - 1) * step;
            const float* const h = t == 0 ? args.in<float>(3) : out.h + (t - 1) * step;
            of_state(chunk, h + begin * units, sums + (t * batch + begin) * gates, memory);
            for (int64_t n = begin; n < end; ++n) {
              const int64_t row = t * batch + n;
              LstmGates(units, forget_bias, sums + row * gates, args.in<float>(8), cs + n * units,
                        out.At(row, units));
            }
          }
        });
        for (int o = 0; o < 7; ++o)
          std::fill(args.out<float>(o) + length * step, args.out<float>(o) + steps * step, 0.0f);
        return absl::OkStatus();
      },
      scratch.bytes());
}

KernelPlan MakeBlockLstmGrad(const KernelSpec& spec) {
  const std::optional<Sizes> sizes = NativeSizes(spec, /*x=*/1);
  if (!sizes.has_value()) return nullptr;
  const auto [steps, batch, inputs, units] = *sizes;
  const fused::Chunks chunks = BatchChunks(*sizes);
  Scratch scratch;
  const int64_t rows = sizes->rows(), gates = 4 * units;
  const int64_t sums_at = scratch.Add(rows * gates), previous_at = scratch.Add(rows * units);
  const int64_t bias_at = scratch.Add(chunks.count * gates);
  const StepProduct of_state(spec, chunks, gates, units, /*transpose_b=*/true, scratch);
  const WholeProduct to_inputs(spec, {.m = rows, .n = inputs, .k = gates, .transpose_b = true},
                               scratch);
  const WholeProduct to_input_weights(
      spec, {.m = inputs, .n = gates, .k = rows, .transpose_a = true}, scratch);
  const WholeProduct to_weights(spec, {.m = units, .n = gates, .k = rows, .transpose_a = true},
                                scratch);
  return MakeKernel(
      [=, sizes = *sizes](const KernelArgs& args) -> absl::Status {
        EST_ASSIGN_OR_RETURN(const int64_t length, CheckedLength(*args.in<int64_t>(0), steps));
        float* const memory = static_cast<float*>(args.scratch);
        float *const sums = memory + sums_at, *const bias = memory + bias_at;
        const float* const w = args.in<float>(4);
        const LstmRows<const float> in = {
            args.in<float>(9),  args.in<float>(10), args.in<float>(11), args.in<float>(12),
            args.in<float>(13), args.in<float>(14), args.in<float>(15)};
        // What a step gives to the one before. At the end they are the gradients of the first
        // state.
        float *const dcs = args.out<float>(1), *const dh = args.out<float>(2);
        const int64_t step = batch * units;
        std::fill(dcs, dcs + step, 0.0f);
        std::fill(dh, dh + step, 0.0f);
        std::fill(bias, bias + chunks.count * gates, 0.0f);
        std::fill(sums + length * batch * gates, sums + rows * gates, 0.0f);
        of_state.Pack(w + inputs * gates, memory);
        fused::ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
          for (int64_t t = length - 1; t >= 0; --t) {
            const float* const cs = t == 0 ? args.in<float>(2) : in.cs + (t - 1) * step;
            for (int64_t n = begin; n < end; ++n) {
              const int64_t row = t * batch + n;
              LstmGatesGrad(units, in.At(row, units), cs + n * units,
                            args.in<float>(17) + row * units, args.in<float>(16) + row * units,
                            dh + n * units, dcs + n * units, sums + row * gates,
                            bias + chunk * gates);
            }
            std::fill(dh + begin * units, dh + end * units, 0.0f);
            of_state(chunk, sums + (t * batch + begin) * gates, dh + begin * units, memory);
          }
        });
        to_inputs(sums, w, args.out<float>(0), memory);
        CopyPrevious(sizes, args.in<float>(3), in.h, memory + previous_at);
        float* const w_grad = args.out<float>(3);
        to_input_weights(args.in<float>(1), sums, w_grad, memory);
        to_weights(memory + previous_at, sums, w_grad + inputs * gates, memory);
        for (int o = 4; o < 7; ++o) std::fill_n(args.out<float>(o), units, 0.0f);
        SumParts(bias, chunks.count, gates, args.out<float>(7));
        return absl::OkStatus();
      },
      scratch.bytes());
}

EST_REGISTER_KERNEL("BlockLSTM", KernelTier::kNative, MakeBlockLstm);
EST_REGISTER_KERNEL("BlockLSTMGrad", KernelTier::kNative, MakeBlockLstmGrad);

}  // namespace
}  // namespace estimator::recurrent
