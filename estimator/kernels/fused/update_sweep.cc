#include "estimator/kernels/fused/update_sweep.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "estimator/kernels/fused/parallel.h"

namespace estimator::fused {
namespace {

class Sweep final : public Kernel {
 public:
  explicit Sweep(std::vector<SweepMember> members) {
    int input = 0;
    size_t output = 0;
    int64_t begin = 0;
    for (SweepMember& member : members) {
      const int64_t size = member.kernel->size();
      for (int o = 0; o < member.num_outputs; ++o) alias_.push_back(input + o);
      parts_.push_back({.kernel = std::move(member.kernel),
                        .inputs = static_cast<size_t>(input),
                        .num_inputs = static_cast<size_t>(member.num_inputs),
                        .outputs = output,
                        .num_outputs = static_cast<size_t>(member.num_outputs),
                        .begin = begin,
                        .end = begin + size});
      input += member.num_inputs;
      output += static_cast<size_t>(member.num_outputs);
      begin += size;
    }
    chunks_ = MakeChunks(begin);
  }

  absl::Status Run(const KernelArgs& args) override {
    ParallelFor(chunks_, [&](int, int64_t begin, int64_t end) {
      for (const Part& part : parts_) {
        const int64_t first = std::max(begin, part.begin), last = std::min(end, part.end);
        if (first >= last) continue;
        part.kernel->RunRange({.inputs = args.inputs.subspan(part.inputs, part.num_inputs),
                               .outputs = args.outputs.subspan(part.outputs, part.num_outputs),
                               .scratch = nullptr,
                               .step = args.step},
                              first - part.begin, last - part.begin);
      }
    });
    return absl::OkStatus();
  }
  int AliasInput(int output) const override { return alias_[static_cast<size_t>(output)]; }

 private:
  // A member, and the elements [begin, end) of the whole sweep that belong to it.
  struct Part {
    std::shared_ptr<const UpdateKernel> kernel;
    size_t inputs = 0;
    size_t num_inputs = 0;
    size_t outputs = 0;
    size_t num_outputs = 0;
    int64_t begin = 0;
    int64_t end = 0;
  };

  std::vector<Part> parts_;
  std::vector<int> alias_;  // for each output
  Chunks chunks_;
};

}  // namespace

std::unique_ptr<Kernel> MakeUpdateSweep(std::vector<SweepMember> members) {
  return std::make_unique<Sweep>(std::move(members));
}

}  // namespace estimator::fused
