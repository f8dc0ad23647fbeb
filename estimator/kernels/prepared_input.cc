#include "estimator/kernels/prepared_input.h"

#include <utility>

#include "glog/logging.h"

namespace estimator {
namespace {

class PrepareKernel final : public Kernel {
 public:
  explicit PrepareKernel(std::shared_ptr<PreparedInput> kernel) : kernel_(std::move(kernel)) {}
  absl::Status Run(const KernelArgs& args) override {
    return kernel_->Prepare(args.inputs[0], args.outputs[0], args.scratch);
  }
  size_t scratch_bytes() const override { return kernel_->prepared_scratch_bytes(); }

 private:
  const std::shared_ptr<PreparedInput> kernel_;
};

class RunPreparedKernel final : public Kernel {
 public:
  explicit RunPreparedKernel(std::shared_ptr<Kernel> kernel)
      : kernel_(std::move(kernel)), prepared_(PreparedInputOf(kernel_)) {
    CHECK(prepared_ != nullptr) << "the kernel prepares no input";
    if (kernel_->tier().has_value()) set_tier(*kernel_->tier());
  }
  absl::Status Run(const KernelArgs& args) override { return prepared_->RunPrepared(args); }
  size_t scratch_bytes() const override { return prepared_->prepared_scratch_bytes(); }
  int AliasInput(int output) const override {
    const int input = kernel_->AliasInput(output);
    // This input is now the copy, which later steps read again. An output must not overwrite it.
    return input == prepared_->prepared_input() ? -1 : input;
  }

 private:
  const std::shared_ptr<Kernel> kernel_;
  const std::shared_ptr<PreparedInput> prepared_;
};

class PreparingKernel final : public Kernel, public PreparedInput {
 public:
  explicit PreparingKernel(PreparingFunctions functions)
      : functions_(std::move(functions)), inner_bytes_(AlignedBytes(functions_.scratch_bytes)) {}

  absl::Status Run(const KernelArgs& args) override {
    // Such a kernel copies parts of the input while they are in the cache. A copy of the whole
    // input would be written to memory and read back.
    if (functions_.run_without_copy) {
      functions_.run_without_copy(args);
    } else {
      void* const prepared = static_cast<char*>(args.scratch) + inner_bytes_;
      functions_.prepare(args.inputs[static_cast<size_t>(functions_.input)], prepared);
      functions_.run(args, prepared);
    }
    return absl::OkStatus();
  }
  // The copy comes after the scratch of `run`.
  size_t scratch_bytes() const override {
    return functions_.run_without_copy ? functions_.scratch_bytes
                                       : inner_bytes_ + functions_.prepared_bytes;
  }

  bool RunsRows() const override { return functions_.runs_rows; }

  int prepared_input() const override { return functions_.input; }
  size_t prepared_bytes() const override { return functions_.prepared_bytes; }
  size_t prepared_scratch_bytes() const override { return functions_.scratch_bytes; }
  absl::Status Prepare(const void* input, void* prepared, void* /*scratch*/) override {
    functions_.prepare(input, prepared);
    return absl::OkStatus();
  }
  absl::Status RunPrepared(const KernelArgs& args) override {
    functions_.run(args, args.inputs[static_cast<size_t>(functions_.input)]);
    return absl::OkStatus();
  }

 private:
  const PreparingFunctions functions_;
  const size_t inner_bytes_;
};

}  // namespace

std::shared_ptr<PreparedInput> PreparedInputOf(const std::shared_ptr<Kernel>& kernel) {
  std::shared_ptr<PreparedInput> prepared = std::dynamic_pointer_cast<PreparedInput>(kernel);
  // A kernel of such a class may copy nothing: oneDNN sometimes takes the filter in the layout that
  // it has.
  return prepared != nullptr && prepared->prepared_input() >= 0 ? prepared : nullptr;
}

std::unique_ptr<Kernel> MakePrepare(std::shared_ptr<PreparedInput> kernel) {
  return std::make_unique<PrepareKernel>(std::move(kernel));
}

std::unique_ptr<Kernel> MakeRunPrepared(std::shared_ptr<Kernel> kernel) {
  return std::make_unique<RunPreparedKernel>(std::move(kernel));
}

KernelPlan MakePreparingKernel(PreparingFunctions functions) {
  return
      [functions = std::move(functions)] { return std::make_unique<PreparingKernel>(functions); };
}

}  // namespace estimator
