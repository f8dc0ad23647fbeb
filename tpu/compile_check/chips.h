// The TPUs that a program can be compiled for.
#ifndef TPU_COMPILE_CHECK_CHIPS_H_
#define TPU_COMPILE_CHECK_CHIPS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/base/string_arg.h"

namespace estimator::tpu {

// A slice of a TPU, in Cloud TPU's name for it. The numbers are those of one device of the compiler:
// a core up to v4, a chip from v5 on. Source: Cloud TPU's published system architecture.
struct TpuSlice {
  const char* name;          // "v3-8"
  const char* topology;      // libtpu's: "v3:2x2x1"
  int num_devices;           // replicas that run on it
  double memory_gib;         // of a device
  double tflops;             // peak of a device, bf16 products
  double gigabytes_per_sec;  // of a device's memory
};

absl::Span<const TpuSlice> TpuSlices();
// Errors: INVALID_ARGUMENT with the known names.
absl::StatusOr<TpuSlice> FindTpuSlice(StringArg name);

}  // namespace estimator::tpu

#endif  // TPU_COMPILE_CHECK_CHIPS_H_
