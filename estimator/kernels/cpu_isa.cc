#include "estimator/kernels/cpu_isa.h"

#include "estimator/base/status.h"
#include "hwy/highway.h"

namespace estimator {
namespace {

absl::Status LimitKernels(CpuIsa limit) {
  hwy::DisableTargets(HighwayTargetsBeyond(limit));
  // Chooses now: the first dispatch would let other threads use all targets for a moment.
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  const dnnl::cpu_isa isa = OneDnnIsa(limit);
  if (dnnl::set_max_cpu_isa(isa) == dnnl::status::success) return absl::OkStatus();
  // oneDNN takes a limit once, before its first use. A set has the bits of those within it.
  const int beyond = static_cast<int>(dnnl::get_effective_cpu_isa()) & ~static_cast<int>(isa);
  if (beyond == 0) return absl::OkStatus();
  return FailedPrecondition(
      "cpu_isa: oneDNN has already chosen a newer instruction set; set it once, before the first "
      "step");
}

[[maybe_unused]] const bool limits_kernels = OnCpuIsaLimit(LimitKernels);

}  // namespace

dnnl::cpu_isa OneDnnIsa(CpuIsa limit) {
  switch (limit) {
    case CpuIsa::kAvx2:
      return dnnl::cpu_isa::avx2;
    case CpuIsa::kAvx512:
      return dnnl::cpu_isa::avx512_core;
    case CpuIsa::kAvx512Bf16:
      return dnnl::cpu_isa::avx512_core_bf16;
    case CpuIsa::kAmx:
      break;
  }
  return dnnl::cpu_isa::avx512_core_amx;
}

// In Highway's masks, a newer target of x86 is a lower bit.
int64_t HighwayTargetsBeyond(CpuIsa limit) {
  switch (limit) {
    case CpuIsa::kAvx2:
      return HWY_AVX2 - 1;
    case CpuIsa::kAvx512:
      return HWY_AVX3 - 1;
    case CpuIsa::kAvx512Bf16:
#ifdef HWY_AVX3_ZEN4
      return HWY_AVX3_ZEN4 - 1;
#else
      return HWY_AVX3_DL - 1;
#endif
    case CpuIsa::kAmx:
      break;
  }
  return 0;
}

}  // namespace estimator
