#include "estimator/runtime/compile_that_fits.h"

#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"

namespace estimator {

absl::StatusOr<std::shared_ptr<const Program>> CompileThatFits(
    const Graph& graph, const ProgramSpec& spec, const CompileOptions& options,
    const Arenas& arenas, const std::optional<AvailableMemory>& available) {
  EST_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                       Program::Compile(graph, spec, options));
  // What the program takes itself. The buckets of all replicas are in memory of their own.
  const auto own_bytes = [&] {
    return program->info().planned_derived_bytes +
           program->bucket_bytes() * static_cast<int64_t>(arenas.own.size());
  };
  const auto missing = [&] {
    const ExecutableInfo& info = program->info();
    return MissingBytes(arenas, info.planned_peak_bytes, info.planned_shared_bytes, own_bytes());
  };
  // Only the derived values can be given up: a step needs the rest.
  const int64_t derived_bytes = program->info().planned_derived_bytes;
  if (derived_bytes > 0 && available.has_value() && missing() > available->bytes) {
    LOG(WARNING) << HumanBytes(derived_bytes)
                 << " for values that are derived from variables do not fit into the free memory ("
                 << HumanBytes(available->bytes) << "), so every step computes them again";
    CompileOptions smaller = options;
    smaller.disable_passes.push_back("derive_values");
    EST_ASSIGN_OR_RETURN(program, Program::Compile(graph, spec, smaller));
  }
  EST_RETURN_IF_ERROR(ReserveArenas(arenas, program->info().planned_peak_bytes,
                                    program->info().planned_shared_bytes, own_bytes()));
  return program;
}

}  // namespace estimator
