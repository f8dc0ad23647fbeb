// CompileOptionsProto of XLA, as far as PJRT needs it: how many replicas run a program, and where.
//
//   CompileOptionsProto   executable_build_options = 3
//   ExecutableBuildOptions  num_replicas = 4, num_partitions = 5, device_assignment = 9
//   DeviceAssignment        replica_count = 1, computation_count = 2,
//                           computation_devices = 3 { replica_device_ids = 1 }
#ifndef TPU_PJRT_COMPILE_OPTIONS_H_
#define TPU_PJRT_COMPILE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tpu/pjrt/pjrt_structs.h"

namespace estimator::tpu::pjrt {

// The serialized proto for one replica on each of `device_ids`, in the order of replicas.
// REQUIRES: there is at least one device, and the ids are not negative.
std::string CompileOptionsFor(absl::Span<const int64_t> device_ids);

// The argument of the functions that compile a program of StableHLO text.
c_api::Program ProgramOf(absl::string_view stablehlo);

}  // namespace estimator::tpu::pjrt

#endif  // TPU_PJRT_COMPILE_OPTIONS_H_
