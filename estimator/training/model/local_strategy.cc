#include "estimator/training/model/local_strategy.h"

#include <algorithm>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/runtime/cpu_backend.h"

namespace estimator {
namespace {

class LocalStrategy : public Strategy {
 public:
  LocalStrategy(ModelCall model_call, BatchSizes batch_sizes, CompileOptions compile_options,
                std::vector<int64_t> batch_axis, int64_t accumulate_steps,
                std::shared_ptr<ProcessGroup> process_group)
      : model_call_(std::move(model_call)),
        batch_sizes_(batch_sizes),
        compile_options_(compile_options),
        batch_axis_(std::move(batch_axis)),
        accumulate_steps_(static_cast<int>(std::max<int64_t>(accumulate_steps, 1))),
        group_(std::move(process_group)),
        arenas_(std::make_shared<const Arenas>(accumulate_steps_)) {}

  int num_replicas(Mode mode) const override {
    return mode == Mode::kTrain ? accumulate_steps_ * num_hosts(mode) : 1;
  }
  std::shared_ptr<ProcessGroup> process_group(Mode mode) const override {
    return mode == Mode::kTrain ? group_ : nullptr;
  }
  int64_t iterations_per_loop() const override { return 1; }
  int64_t batch_size(Mode mode) const override { return batch_sizes_.of(mode); }
  std::vector<int64_t> batch_axis(Mode mode) const override {
    // batch_axis has entries for labels too, which the input of a prediction need not have.
    return mode == Mode::kPredict ? std::vector<int64_t>() : batch_axis_;
  }
  absl::Status Validate(Mode mode) const override {
    const int64_t batch = batch_sizes_.of(mode), hosts = num_hosts(mode);
    if (batch % hosts == 0) return absl::OkStatus();
    return InvalidArgument(ModeName(mode), " batch size ", batch,
                           " must be divisible by number of processes ", hosts);
  }

  std::unique_ptr<Backend> MakeBackend(Mode mode, VariableStore& store) const override {
    return MakeCpuBackend(store, compile_options_, arenas_, num_replicas(mode) / num_hosts(mode),
                          process_group(mode), mode == Mode::kTrain ? accumulate_steps_ : 1);
  }
  std::unique_ptr<Backend> MakeSingleBackend(VariableStore& store) const override {
    return MakeCpuBackend(store, compile_options_, arenas_);
  }
  absl::StatusOr<std::unique_ptr<Feeder>> OpenInput(Mode mode,
                                                    const InputFn& input_fn) const override {
    const int hosts = num_hosts(mode), host = hosts > 1 ? group_->rank() : 0;
    EST_ASSIGN_OR_RETURN(const Dataset dataset,
                         input_fn({.mode = mode,
                                   .batch_size = batch_sizes_.of(mode) / hosts,
                                   .invocation = host,
                                   .num_invocations = hosts,
                                   .num_hosts = hosts,
                                   .current_host = host}));
    // The batch size is only a wish here: input_fn of a plain Estimator may batch as it likes.
    return Feeder::Open(
        {dataset},
        {.mode = mode, .batch_axis = batch_axis(mode), .accumulate_steps = accumulate_steps_});
  }
  absl::StatusOr<ModelSpec> CallModelFn(const Features& features, const Labels& labels, Mode mode,
                                        int64_t batch_size) const override {
    return model_call_(features, labels, mode, batch_size);
  }

 private:
  // The processes of which each has an input of its own.
  int num_hosts(Mode mode) const {
    return mode == Mode::kTrain && group_ != nullptr ? group_->size() : 1;
  }

  const ModelCall model_call_;
  const BatchSizes batch_sizes_;
  const CompileOptions compile_options_;
  const std::vector<int64_t> batch_axis_;
  const int accumulate_steps_;
  const std::shared_ptr<ProcessGroup> group_;   // null: this process is alone
  const std::shared_ptr<const Arenas> arenas_;  // of training, evaluation and prediction
};

}  // namespace

std::unique_ptr<Strategy> MakeLocalStrategy(ModelCall model_call, BatchSizes batch_sizes,
                                            CompileOptions compile_options,
                                            std::vector<int64_t> batch_axis,
                                            int64_t accumulate_steps,
                                            std::shared_ptr<ProcessGroup> process_group) {
  return std::make_unique<LocalStrategy>(std::move(model_call), batch_sizes, compile_options,
                                         std::move(batch_axis), accumulate_steps,
                                         std::move(process_group));
}

}  // namespace estimator
