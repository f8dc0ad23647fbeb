// _BlockGRU and _BlockGRUGrad of f32 (sequence.h). ops/recurrent.h has their operands.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/recurrent/gates.h"
#include "estimator/kernels/recurrent/sequence.h"

namespace estimator::recurrent {
namespace {

KernelPlan MakeBlockGru(const KernelSpec& spec) {
  const std::optional<Sizes> sizes = NativeSizes(spec, /*x=*/0);
  if (!sizes.has_value()) return nullptr;
  const auto [steps, batch, inputs, units] = *sizes;
  const fused::Chunks chunks = BatchChunks(*sizes);
  Scratch scratch;
  const int64_t rows = sizes->rows(), gates = 2 * units;
  const int64_t gate_sums_at = scratch.Add(rows * gates), sums_at = scratch.Add(rows * units);
  const int64_t reset_at = scratch.Add(batch * units);
  const WholeProduct gates_of_inputs(spec, {.m = rows, .n = gates, .k = inputs}, scratch);
  const WholeProduct candidate_of_inputs(spec, {.m = rows, .n = units, .k = inputs}, scratch);
  const StepProduct gates_of_state(spec, chunks, units, gates, /*transpose_b=*/false, scratch);
  const StepProduct candidate_of_state(spec, chunks, units, units, /*transpose_b=*/false, scratch);
  return MakeKernel(
      [=](const KernelArgs& args) {
        float* const memory = static_cast<float*>(args.scratch);
        float *const gate_sums = memory + gate_sums_at, *const sums = memory + sums_at;
        float* const reset = memory + reset_at;  // r h, of one time step
        const float *const x = args.in<float>(0), *const w_ru = args.in<float>(2);
        const float* const w_c = args.in<float>(3);
        gates_of_inputs(x, w_ru, gate_sums, memory);
        candidate_of_inputs(x, w_c, sums, memory);
        gates_of_state.Pack(w_ru + inputs * gates, memory);
        candidate_of_state.Pack(w_c + inputs * units, memory);
        float *const r = args.out<float>(0), *const u = args.out<float>(1);
        float *const c = args.out<float>(2), *const h = args.out<float>(3);
        fused::ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
          for (int64_t t = 0; t < steps; ++t) {
            const float* const h_prev = t == 0 ? args.in<float>(1) : h + (t - 1) * batch * units;
            const int64_t first = t * batch + begin;
            gates_of_state(chunk, h_prev + begin * units, gate_sums + first * gates, memory);
            for (int64_t n = begin; n < end; ++n) {
              const int64_t row = t * batch + n, at = row * units;
              GruGates(units, gate_sums + row * gates, args.in<float>(4), h_prev + n * units,
                       r + at, u + at, reset + n * units);
            }
            candidate_of_state(chunk, reset + begin * units, sums + first * units, memory);
            for (int64_t n = begin; n < end; ++n) {
              const int64_t at = (t * batch + n) * units;
              GruOutput(units, sums + at, args.in<float>(5), h_prev + n * units, u + at, c + at,
                        h + at);
            }
          }
        });
      },
      scratch.bytes());
}

