#include "tpu/pjrt/pjrt_backend.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"
#include "tpu/pjrt/device_variables.h"
#include "tpu/stablehlo/lower_step.h"

namespace estimator::tpu::pjrt {
namespace {

using stablehlo::StepArgument;
using stablehlo::StepModule;
using stablehlo::StepResult;

// A value of one step, of a stack of them.
TensorSpec RowOf(const TensorSpec& stacked) {
  const std::vector<int64_t>& dims = stacked.shape.dims();
  return {.dtype = stacked.dtype,
          .shape = Shape(std::vector<int64_t>(dims.begin() + 1, dims.end()))};
}

class PjrtExecutable : public Executable {
 public:
  PjrtExecutable(StepModule module, std::unique_ptr<LoadedProgram> program,
                 std::shared_ptr<Client> client, VariableStore& store,
                 std::shared_ptr<DeviceVariables> variables, std::vector<FetchGroups> groups)
      : module_(std::move(module)),
        program_(std::move(program)),
        client_(std::move(client)),
        store_(store),
        variables_(std::move(variables)),
        groups_(std::move(groups)),
        replicas_(static_cast<size_t>(module_.num_replicas)) {
    info_.num_instructions = 1;  // the whole loop
    info_.num_replicas = module_.num_replicas;
    for (const StepArgument& argument : module_.arguments) {
      if (argument.kind != StepArgument::Kind::kFeed) continue;
      num_feeds_ = std::max(num_feeds_, static_cast<size_t>(argument.index) + 1);
      for (size_t r = 0; r < replicas_; ++r)
        stacks_.emplace_back(argument.spec.dtype, argument.spec.shape);
    }
  }

  absl::StatusOr<int64_t> RunLoop(int64_t num_steps, const Infeed& infeed,
                                  const Outfeed& outfeed) override {
    EST_RETURN_IF_ERROR(CheckInitialized());
    int64_t done = 0;
    while (done < num_steps) {
      EST_ASSIGN_OR_RETURN(const Batches batches,
                           Collect(std::min(module_.iterations, num_steps - done), infeed));
      if (batches.num_steps > 0) {
        EST_RETURN_IF_ERROR(RunPart(batches.num_steps, done, outfeed));
        done += batches.num_steps;
      }
      // The error comes after the steps before it: their updates are kept, and saved.
      EST_RETURN_IF_ERROR(batches.status);
      if (batches.ended) break;
    }
    return done;
  }

  void WantFetches(FetchGroups groups) override { wanted_ = groups; }
  const ExecutableInfo& info() const override { return info_; }

 private:
  struct Batches {
    int64_t num_steps = 0;
    bool ended = false;   // the input, before all steps
    absl::Status status;  // of the input, after num_steps
  };

  absl::Status CheckInitialized() const {
    std::vector<std::string> missing;
    for (const StepArgument& argument : module_.arguments) {
      if (argument.kind == StepArgument::Kind::kVariable && !store_.initialized(argument.name))
        missing.push_back(argument.name);
    }
    if (missing.empty()) return absl::OkStatus();
    EST_RETURN_IF_ERROR(store_.Download());  // a device that failed is the cause
    std::sort(missing.begin(), missing.end());
    return FailedPrecondition("the step reads variables that have no value yet: ",
                              JoinSome(missing, 10), "; initialize them or restore a checkpoint");
  }

  // Stacks the batches of up to `num_steps` steps. An error of the input is in the result, because
  // the steps before it run.
  absl::StatusOr<Batches> Collect(int64_t num_steps, const Infeed& infeed) {
    Batches batches;
    for (; batches.num_steps < num_steps; ++batches.num_steps) {
      // Steps without inputs are only counted.
      if (!infeed) continue;
      absl::StatusOr<std::optional<StepFeeds>> feeds = infeed();
      if (!feeds.ok()) {
        batches.status = feeds.status();
        return batches;
      }
      if (!feeds->has_value()) {
        batches.ended = true;
        return batches;
      }
      EST_RETURN_IF_ERROR(Stack(**feeds, batches.num_steps));
    }
    return batches;
  }

  absl::Status Stack(const StepFeeds& feeds, int64_t row) {
    if (feeds.size() != replicas_) {
      return InvalidArgument("the input is split for ", feeds.size(),
                             " replicas, but the backend runs ", replicas_);
    }
    size_t stack = 0;
    for (const StepArgument& argument : module_.arguments) {
      if (argument.kind != StepArgument::Kind::kFeed) continue;
      const TensorSpec spec = RowOf(argument.spec);
      for (size_t r = 0; r < replicas_; ++r, ++stack) {
        if (feeds[r].size() < num_feeds_) {
          return InvalidArgument("replica ", r, " has ", feeds[r].size(),
                                 " arrays, but the step has inputs up to ", num_feeds_);
        }
        const Array& array = feeds[r][static_cast<size_t>(argument.index)];
        if (array.dtype() != spec.dtype || array.shape() != spec.shape) {
          return InvalidArgument("the input ", argument.name, " is ", array.TypeString(),
                                 ", but the step was compiled for ", spec.ToString());
        }
        if (array.num_bytes() == 0) continue;
        std::memcpy(
            static_cast<char*>(stacks_[stack].raw()) + static_cast<size_t>(row) * array.num_bytes(),
            array.raw(), array.num_bytes());
      }
    }
    return absl::OkStatus();
  }

