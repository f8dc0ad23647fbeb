// The TPUs that a program can be compiled for.
#ifndef TPU_COMPILE_CHECK_CHIPS_H_
#define TPU_COMPILE_CHECK_CHIPS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator::tpu {

// A slice of a TPU, in Cloud TPU's name for it. The numbers are those of one device of the
// compiler, from the table of tpu_slice.h: a core up to v4, a chip from v5 on.
struct CompileTarget {
  std::string name;              // "v3-8"
  std::string topology;          // libtpu's: "v3:2x2x1"
  int64_t num_devices = 0;       // replicas of a program that uses all of it
  double memory_gib = 0;         // of a device
  double tflops = 0;             // peak of a device, bf16 products
  double gigabytes_per_sec = 0;  // of a device's memory
};

// Errors: INVALID_ARGUMENT with the known names.
absl::StatusOr<CompileTarget> FindCompileTarget(StringArg name);

}  // namespace estimator::tpu

#endif  // TPU_COMPILE_CHECK_CHIPS_H_
