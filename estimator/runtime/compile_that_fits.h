// CompileThatFits: compiles a program and reserves the memory of its steps.
#ifndef ESTIMATOR_RUNTIME_COMPILE_THAT_FITS_H_
#define ESTIMATOR_RUNTIME_COMPILE_THAT_FITS_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "estimator/base/available_memory.h"
#include "estimator/runtime/arena.h"
#include "estimator/runtime/program.h"

namespace estimator {

// Derived values save time, but take memory. Where they do not fit without swap space, the program
// is compiled without them, and a warning says so. Its results have the same bits.
//   available: the free memory; nullopt: it is not known.
// Errors: those of Program::Compile and ReserveArenas.
absl::StatusOr<std::shared_ptr<const Program>> CompileThatFits(
    const Graph& graph, const ProgramSpec& spec, const CompileOptions& options,
    const Arenas& arenas, const std::optional<AvailableMemory>& available = ReadAvailableMemory());

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_COMPILE_THAT_FITS_H_
