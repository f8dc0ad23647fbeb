#include "estimator/kernels/recurrent/sequence.h"

#include <omp.h>

#include <algorithm>

#include "estimator/kernels/bfloat16/convolution.h"
#include "estimator/kernels/bfloat16/tiles.h"

namespace estimator::recurrent {
namespace {

// A tile of fewer rows hardly uses the registers: each weight that is read is multiplied only so
// often.
constexpr int64_t kExamplesPerThread = 4;

ProductPlan MakePlan(const KernelSpec& spec, const gemm::Product& p, int threads) {
  const bool rounds = spec.compute_dtype == DType::kBfloat16 && bfloat16::IsAvailable();
  const bool splits = spec.conv_algorithm == ConvAlgorithm::kAuto && bfloat16::HasAmx();
  // Tiles are padded, so with a small side most products are those of padding.
  if ((!rounds && !splits) || std::min({p.m, p.n, p.k}) < bfloat16::kFewestChannels)
    return gemm::MakePlan(p, threads);
  return bfloat16::MakeMatMulPlan({.m = p.m,
                                   .n = p.n,
                                   .k = p.k,
                                   .transpose_a = p.transpose_a,
                                   .transpose_b = p.transpose_b,
                                   .splits = !rounds},
                                  threads);
}

// The scratch memory of a plan, in floats, a multiple of a cache line.
int64_t ScratchFloats(const ProductPlan& plan) {
  const auto* const gemm = std::get_if<gemm::Plan>(&plan);
  const size_t bytes = gemm != nullptr ? gemm->scratch_floats() * sizeof(float)
                                       : std::get<bfloat16::MatMulPlan>(plan).scratch_bytes();
  return static_cast<int64_t>(AlignedBytes(bytes) / sizeof(float));
}

}  // namespace

std::optional<Sizes> NativeSizes(const KernelSpec& spec, size_t x) {
  const Sizes sizes = SizesOf(spec, x);
  const bool empty = sizes.rows() == 0 || sizes.inputs == 0 || sizes.units == 0;
  if (empty || spec.inputs[x].dtype != DType::kFloat32) return std::nullopt;
  return sizes;
}

fused::Chunks BatchChunks(const Sizes& sizes) {
  fused::Chunks chunks = fused::MakeChunks(
      sizes.batch, sizes.steps * sizes.units * std::max<int64_t>(1, sizes.units / 8));
  const int64_t most = std::max<int64_t>(1, sizes.batch / kExamplesPerThread);
  chunks.count = static_cast<int>(std::min<int64_t>(chunks.count, most));
  return chunks;
}

WholeProduct::WholeProduct(const KernelSpec& spec, const gemm::Product& product, Scratch& scratch)
    : plan_(MakePlan(spec, product, omp_get_max_threads())),
      accumulate_(product.accumulate),
      at_(scratch.Add(ScratchFloats(plan_))) {}

void WholeProduct::operator()(const float* a, const float* b, float* c, float* scratch) const {
  if (const auto* const gemm = std::get_if<gemm::Plan>(&plan_))
    return gemm::Multiply(*gemm, a, b, nullptr, c, scratch + at_);
  bfloat16::MultiplyMatrices(std::get<bfloat16::MatMulPlan>(plan_), {.wide = a}, {.wide = b},
                             {.wide = c, .side = accumulate_ ? c : nullptr}, scratch + at_);
}

StepProduct::StepProduct(const KernelSpec& spec, const fused::Chunks& chunks, int64_t depth,
                         int64_t columns, bool transpose_b, Scratch& scratch)
    : chunks_(chunks),
      // That of the batch, so that the kernel does not depend on the number of threads.
      plan_(MakePlan(spec,
                     {.m = chunks.items,
                      .n = columns,
                      .k = depth,
                      .transpose_b = transpose_b,
                      .accumulate = true},
                     /*threads=*/1)),
      scratch_floats_(ScratchFloats(plan_)) {
  const auto* const gemm = std::get_if<gemm::Plan>(&plan_);
  panels_ = scratch.Add(gemm != nullptr
                            ? gemm::PanelsFloats(gemm->product)
                            : std::get<bfloat16::MatMulPlan>(plan_).packed_bytes() / sizeof(float));
  scratch_ = scratch.Add(scratch_floats_ * chunks.count);
}

void StepProduct::Pack(const float* b, float* scratch) const {
  if (const auto* const gemm = std::get_if<gemm::Plan>(&plan_))
    return gemm::CopyAllPanels(gemm->product, b, scratch + panels_);
  bfloat16::PackRightOperand(std::get<bfloat16::MatMulPlan>(plan_), {.wide = b}, scratch + panels_);
}

void StepProduct::operator()(int chunk, const float* a, float* c, float* scratch) const {
  float *const b = scratch + panels_, *const own = scratch + scratch_ + chunk * scratch_floats_;
  ProductPlan plan = plan_;
  std::visit([&](auto& of) { of.product.m = chunks_.end(chunk) - chunks_.begin(chunk); }, plan);
  if (const auto* const gemm = std::get_if<gemm::Plan>(&plan))
    return gemm::MultiplyPanels(*gemm, a, b, nullptr, c, own);
  bfloat16::MultiplyPacked(std::get<bfloat16::MatMulPlan>(plan), {.wide = a}, b,
                           {.wide = c, .side = c}, own);
}

void CopyPrevious(const Sizes& sizes, const float* first, const float* from, float* to) {
  const int64_t step = sizes.batch * sizes.units;
  fused::ForEachItem(fused::MakeChunks(sizes.steps, step), [&](int, int64_t t) {
    std::copy_n(t == 0 ? first : from + (t - 1) * step, step, to + t * step);
  });
}

void SumParts(const float* from, int64_t parts, int64_t size, float* to) {
  std::copy_n(from, size, to);
  for (int64_t part = 1; part < parts; ++part) {
    for (int64_t i = 0; i < size; ++i) to[i] += from[part * size + i];
  }
}

}  // namespace estimator::recurrent
