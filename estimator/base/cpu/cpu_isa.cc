#include "estimator/base/cpu/cpu_isa.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "estimator/base/status.h"

namespace estimator {
namespace {

// In the order of CpuIsa.
constexpr const char* kCpuIsaNames[] = {"avx2", "avx512", "avx512_bf16", "amx"};

std::atomic<CpuIsa> limit_of_isa = CpuIsa::kAmx;
std::optional<CpuIsa> newest_for_test;

bool HasAmxTiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(7), "2"(0));
  constexpr unsigned kBfloat16 = 1u << 22, kTiles = 1u << 24;
  if ((d & kBfloat16) == 0 || (d & kTiles) == 0) return false;
  // Linux saves the registers of tiles only for processes that asked for it.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

bool CpuHas(CpuIsa isa) {
  if (newest_for_test.has_value()) return isa <= *newest_for_test;
  if (isa == CpuIsa::kAvx2) return true;
  static const bool has_avx512 = HasAvx512();
  if (isa == CpuIsa::kAvx512 || !has_avx512) return has_avx512;
  static const bool has_bfloat16 = __builtin_cpu_supports("avx512bf16");
  if (isa == CpuIsa::kAvx512Bf16 || !has_bfloat16) return has_bfloat16;
  static const bool has_tiles = HasAmxTiles();
  return has_tiles;
}

std::vector<std::function<absl::Status(CpuIsa)>>& CpuIsaLimiters() {
  static auto& limiters = *new std::vector<std::function<absl::Status(CpuIsa)>>;
  return limiters;
}

}  // namespace

bool MayUse(CpuIsa isa) { return isa <= limit_of_isa && CpuHas(isa); }

absl::Status LimitCpuIsa(StringArg name) {
  size_t i = 0;
  while (i < std::size(kCpuIsaNames) && kCpuIsaNames[i] != name) ++i;
  if (i == std::size(kCpuIsaNames)) {
    return InvalidArgument("cpu_isa must be avx2, avx512, avx512_bf16 or amx, given \"", name,
                           "\"");
  }
  const auto limit = static_cast<CpuIsa>(i);
  if (!CpuHas(limit)) {
    while (!CpuHas(static_cast<CpuIsa>(i))) --i;
    return InvalidArgument("cpu_isa=", name, ": this CPU has ", kCpuIsaNames[i],
                           " at most; set cpu_isa to that or less, or leave it out");
  }
  for (const auto& limiter : CpuIsaLimiters()) EST_RETURN_IF_ERROR(limiter(limit));
  limit_of_isa = limit;
  return absl::OkStatus();
}

bool OnCpuIsaLimit(std::function<absl::Status(CpuIsa)> function) {
  CpuIsaLimiters().push_back(std::move(function));
  return true;
}

void SetNewestCpuIsaForTest(std::optional<CpuIsa> newest) {
  newest_for_test = newest;
  limit_of_isa = CpuIsa::kAmx;
}

}  // namespace estimator
