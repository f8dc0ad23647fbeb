// One kernel for the updates of many variables. It sweeps over all of their memory, which is
// divided evenly among the threads for any sizes of the variables.
#ifndef ESTIMATOR_KERNELS_FUSED_UPDATE_SWEEP_H_
#define ESTIMATOR_KERNELS_FUSED_UPDATE_SWEEP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "estimator/kernels/kernel.h"

namespace estimator::fused {

// An element-wise update that can run on any range of its elements. Output i may overwrite input i.
class UpdateKernel : public Kernel {
 public:
  virtual int64_t size() const = 0;  // the number of elements
  virtual void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const = 0;
  int AliasInput(int output) const override { return output; }
};

// One of the updates, and how many of the sweep's inputs and outputs belong to it, in order.
struct SweepMember {
  std::shared_ptr<const UpdateKernel> kernel;
  int num_inputs = 0;
  int num_outputs = 0;
};

// The updates of many variables.
class UpdateSweep : public Kernel {
 public:
  // The same sweep with outputs after those of the members: output `outputs[i]`, which is f32,
  // rounded to bf16. They are written while the new values are in the cache. REQUIRES: it has no
  // such outputs.
  virtual std::unique_ptr<Kernel> WithBfloat16Copies(const std::vector<int>& outputs) const = 0;
};

// Gives the same bits as running the members one after the other. REQUIRES: no output of a member
// is an input of another one.
std::unique_ptr<UpdateSweep> MakeUpdateSweep(std::vector<SweepMember> members);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_UPDATE_SWEEP_H_
