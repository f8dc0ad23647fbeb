#include "estimator/kernels/fused/update_sweep.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "estimator/array/half.h"
#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/fused/parallel.h"

namespace estimator::fused {
namespace {

class Sweep final : public UpdateSweep {
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
    // The threads share the elements of all variables together: one parallel loop for all, and no
    // thread waits for another at a small variable.
    chunks_ = MakeChunks(begin);
    num_outputs_ = output;
  }

  std::unique_ptr<Kernel> WithBfloat16Copies(const std::vector<int>& outputs) const override {
    auto sweep = std::make_unique<Sweep>(*this);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const size_t output = static_cast<size_t>(outputs[i]);
      for (Part& part : sweep->parts_) {
        if (output < part.outputs || output >= part.outputs + part.num_outputs) continue;
        part.copies.push_back({.from = output, .to = num_outputs_ + i});
      }
    }
    return sweep;
  }

  absl::Status Run(const KernelArgs& args) override {
    ParallelFor(chunks_, [&](int, int64_t begin, int64_t end) {
      for (const Part& part : parts_) {
        const int64_t first = std::max(begin, part.begin), last = std::min(end, part.end);
        if (first < last) RunPart(args, part, first - part.begin, last - part.begin);
      }
    });
    return absl::OkStatus();
  }
  int AliasInput(int output) const override { return alias_[static_cast<size_t>(output)]; }

 private:
  // Both are numbers of outputs of the sweep.
  struct Copy {
    size_t from = 0;
    size_t to = 0;
  };
  // A member, and the elements [begin, end) of the whole sweep that belong to it.
  struct Part {
    std::shared_ptr<const UpdateKernel> kernel;
    size_t inputs = 0;
    size_t num_inputs = 0;
    size_t outputs = 0;
    size_t num_outputs = 0;
    int64_t begin = 0;
    int64_t end = 0;
    std::vector<Copy> copies = {};
  };

  // Computes the elements [begin, end) of a member and of their copies.
  static void RunPart(const KernelArgs& args, const Part& part, int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 4096;  // elements that stay in the L2 cache until they are copied
    const KernelArgs own{.inputs = args.inputs.subspan(part.inputs, part.num_inputs),
                         .outputs = args.outputs.subspan(part.outputs, part.num_outputs),
                         .scratch = nullptr,
                         .step = args.step};
    if (part.copies.empty()) return part.kernel->RunRange(own, begin, end);
    for (int64_t block = begin; block < end; block += kBlock) {
      const int64_t n = std::min(kBlock, end - block);
      part.kernel->RunRange(own, block, block + n);
      for (const Copy& copy : part.copies) {
        NarrowToBfloat16(static_cast<const float*>(args.outputs[copy.from]) + block,
                         static_cast<Bfloat16*>(args.outputs[copy.to]) + block,
                         static_cast<size_t>(n));
      }
    }
  }

  std::vector<Part> parts_;
  std::vector<int> alias_;  // for each output of a member
  size_t num_outputs_ = 0;  // without copies
  Chunks chunks_;
};

}  // namespace

std::unique_ptr<UpdateSweep> MakeUpdateSweep(std::vector<SweepMember> members) {
  return std::make_unique<Sweep>(std::move(members));
}

}  // namespace estimator::fused
