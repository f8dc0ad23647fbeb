// The instruction sets that this process may use: those of the CPU, or fewer (--cpu_isa).
//
// Our own code that is written for one of them asks MayUse. Libraries that choose code by the CPU
// get the limit from OnCpuIsaLimit (kernels/cpu_isa.cc: oneDNN and Highway).
#ifndef ESTIMATOR_BASE_CPU_CPU_ISA_H_
#define ESTIMATOR_BASE_CPU_CPU_ISA_H_

#include <absl/status/status.h>

#include <functional>
#include <optional>

#include "estimator/base/string_arg.h"

namespace estimator {

// From the oldest to the newest; each has those before it. What they have in common with the sets
// of oneDNN and Highway:
enum class CpuIsa {
  kAvx2,        // "avx2": with FMA; what every program needs
  kAvx512,      // "avx512": F, BW, CD, DQ and VL, as of Skylake servers
  kAvx512Bf16,  // "avx512_bf16": also products of bfloat16, as of Cooper Lake and Zen 4
  kAmx,         // "amx": also tiles of bfloat16, as of Sapphire Rapids
};

// Whether the CPU and the system have it, and no limit excludes it. For kAmx, the first call asks
// the system for the permission to use tiles. Thread-safe.
bool MayUse(CpuIsa isa);

// From now on the process uses the instruction set of this name and older ones. To be called before
// the first step: oneDNN takes a limit only once. Not thread-safe.
// Errors: INVALID_ARGUMENT if there is no such name, or if the CPU lacks the set; those of the
// functions of OnCpuIsaLimit.
absl::Status LimitCpuIsa(StringArg name);

// Calls the function in each LimitCpuIsa. Returns true, for the initializer of a static variable.
bool OnCpuIsaLimit(std::function<absl::Status(CpuIsa limit)> function);

// A test runs as if the newest instruction set of the CPU were this one, without a limit. nullopt:
// what the CPU has.
void SetNewestCpuIsaForTest(std::optional<CpuIsa> newest);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_CPU_CPU_ISA_H_
