#include "estimator/kernels/cpu_isa.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <dnnl.hpp>

#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/gemm/gemm.h"
#include "hwy/highway.h"

namespace estimator {
namespace {

constexpr int64_t kAllTargets = HWY_AVX3_DL | HWY_AVX3 | HWY_AVX2;

// What Highway chooses in a process with this limit, on a CPU that has all targets.
int64_t BestTarget(CpuIsa limit) {
  const int64_t targets = kAllTargets & ~HighwayTargetsBeyond(limit);
  return targets & -targets;
}

TEST(KernelsCpuIsa, ALimitIsThatOfHighwayAndOfOneDnn) {
  EXPECT_EQ(BestTarget(CpuIsa::kAvx2), HWY_AVX2);
  EXPECT_EQ(BestTarget(CpuIsa::kAvx512), HWY_AVX3);
  EXPECT_EQ(BestTarget(CpuIsa::kAvx512Bf16), HWY_AVX3_DL);
  EXPECT_EQ(BestTarget(CpuIsa::kAmx), HWY_AVX3_DL);
  EXPECT_EQ(OneDnnIsa(CpuIsa::kAvx2), dnnl::cpu_isa::avx2);
  EXPECT_EQ(OneDnnIsa(CpuIsa::kAvx512), dnnl::cpu_isa::avx512_core);
  EXPECT_EQ(OneDnnIsa(CpuIsa::kAvx512Bf16), dnnl::cpu_isa::avx512_core_bf16);
  EXPECT_EQ(OneDnnIsa(CpuIsa::kAmx), dnnl::cpu_isa::avx512_core_amx);
}

// In processes of their own: oneDNN takes a limit once.
using KernelsCpuIsaDeathTest = testing::Test;

// Ends the process with a code that names what the limit does not reach; 0: nothing.
[[noreturn]] void ExitWithWhatIgnores(const char* limit) {
  hwy::SetSupportedTargetsForTest(kAllTargets);
  SetNewestCpuIsaForTest(CpuIsa::kAmx);
  if (!LimitCpuIsa(limit).ok()) std::_Exit(1);
  if (!hwy::GetChosenTarget().IsInitialized()) std::_Exit(2);
  if (hwy::SupportedTargets() != HWY_AVX2) std::_Exit(2);
  // oneDNN takes no limit after one. {}: none, which has another name in each of its versions.
  if (dnnl::set_max_cpu_isa(dnnl::cpu_isa{}) == dnnl::status::success) std::_Exit(3);
  if (dnnl::get_effective_cpu_isa() != dnnl::cpu_isa::avx2) std::_Exit(4);
  if (bfloat16::IsAvailable() || bfloat16::HasAmx() || gemm::HasWideVectors()) std::_Exit(5);
  std::_Exit(0);
}

TEST(KernelsCpuIsaDeathTest, Avx2ReachesEverythingThatChoosesByTheCpu) {
  EXPECT_EXIT(ExitWithWhatIgnores("avx2"), testing::ExitedWithCode(0), "");
}

// On a CPU with AVX-512, functions that were dispatched before the limit must follow it, too.
TEST(KernelsCpuIsaDeathTest, ALimitAppliesAfterFunctionsWereDispatched) {
  const auto limit_late = [] {
    gemm::HasWideVectors();
    const bool limited = LimitCpuIsa("avx2").ok();
    std::_Exit(limited && !gemm::HasWideVectors() && !bfloat16::IsAvailable() ? 0 : 1);
  };
  EXPECT_EXIT(limit_late(), testing::ExitedWithCode(0), "");
}

TEST(KernelsCpuIsaDeathTest, OneDnnRefusesALimitAfterItsFirstUse) {
  const auto limit_late = [] {
    const bool newer = dnnl::get_effective_cpu_isa() != dnnl::cpu_isa::avx2;
    const absl::Status status = LimitCpuIsa("avx2");
    std::_Exit(status.ok() != newer ? 0 : 1);
  };
  EXPECT_EXIT(limit_late(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace estimator
