// The rules of kernels: which implementation of an op is the fastest, for its shape, its dtype and the
// instructions of the CPU. All are here but those of layouts (runtime/passes/choose_layouts.h) and of the tiles of
// Winograd's algorithm (winograd/winograd.h). The folders of the kernels say only what a kernel can
// compute (its function Accepts...), and passes ask kernel.h.
//
// A rule depends on nothing else, so that a run computes the same bits whenever it is repeated. Nothing is
// timed at run time: native_tier_benchmark measures the rules for convolutions, winograd/tile_benchmark those for
// tiles, and gemm/gemm_benchmark those for matrix products. They name the choices that are more than 5 % slower than the fastest kernel.
#ifndef ESTIMATOR_KERNELS_KERNEL_RULES_H_
#define ESTIMATOR_KERNELS_KERNEL_RULES_H_

#include <cstdint>
#include <vector>

#include "estimator/array/dtype.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

// The instructions that rules depend on. native_tier.h has those of this CPU.
struct CpuFeatures {
  bool avx512 = false;  // vectors of 16 floats
  bool amx = false;     // products of tiles of bf16
};

// The implementations of the native tier. Each names the folder or the header of its kernels.
enum class NativeKernel {
  kGemm,              // gemm: matrix products of f32
  kFirstLayer,        // winograd/first_layer.h: a convolution of the network's input, and a pool
  kWinograd,          // winograd: convolutions of f32 by Winograd's algorithm
  kBfloat16Tiles,     // bfloat16: products of tiles; numbers of f32 are split into two of bf16
  kBfloat16Winograd,  // bfloat16/winograd.h: convolutions of bf16 by Winograd's algorithm
};

// A matrix product [m, k] x [k, n].
struct MatMulCase {
  DType dtype = DType::kFloat32;  // of the factors
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;  // a is stored as [k, m]: the gradient of weights
  bool transpose_b = false;  // b is stored as [n, k]: the gradient of the input
};

// A convolution, or the gradient of one. The sizes are those of the convolution in the forward pass, before
// a pool.
struct ConvolutionCase {
  enum class Pass { kForward, kInputGradient, kFilterGradient };
  Pass pass = Pass::kForward;
  DType dtype = DType::kFloat32;  // of the factors
  int64_t images = 0;
  int64_t in_columns = 0, in_channels = 0;
  int64_t out_rows = 0, out_columns = 0, out_channels = 0;
  int64_t filter_rows = 0, filter_columns = 0;

  int64_t pixels() const { return images * out_rows * out_columns; }
};

// The implementations of the native tier that are faster than oneDNN's, the fastest one first. A program
// takes the first one that accepts the op, and oneDNN's kernel if none does.
//   algorithm: with kWinograd, the list also has first layers and Winograd's algorithm where they are
//   slower; Winograd's algorithm in bf16 only without AMX.
std::vector<NativeKernel> FastKernels(const MatMulCase& product, const CpuFeatures& cpu);
std::vector<NativeKernel> FastKernels(const ConvolutionCase& conv, const CpuFeatures& cpu,
                                      ConvAlgorithm algorithm = ConvAlgorithm::kAuto);

// Whether a f32 op becomes faster if its factors are cast to bf16 (CompileOptions.compute_dtype).
//   rows_a ... columns_c: of a * b = c, as they are stored.
bool IsFasterInBfloat16(int64_t rows_a, int64_t columns_a, int64_t rows_c, int64_t columns_c);
bool ConvolutionsAreFasterInBfloat16(const CpuFeatures& cpu);

// Whether oneDNN's gradient of a filter is slower than its gradient in f32 of widened images.
//   images: their dtype.  amx: whether oneDNN uses AMX.
bool OneDnnFilterGradientIsSlow(DType images, bool amx);

// Whether oneDNN's f32 product [m, k] x [k, n] for AVX2 becomes faster if b is transposed first.
bool OneDnnMatMulIsFasterTransposed(int64_t m, int64_t n);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_KERNEL_RULES_H_
