#include "estimator/kernels/recurrent/sequence.h"

#include <omp.h>

#include <algorithm>

namespace estimator::recurrent {
namespace {

// A tile of fewer rows hardly uses the registers: each weight that is read is multiplied only so
// often.
constexpr int64_t kExamplesPerThread = 4;

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

WholeProduct::WholeProduct(const gemm::Product& product, Scratch& scratch)
    : plan_(gemm::MakePlan(product, omp_get_max_threads())),
      at_(scratch.Add(plan_.scratch_floats())) {}

StepProduct::StepProduct(const fused::Chunks& chunks, int64_t depth, int64_t columns,
                         bool transpose_b, Scratch& scratch) {
  for (int chunk = 0; chunk < chunks.count; ++chunk) {
    const gemm::Product product{.m = chunks.end(chunk) - chunks.begin(chunk),
                                .n = columns,
                                .k = depth,
                                .transpose_b = transpose_b,
                                .accumulate = true};
    plans_.push_back(gemm::MakePlan(product, /*threads=*/1));
  }
  panels_ = scratch.Add(gemm::PanelsFloats(plans_[0].product));
  scratch_floats_ = static_cast<int64_t>(AlignedBytes(plans_[0].scratch_floats() * sizeof(float)) /
                                         sizeof(float));
  scratch_ = scratch.Add(scratch_floats_ * chunks.count);
}

void StepProduct::Pack(const float* b, float* scratch) const {
  gemm::CopyAllPanels(plans_[0].product, b, scratch + panels_);
}

void StepProduct::operator()(int chunk, const float* a, float* c, float* scratch) const {
  gemm::MultiplyPanels(plans_[static_cast<size_t>(chunk)], a, scratch + panels_, nullptr, c,
                       scratch + scratch_ + chunk * scratch_floats_);
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
