// Compiles StableHLO programs for a TPU with the real TPU compiler, on a machine without a TPU, and
// reports memory and speed. docs/tpu_compile.md shows how to use it.
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "gflags/gflags.h"
#include "tpu/cluster/machine.h"
#include "tpu/compile_check/compile_report.h"

DEFINE_string(stablehlo, "",
              "files of StableHLO text, separated by commas: one for each batch size");
DEFINE_string(topology, "v3-8", "v2-8, v3-8, v4-8, v5e-8, v5p-8 or v6e-8");
DEFINE_int64(num_replicas, 0, "replicas of the program; 0: one on each device of the topology");
DEFINE_string(libtpu, "", "path of libtpu.so; default: TPU_LIBRARY_PATH, else the installed one");
DEFINE_double(timeout, 600, "seconds after which a compilation is given up");

namespace estimator::tpu {
namespace {

absl::StatusOr<bool> CompileAll() {
  if (FLAGS_stablehlo.empty()) {
    return InvalidArgument(
        "--stablehlo=FILE is required: --dump_stablehlo of a program writes such files");
  }
  EST_ASSIGN_OR_RETURN(const CompileTarget target, FindCompileTarget(FLAGS_topology));
  EST_ASSIGN_OR_RETURN(const std::string libtpu, FindLibtpu(Machine(), FLAGS_libtpu));
  bool passed = true;
  for (const std::string& file :
       std::vector<std::string>(absl::StrSplit(FLAGS_stablehlo, ',', absl::SkipEmpty()))) {
    EST_ASSIGN_OR_RETURN(std::string text, ReadFile(file));
    const CompileRequest request{
        .libtpu = libtpu,
        .stablehlo = std::move(text),
        .target = target,
        .num_replicas = FLAGS_num_replicas > 0 ? FLAGS_num_replicas : target.num_devices,
        .timeout_seconds = FLAGS_timeout};
    EST_ASSIGN_OR_RETURN(const CompileOutcome outcome, CompileInChild(request));
    const CompileReport report = ReportOn(request, outcome);
    std::cout << file << ": " << report.text << std::flush;
    passed = passed && report.passed;
  }
  return passed;
}

}  // namespace
}  // namespace estimator::tpu

int main(int argc, char** argv) {
  return estimator::MainWithArguments(
      argc, argv,
      [](const std::vector<std::string>& arguments) {
        if (!arguments.empty()) {
          std::cerr << "unknown argument " << arguments[0] << "; files belong to --stablehlo\n";
          return 2;
        }
        const absl::StatusOr<bool> passed = estimator::tpu::CompileAll();
        if (!passed.ok()) {
          std::cerr << passed.status().message() << "\n";
          return 2;
        }
        return *passed ? 0 : 1;
      },
      /*error_exit_code=*/2);
}
