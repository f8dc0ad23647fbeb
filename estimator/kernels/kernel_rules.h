// The rules of kernels: which implementation of an op is the fastest, for its shape, its dtype and
// the instructions of the CPU. All are here but those of layouts (runtime/passes/choose_layouts.h)
// and of the tiles of Winograd's algorithm (winograd/winograd.h). The folders of the kernels say
// only what a kernel can compute: their functions Make... accept a spec or not.
//
// A rule depends on nothing else, so that a run computes the same bits whenever it is repeated.
// Nothing is timed at run time. docs/kernel_choice.md has what was measured, and the programs that
// measure the limits.
#ifndef ESTIMATOR_KERNELS_KERNEL_RULES_H_
#define ESTIMATOR_KERNELS_KERNEL_RULES_H_

#include <cstdint>

#include "estimator/array/dtype.h"
#include "estimator/kernels/conv_spec.h"
#include "estimator/kernels/matmul_spec.h"

namespace estimator {

// The instructions that rules depend on. kernel_list.h has those of this CPU.
struct CpuFeatures {
  bool avx512 = false;  // vectors of 16 floats
  bool amx = false;     // products of tiles of bf16
};

// Where each implementation is faster than those after it in its list (kernel_list.h). With
// ConvAlgorithm::kWinograd, first layers and Winograd's algorithm are taken also where they are
// slower; Winograd's algorithm in bf16 only without AMX.
bool GemmIsFast(const MatMulSpec& product, const CpuFeatures& cpu);
bool TilesAreFast(const MatMulSpec& product, const CpuFeatures& cpu);

// Faster than Winograd's algorithm too.
bool TilesAreFastest(const ConvSpec& conv, const CpuFeatures& cpu);
bool Bfloat16WinogradIsFast(const ConvSpec& conv, const CpuFeatures& cpu);
bool FirstLayerIsFast(const ConvSpec& conv, const CpuFeatures& cpu);
bool WinogradIsFast(const ConvSpec& conv, const CpuFeatures& cpu);
bool TilesAreFast(const ConvSpec& conv, const CpuFeatures& cpu);

// Whether a f32 op becomes faster if its factors are cast to bf16 (CompileOptions.compute_dtype).
//   rows_a ... columns_c: of a * b = c, as they are stored.
bool IsFasterInBfloat16(int64_t rows_a, int64_t columns_a, int64_t rows_c, int64_t columns_c);
bool ConvolutionsAreFasterInBfloat16(const CpuFeatures& cpu);

// Whether oneDNN's gradient of a filter is slower than its gradient in f32 of widened images.
//   images: their dtype.  amx: whether oneDNN uses AMX.
bool OneDnnFilterGradientIsSlow(DType images, bool amx);

// Whether oneDNN's f32 product [m, k] x [k, n] for AVX2 becomes faster if b is transposed first.
bool OneDnnMatMulIsFasterTransposed(int64_t m, int64_t n);

// Whether oneDNN's product of matrices, with so many products of two numbers, is faster with one
// thread.
bool OneDnnMatMulIsFasterWithOneThread(int64_t multiplications);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_KERNEL_RULES_H_
