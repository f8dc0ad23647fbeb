// What the kernels of a whole sequence share. One product computes what the inputs of all steps
// give to the gates. Then each thread runs all time steps of its own examples, so that no thread
// waits for another one, with recurrent weights that are packed once. The gradients of the inputs
// and of the weights are products over all steps again. Internal to recurrent.
#ifndef ESTIMATOR_KERNELS_RECURRENT_SEQUENCE_H_
#define ESTIMATOR_KERNELS_RECURRENT_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "estimator/kernels/bfloat16/matmul.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/gemm/gemm.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/recurrent/sizes.h"

namespace estimator::recurrent {

// The sizes of a spec that these kernels accept: of f32, and not empty.
//   x: as that of SizesOf.
std::optional<Sizes> NativeSizes(const KernelSpec& spec, size_t x);

// Parts of a kernel's scratch memory, in floats.
class Scratch {
 public:
  // Where a new part begins.
  int64_t Add(size_t floats) {
    const size_t at = bytes_;
    bytes_ += AlignedBytes(floats * sizeof(float));
    return static_cast<int64_t>(at / sizeof(float));
  }
  int64_t Add(int64_t floats) { return Add(static_cast<size_t>(floats)); }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

// The examples of each thread.
fused::Chunks BatchChunks(const Sizes& sizes);

// Products of tiles of bf16 (bfloat16/matmul.h) where they are faster: with
// KernelSpec.compute_dtype bf16, and with AMX also three of them for a product of f32. Else those
// of gemm/.
using ProductPlan = std::variant<gemm::Plan, bfloat16::MatMulPlan>;

// A product of all threads.
class WholeProduct {
 public:
  WholeProduct(const KernelSpec& spec, const gemm::Product& product, Scratch& scratch);
  void operator()(const float* a, const float* b, float* c, float* scratch) const;

 private:
  ProductPlan plan_;
  bool accumulate_;
  int64_t at_;
};

// c += a b for the examples of one chunk, by its thread. b is packed.
class StepProduct {
 public:
  //   a: [examples, depth].  b: [depth, columns], or [columns, depth] if transpose_b.
  StepProduct(const KernelSpec& spec, const fused::Chunks& chunks, int64_t depth, int64_t columns,
              bool transpose_b, Scratch& scratch);
  void Pack(const float* b, float* scratch) const;
  void operator()(int chunk, const float* a, float* c, float* scratch) const;

 private:
  fused::Chunks chunks_;
  ProductPlan plan_;  // of the whole batch
  int64_t panels_, scratch_, scratch_floats_;
};

// to[step] = the state before each step: `first`, then from[0], from[1], ...
void CopyPrevious(const Sizes& sizes, const float* first, const float* from, float* to);
// to[i] = the sum of `parts` rows of `size` numbers.
void SumParts(const float* from, int64_t parts, int64_t size, float* to);

}  // namespace estimator::recurrent

#endif  // ESTIMATOR_KERNELS_RECURRENT_SEQUENCE_H_
