// The limit of base/cpu/cpu_isa.h in the words of the libraries that choose code by the CPU.
// cpu_isa.cc passes it to them.
#ifndef ESTIMATOR_KERNELS_CPU_ISA_H_
#define ESTIMATOR_KERNELS_CPU_ISA_H_

#include <cstdint>
#include <dnnl.hpp>

#include "estimator/base/cpu/cpu_isa.h"

namespace estimator {

// oneDNN's newest instruction set within the limit.
dnnl::cpu_isa OneDnnIsa(CpuIsa limit);

// Highway's targets (HWY_AVX3) beyond the limit: a mask for hwy::DisableTargets. hwy::
// SupportedTargets() must not be called after that: until the next dispatch of a function it makes
// Highway forget the mask.
int64_t HighwayTargetsBeyond(CpuIsa limit);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_CPU_ISA_H_
