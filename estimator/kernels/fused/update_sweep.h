// One kernel for the updates of many variables: one sweep over all of their memory, split evenly
// over the threads whatever the sizes of the variables are.
#ifndef ESTIMATOR_KERNELS_FUSED_UPDATE_SWEEP_H_
#define ESTIMATOR_KERNELS_FUSED_UPDATE_SWEEP_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "estimator/kernels/kernel.h"

namespace estimator::fused {

// An element-wise update, any range of which can run by itself; output i may be written over
// input i.
class UpdateKernel : public Kernel {
 public:
  virtual int64_t size() const = 0;  // elements
  virtual void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const = 0;
  int AliasInput(int output) const override { return output; }
};

// One of the updates, with how many of the sweep's inputs and outputs are its own, in order.
struct SweepMember {
  std::shared_ptr<const UpdateKernel> kernel;
  int num_inputs = 0;
  int num_outputs = 0;
};

// Gives the bits that the members give one after the other. REQUIRES: no output of one is an input
// of another.
std::unique_ptr<Kernel> MakeUpdateSweep(std::vector<SweepMember> members);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_UPDATE_SWEEP_H_