  // Runs the stacked steps and calls the outfeed for each. `first` is the number of the first step.
  absl::Status RunPart(int64_t num_steps, int64_t first, const Outfeed& outfeed) {
    EST_ASSIGN_OR_RETURN(std::vector<std::vector<DeviceBuffer>> outputs, Execute(num_steps));
    std::map<int, std::vector<Array>> fetches;  // by the fetch's index; for each replica
    int64_t steps_done = num_steps;
    for (size_t o = 0; o < module_.results.size(); ++o) {
      const StepResult& result = module_.results[o];
      if (result.kind == StepResult::Kind::kVariable) {
        std::vector<DeviceBuffer> buffers;
        for (std::vector<DeviceBuffer>& of_replica : outputs)
          buffers.push_back(std::move(of_replica[o]));
        // First, because the old buffers were donated: an error below must not lose the new values.
        variables_->Set(store_, result.name, std::move(buffers));
      }
    }
    for (size_t o = 0; o < module_.results.size(); ++o) {
      const StepResult& result = module_.results[o];
      if (result.kind == StepResult::Kind::kStepsDone) {
        Array done(DType::kInt32, Shape{});
        EST_RETURN_IF_ERROR(outputs[0][o].Download(done));
        steps_done = done.scalar<int32_t>();
      } else if (result.kind == StepResult::Kind::kFetch) {
        std::vector<Array>& arrays = fetches[result.index];
        for (const std::vector<DeviceBuffer>& of_replica : outputs) {
          arrays.emplace_back(result.spec.dtype, result.spec.shape);
          // A transfer waits for the device, so fetches that no hook asked for stay there.
          if (outfeed && Wanted(result.index)) {
            EST_RETURN_IF_ERROR(of_replica[o].Download(arrays.back()));
          }
        }
      }
    }
    num_runs_ += steps_done;
    const auto hand_out = [&](int64_t row) {
      StepFetches of_step(replicas_);
      for (auto& [index, arrays] : fetches) {
        for (size_t r = 0; r < replicas_; ++r) of_step[r].push_back(Row(arrays[r], row));
      }
      return outfeed(first + row, of_step);
    };
    for (int64_t row = 0; outfeed && row < steps_done; ++row) EST_RETURN_IF_ERROR(hand_out(row));
    if (steps_done == num_steps) return absl::OkStatus();
    // The row of the step that was stopped has its loss, from which the loop makes its message.
    if (outfeed) EST_RETURN_IF_ERROR(hand_out(steps_done));
    return absl::AbortedError(absl::StrCat("the loss of step ", first + steps_done,
                                           " of the loop is not finite; the step changed nothing"));
  }

  static Array Row(const Array& stacked, int64_t row) {
    const TensorSpec spec = RowOf({.dtype = stacked.dtype(), .shape = stacked.shape()});
    const auto owner = std::make_shared<Array>(stacked);  // shares the bytes
    char* const bytes =
        static_cast<char*>(owner->raw()) + static_cast<size_t>(row) * spec.num_bytes();
    return Array::Wrap(spec.dtype, spec.shape, bytes, owner);
  }

  bool Wanted(int fetch) const {
    const auto index = static_cast<size_t>(fetch);
    return index >= groups_.size() || groups_[index] == 0 || (groups_[index] & wanted_) != 0;
  }

  absl::StatusOr<std::vector<std::vector<DeviceBuffer>>> Execute(int64_t num_steps) {
    std::vector<DeviceBuffer> inputs;  // all but the variables
    std::vector<std::vector<c_api::Buffer*>> arguments(replicas_);
    const auto add = [&](const TensorSpec& spec, const void* bytes, size_t r) -> absl::Status {
      EST_ASSIGN_OR_RETURN(DeviceBuffer buffer, client_->Upload(spec, bytes, r));
      arguments[r].push_back(buffer.get());
      inputs.push_back(std::move(buffer));
      return absl::OkStatus();
    };
    const auto steps = static_cast<int32_t>(num_steps);
    // Only a step without global_step reads it: random ops then count the steps of this executable.
    const int64_t first_step = num_runs_;
    size_t stack = 0;
    for (const StepArgument& argument : module_.arguments) {
      if (argument.kind == StepArgument::Kind::kVariable)
        EST_RETURN_IF_ERROR(variables_->Update(store_, argument.name));
      for (size_t r = 0; r < replicas_; ++r) {
        switch (argument.kind) {
          case StepArgument::Kind::kVariable:
            arguments[r].push_back(variables_->buffer(argument.name, r));
            break;
          case StepArgument::Kind::kFeed:
            EST_RETURN_IF_ERROR(add(argument.spec, stacks_[stack++].raw(), r));
            break;
          case StepArgument::Kind::kNumSteps:
            EST_RETURN_IF_ERROR(add(argument.spec, &steps, r));
            break;
          case StepArgument::Kind::kFirstStep:
            EST_RETURN_IF_ERROR(add(argument.spec, &first_step, r));
            break;
        }
      }
    }
    absl::StatusOr<std::vector<std::vector<DeviceBuffer>>> outputs = program_->Run(arguments);
    // The program has taken the donated buffers, also if it failed. A value that only they had is
    // lost then, and the next use of the variable says so.
    for (const StepArgument& argument : module_.arguments) {
      if (argument.donated_to >= 0) variables_->Drop(argument.name);
    }
    return outputs;
  }