KernelPlan MakeBlockGruGrad(const KernelSpec& spec) {
  const std::optional<Sizes> sizes = NativeSizes(spec, /*x=*/0);
  if (!sizes.has_value()) return nullptr;
  const auto [steps, batch, inputs, units] = *sizes;
  const fused::Chunks chunks = BatchChunks(*sizes);
  Scratch scratch;
  const int64_t rows = sizes->rows(), gates = 2 * units;
  const int64_t gate_sums_at = scratch.Add(rows * gates), sums_at = scratch.Add(rows * units);
  const int64_t previous_at = scratch.Add(rows * units), reset_at = scratch.Add(batch * units);
  const int64_t bias_at = scratch.Add(chunks.count * 3 * units);
  const StepProduct gates_to_state(spec, chunks, gates, units, /*transpose_b=*/true, scratch);
  const StepProduct candidate_to_state(spec, chunks, units, units, /*transpose_b=*/true, scratch);
  const WholeProduct gates_to_inputs(
      spec, {.m = rows, .n = inputs, .k = gates, .transpose_b = true}, scratch);
  const WholeProduct candidate_to_inputs(
      spec, {.m = rows, .n = inputs, .k = units, .transpose_b = true, .accumulate = true}, scratch);
  const auto to_weights = [&](int64_t from, int64_t columns) {
    return WholeProduct(spec, {.m = from, .n = columns, .k = rows, .transpose_a = true}, scratch);
  };
  const WholeProduct inputs_to_gates = to_weights(inputs, gates);
  const WholeProduct inputs_to_candidate = to_weights(inputs, units);
  const WholeProduct state_to_gates = to_weights(units, gates);
  const WholeProduct state_to_candidate = to_weights(units, units);
  return MakeKernel(
      [=, sizes = *sizes](const KernelArgs& args) {
        float* const memory = static_cast<float*>(args.scratch);
        float *const gate_sums = memory + gate_sums_at, *const sums = memory + sums_at;
        float *const previous = memory + previous_at, *const reset = memory + reset_at;
        float* const bias = memory + bias_at;  // of each chunk: r, u, c
        const float *const x = args.in<float>(0), *const w_ru = args.in<float>(2);
        const float *const w_c = args.in<float>(3), *const r = args.in<float>(6);
        const float *const u = args.in<float>(7), *const c = args.in<float>(8);
        // What a step gives to the one before; at the end, the gradient of the first state.
        float* const dh = args.out<float>(1);
        std::fill(dh, dh + batch * units, 0.0f);
        std::fill(bias, bias + chunks.count * 3 * units, 0.0f);
        CopyPrevious(sizes, args.in<float>(1), args.in<float>(9), previous);
        gates_to_state.Pack(w_ru + inputs * gates, memory);
        candidate_to_state.Pack(w_c + inputs * units, memory);
        fused::ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
          float* const r_bias = bias + chunk * 3 * units;
          for (int64_t t = steps - 1; t >= 0; --t) {
            const int64_t first = t * batch + begin;
            for (int64_t n = begin; n < end; ++n) {
              const int64_t row = t * batch + n, at = row * units;
              GruOutputGrad(units, previous + at, u + at, c + at, args.in<float>(10) + at,
                            dh + n * units, gate_sums + row * gates + units, sums + at,
                            r_bias + units, r_bias + 2 * units);
            }
            std::fill(reset + begin * units, reset + end * units, 0.0f);
            candidate_to_state(chunk, sums + first * units, reset + begin * units, memory);
            for (int64_t n = begin; n < end; ++n) {
              const int64_t row = t * batch + n, at = row * units;
              GruGatesGrad(units, previous + at, r + at, reset + n * units, dh + n * units,
                           gate_sums + row * gates, r_bias);
            }
            gates_to_state(chunk, gate_sums + first * gates, dh + begin * units, memory);
          }
        });
        gates_to_inputs(gate_sums, w_ru, args.out<float>(0), memory);
        candidate_to_inputs(sums, w_c, args.out<float>(0), memory);
        float *const w_ru_grad = args.out<float>(2), *const w_c_grad = args.out<float>(3);
        inputs_to_gates(x, gate_sums, w_ru_grad, memory);
        inputs_to_candidate(x, sums, w_c_grad, memory);
        state_to_gates(previous, gate_sums, w_ru_grad + inputs * gates, memory);
        fused::ParallelFor(fused::MakeChunks(rows * units), [&](int, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) previous[i] *= r[i];  // r h
        });
        state_to_candidate(previous, sums, w_c_grad + inputs * units, memory);
        SumParts(bias, chunks.count, 3 * units, bias);
        std::copy_n(bias, gates, args.out<float>(4));
        std::copy_n(bias + gates, units, args.out<float>(5));
      },
      scratch.bytes());
}

EST_REGISTER_KERNEL("_BlockGRU", KernelTier::kNative, MakeBlockGru);
EST_REGISTER_KERNEL("_BlockGRUGrad", KernelTier::kNative, MakeBlockGruGrad);

}  // namespace
}  // namespace estimator::recurrent
