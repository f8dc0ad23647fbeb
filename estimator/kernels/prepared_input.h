// PreparedInput: for kernels that copy one of their inputs, usually a filter, into a layout of
// their own before they compute.
//
// If the input does not change from step to step, one copy serves many steps. So a program can
// split such a kernel into two: MakePrepare writes the copy, and MakeRunPrepared reads it. Prepare
// and RunPrepared together give the same bits as Run.
#ifndef ESTIMATOR_KERNELS_PREPARED_INPUT_H_
#define ESTIMATOR_KERNELS_PREPARED_INPUT_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

// A kernel has it as a second base class.
class PreparedInput {
 public:
  virtual ~PreparedInput() = default;
  // The input that is copied; -1 if the kernel reads all inputs as they are.
  virtual int prepared_input() const = 0;
  // The size of the copy. It must be aligned to 64 bytes.
  virtual size_t prepared_bytes() const = 0;
  // The scratch of Prepare and of RunPrepared. That of Run may be larger.
  virtual size_t prepared_scratch_bytes() const = 0;
  virtual absl::Status Prepare(const void* input, void* prepared, void* scratch) = 0;
  // As Kernel::Run, but inputs[prepared_input()] is what Prepare has written.
  virtual absl::Status RunPrepared(const KernelArgs& args) = 0;
};

// The kernel's PreparedInput; null if it has none or prepares no input.
std::shared_ptr<PreparedInput> PreparedInputOf(const std::shared_ptr<Kernel>& kernel);

// Calls Prepare: input 0 is the kernel's input, output 0 its copy.
std::unique_ptr<Kernel> MakePrepare(std::shared_ptr<PreparedInput> kernel);
// Calls RunPrepared. It has the tier of `kernel` and may overwrite the same inputs.
// REQUIRES: PreparedInputOf(kernel) is not null.
std::unique_ptr<Kernel> MakeRunPrepared(std::shared_ptr<Kernel> kernel);

// A kernel with a prepared input from functions. Its Run keeps the copy in scratch, unless there is
// a function that needs no copy.
struct PreparingFunctions {
  int input = 0;
  size_t prepared_bytes = 0;
  std::function<void(const void* input, void* prepared)> prepare;
  // scratch_bytes: its scratch memory.  prepared: what `prepare` has written.
  std::function<void(const KernelArgs& args, const void* prepared)> run;
  size_t scratch_bytes = 0;
  // Null, or Run: it copies parts of the input while they are in the cache.
  std::function<void(const KernelArgs& args)> run_without_copy = nullptr;
  bool runs_rows = false;  // Kernel::RunsRows, of `run_without_copy`
};
KernelPlan MakePreparingKernel(PreparingFunctions functions);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_PREPARED_INPUT_H_