  const StepModule module_;
  const std::unique_ptr<LoadedProgram> program_;
  const std::shared_ptr<Client> client_;
  VariableStore& store_;
  const std::shared_ptr<DeviceVariables> variables_;
  const std::vector<FetchGroups> groups_;
  const size_t replicas_;
  size_t num_feeds_ = 0;
  std::vector<Array> stacks_;  // of each feed in the order of arguments, for each replica
  FetchGroups wanted_ = kAllGroups;
  ExecutableInfo info_;
  int64_t num_runs_ = 0;  // steps
};

class PjrtBackend : public Backend {
 public:
  PjrtBackend(ClientSource source, VariableStore& store, PjrtBackendOptions options)
      : source_(std::move(source)), store_(store), options_(options) {}

  std::string name() const override {
    return absl::StrCat(
        options_.num_replicas, options_.num_replicas == 1 ? " replica" : " replicas", " on ",
        client_ == nullptr
            ? "a PJRT plugin's devices"
            : absl::StrCat(client_->devices()[0].kind, " (", client_->platform(), ")"));
  }
  int num_replicas() const override { return options_.num_replicas; }
  VariableStore& variables() override { return store_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Graph& graph,
                                                      const ProgramSpec& spec) override {
    if (client_ == nullptr) {
      EST_ASSIGN_OR_RETURN(client_, source_());
      variables_ = std::make_shared<DeviceVariables>(client_, options_.num_replicas);
    }
    // Only a step that trains is guarded. Its first fetch is the loss.
    const bool guards = options_.guard_loss && !spec.updates.empty() && !spec.fetches.empty() &&
                        spec.fetches[0].valid() && IsFloating(spec.fetches[0].dtype());
    EST_ASSIGN_OR_RETURN(
        StepModule module,
        stablehlo::LowerStep(graph, spec,
                             {.num_replicas = options_.num_replicas,
                              .iterations = IterationsOf(spec),
                              .guard_fetch = guards ? std::optional<size_t>(0) : std::nullopt,
                              .compute_dtype = options_.compute_dtype}));
    for (const StepArgument& argument : module.arguments) {
      if (argument.kind == StepArgument::Kind::kVariable)
        // The store refuses a variable of another shape here, before minutes of compilation.
        EST_RETURN_IF_ERROR(store_.Allocate(argument.name, argument.spec).status());
    }
    EST_ASSIGN_OR_RETURN(std::unique_ptr<LoadedProgram> program,
                         client_->Compile(module.text, options_.num_replicas));
    if (program->num_outputs() != module.results.size()) {
      return absl::InternalError(absl::StrCat("the plugin ", client_->plugin().path(),
                                              " compiled the step to ", program->num_outputs(),
                                              " outputs instead of ", module.results.size()));
    }
    return std::make_unique<PjrtExecutable>(std::move(module), std::move(program), client_, store_,
                                            variables_, spec.fetch_groups);
  }

 private:
  int64_t IterationsOf(const ProgramSpec& spec) const {
    // 1 prevents a division by 0 for a step that has neither feeds nor fetches.
    int64_t bytes = 1;
    for (const std::vector<Tensor>* const stacked : {&spec.feeds, &spec.fetches}) {
      for (const Tensor& tensor : *stacked) {
        if (tensor.valid()) bytes += static_cast<int64_t>(tensor.spec().num_bytes());
      }
    }
    // All batches of a loop are on the device at once, so large batches make short loops.
    return std::clamp<int64_t>(options_.max_stacked_bytes / bytes, 1, options_.iterations);
  }

  const ClientSource source_;
  VariableStore& store_;
  const PjrtBackendOptions options_;
  std::shared_ptr<Client> client_;              // null until the first compilation
  std::shared_ptr<DeviceVariables> variables_;  // as client_
};

}  // namespace

std::unique_ptr<Backend> MakePjrtBackend(ClientSource client, VariableStore& store,
                                         PjrtBackendOptions options) {
  CHECK_GE(options.num_replicas, 1);
  CHECK_GE(options.iterations, 1);
  return std::make_unique<PjrtBackend>(std::move(client), store, options);
}

}  // namespace estimator::tpu::pjrt
