// Compiles the file that includes this once for every instruction set (Highway). Before, the file
// says where it is:
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "estimator/kernels/gemm/gemm.cc"
// Headers with functions of an instruction set (-inl.h) come after this one.
//
// It has a guard for what is the same for all instruction sets only: Highway's headers are read
// again for each.
#ifndef ESTIMATOR_KERNELS_EVERY_TARGET_INL_H_
#define ESTIMATOR_KERNELS_EVERY_TARGET_INL_H_

#define HWY_DISABLE_PCLMUL_AES  // x86-64-v3 lacks it and we do not use it; so AVX2 is the baseline

// Highway 1.2 has one more target. Its instructions for 16-bit floats are not used here: it would
// only take time to compile.
#include "hwy/detect_targets.h"
#ifdef HWY_AVX3_SPR
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS HWY_AVX3_SPR
#endif

// Arrays of vectors stay in registers only if loops over them are unrolled.
#define EST_UNROLL _Pragma("GCC unroll 16")

#endif  // ESTIMATOR_KERNELS_EVERY_TARGET_INL_H_

// The order matters: the first header includes the file again, for which the second one must not
// be read.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on
