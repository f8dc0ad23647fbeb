// Compiles a StableHLO program for a TPU slice with libtpu, in a child process.
//
// libtpu aborts the process for some programs, and may hang. So a child loads it, and this process
// reads what the child found out.
#ifndef TPU_COMPILE_CHECK_COMPILE_CHILD_H_
#define TPU_COMPILE_CHECK_COMPILE_CHILD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "tpu/compile_check/chips.h"
#include "tpu/pjrt/topology.h"

namespace estimator::tpu {

struct CompileRequest {
  std::string libtpu;     // the path
  std::string stablehlo;  // the program's text
  CompileTarget target;
  int64_t num_replicas = 8;
  double timeout_seconds = 600;  // after which the child is killed
  // For tests: the child calls this instead of libtpu.
  std::function<absl::StatusOr<pjrt::CompiledProgram>(const CompileRequest&)> compiler = nullptr;
};

struct CompileOutcome {
  // Whether it compiles, else why not: RESOURCE_EXHAUSTED if a device's memory is too small;
  // ABORTED if the compiler crashed, with the end of its log; CANCELLED if something
  // else ended it, such as SIGTERM, or if a signal asked this process to stop (interrupt.h);
  // DEADLINE_EXCEEDED after the timeout; the compiler's other errors.
  absl::Status status;
  double seconds = 0;
  std::map<std::string, double> costs;  // XLA's cost analysis: "flops", "bytes accessed"
  std::string scheduled_hlo;            // the compiled program, if the compiler wrote it
};

// The child ends with this process, however that ends.
// Errors: UNAVAILABLE if no child can be started. A program that does not compile is no error.
absl::StatusOr<CompileOutcome> CompileInChild(const CompileRequest& request);

}  // namespace estimator::tpu

#endif  // TPU_COMPILE_CHECK_COMPILE_CHILD_H_
