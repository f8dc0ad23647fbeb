#include "estimator/runtime/control_flow/kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/runtime/control_flow/body.h"
#include "estimator/runtime/control_flow/non_finite_watch.h"
#include "estimator/runtime/control_flow/step_time.h"
#include "estimator/runtime/passes/select_kernels.h"

namespace estimator {
namespace {

using Bodies = std::vector<std::pair<std::string, const CompiledModule*>>;

class BranchKernel : public ControlFlowKernel {
 public:
  BranchKernel(const ir::Node& node, std::vector<CompiledModule> branches)
      : is_if_(node.op == "If"), outputs_(node.outputs) {
    for (size_t b = 0; b < branches.size(); ++b) {
      first_capture_.push_back(static_cast<size_t>(ir::FirstCapture(node, b)));
      branches_.emplace_back(std::move(branches[b]), 1);
    }
  }

  absl::Status Run(const KernelArgs& args) override {
    const size_t b = Chosen(args);
    Body& branch = branches_[b];
    for (size_t f = 0; f < branch.compiled().module.feeds.size(); ++f)
      branch.SetFeed(0, f, args.inputs[first_capture_[b] + f]);
    for (size_t r = 0; r < outputs_.size(); ++r) branch.SetResult(0, r, args.outputs[r]);
    char* const arena = static_cast<char*>(args.scratch);
    branch.Bind(0, arena, arena + branch.arena_bytes());
    const std::shared_ptr<Trace> trace = ThreadTrace();
    EST_RETURN_IF_ERROR(branch.RunDerived(0, args.step, trace.get()));
    EST_RETURN_IF_ERROR(branch.Run(0, args.step, trace.get()));
    for (size_t r = 0; r < outputs_.size(); ++r) {
      if (branch.Writes(r)) continue;
      ir::CopyElements(outputs_[r].dtype, outputs_[r].shape.num_elements(), branch.Result(0, r),
                       args.outputs[r]);
    }
    return absl::OkStatus();
  }

  size_t scratch_bytes() const override {
    int64_t bytes = 0;
    for (const Body& branch : branches_)
      bytes = std::max(bytes, branch.arena_bytes() + branch.derived_bytes());
    return static_cast<size_t>(bytes);
  }

  Bodies bodies() const override {
    Bodies all;
    for (size_t b = 0; b < branches_.size(); ++b) {
      const std::string name = !is_if_ ? absl::StrCat("branch ", b) : b == 0 ? "then" : "else";
      all.emplace_back(name, &branches_[b].compiled());
    }
    return all;
  }

 private:
  size_t Chosen(const KernelArgs& args) const {
    if (is_if_) return *args.in<bool>(0) ? 0 : 1;
    const int32_t index = *args.in<int32_t>(0);
    const size_t last = branches_.size() - 1;
    return index < 0 ? last : std::min(last, static_cast<size_t>(index));
  }

  const bool is_if_;
  const std::vector<TensorSpec> outputs_;
  std::vector<size_t> first_capture_;
  std::vector<Body> branches_;
};

class WhileKernel : public ControlFlowKernel {
 public:
  //   inputs: the specs of the node's.
  WhileKernel(const ir::Node& node, const std::vector<TensorSpec>& inputs,
              std::optional<CompiledModule> condition, CompiledModule body)
      : num_carried_(static_cast<size_t>(node.attrs.i("num_carried"))),
        reverse_(node.attrs.b("reverse")),
        draws_in_order_(node.attrs.has("draws_in_order")),
        first_capture_(static_cast<size_t>(ir::FirstCapture(node, 1))),
        first_condition_capture_(static_cast<size_t>(ir::FirstCapture(node, 0))),
        body_(std::move(body), 2) {
    if (condition.has_value()) condition_.emplace(*std::move(condition), 2);
    // The condition and the body take turns.
    arena_ = Take(std::max(body_.arena_bytes(), condition_ ? condition_->arena_bytes() : 0));
    derived_ = Take(body_.derived_bytes());
    condition_derived_ = Take(condition_ ? condition_->derived_bytes() : 0);
    condition_result_ = Take(sizeof(bool));
    for (size_t i = 0; i < num_carried_; ++i) AddCarried(i, node.outputs[i]);
    const auto num_scanned = static_cast<size_t>(node.attrs.i("num_scanned"));
    for (size_t k = 0; k < num_scanned; ++k) {
      const size_t feed = num_carried_ + k;
      scanned_.push_back(MakeRows(inputs[1 + feed], 1 + feed, body_.feed_buffer(feed)));
    }
    for (size_t r = num_carried_; r < body_.compiled().module.fetches.size(); ++r) {
      stacked_.push_back(
          MakeRows(node.outputs[r + 1], r + 1, body_.Writes(r) ? body_.result_buffer(r) : -1));
    }
  }

  size_t scratch_bytes() const override { return scratch_bytes_; }
  // The buffer of the first value becomes that of the last one.
  int AliasInput(int output) const override {
    return output < static_cast<int>(num_carried_) ? output + 1 : -1;
  }

  Bodies bodies() const override {
    Bodies all;
    if (condition_) all.emplace_back("condition, before each trip", &condition_->compiled());
    all.emplace_back("body, at each trip", &body_.compiled());
    return all;
  }

  absl::Status Run(const KernelArgs& args) override {
    const int64_t trips = *args.in<int64_t>(0);
    EST_RETURN_IF_ERROR(StartRows(args, trips));
    Bind(args);
    const std::shared_ptr<Trace> trace = ThreadTrace();
    NonFiniteWatch* const watch = NonFiniteWatch::Current();
    int64_t trip = 0;
    for (bool goes_on = true; trip < trips; ++trip) {
      if (watch != nullptr) watch->EnterTrip(trip);
      const absl::Status status = RunTrip(args, trips, trip, trace.get(), &goes_on);
      if (watch != nullptr) watch->LeaveTrip();
      if (!status.ok()) return Annotate(status, absl::StrCat("trip ", trip));
      if (!goes_on) break;
    }
    for (const Carried& value : carried_) {
      if (trip % 2 == 1 && !value.has_one_buffer)
        std::memcpy(value.buffer[0], value.buffer[1], value.bytes);
    }
    *args.out<int64_t>(static_cast<int>(num_carried_)) = trip;
    for (const Rows& rows : stacked_) {
      if (rows.list != nullptr) continue;
      std::memset(rows.data + trip * rows.bytes, 0,
                  static_cast<size_t>((rows.count - trip) * rows.bytes));
    }
    return absl::OkStatus();
  }

 private:
  struct Carried {
    size_t bytes = 0;
    bool has_one_buffer = false;       // no trip changes it, or each one overwrites it
    bool is_copied = false;            // from another buffer, after the trip
    size_t second = 0;                 // the offset of the second buffer in the scratch memory
    std::array<char*, 2> buffer = {};  // what even trips and odd trips read
  };

  // A scanned input or a stacked output.
  struct Rows {
    int64_t bytes = 0;      // of a row
    bool is_list = false;   // the operand is a GrowingList
    size_t operand = 0;     // the number of the input or output
    bool is_bound = false;  // the body reads or writes it
    bool in_place = false;  // at its place, else in a buffer from which it is copied
    size_t buffer = 0;      // the offset of that buffer in the scratch memory
    std::array<Executor::Uses, 2> uses;
    // Of the current run:
    char* data = nullptr;
    GrowingList* list = nullptr;
    int64_t count = 0;

    char* row(int64_t index) const {
      return list != nullptr ? list->row(index) : data + index * bytes;
    }
  };

  // Takes a part of the scratch memory, and returns its offset.
  size_t Take(int64_t bytes) {
    const size_t offset = scratch_bytes_;
    scratch_bytes_ += AlignedBytes(static_cast<size_t>(bytes));
    return offset;
  }

  void AddCarried(size_t i, const TensorSpec& spec) {
    Carried value{.bytes = spec.num_bytes()};
    const bool stays = body_.result_buffer(i) == body_.feed_buffer(i);
    value.has_one_buffer = stays || body_.feed_buffer(i) < 0;
    value.is_copied = !stays && !body_.Writes(i);
    if (!value.has_one_buffer) value.second = Take(static_cast<int64_t>(value.bytes));
    carried_.push_back(value);
  }

  //   buffer: of the body, for one row; -1: none.
  Rows MakeRows(const TensorSpec& spec, size_t operand, int buffer) {
    Rows rows;
    rows.bytes = static_cast<int64_t>(ir::RowOf(spec).num_bytes());
    rows.is_list = ir::IsList(spec);
    rows.operand = operand;
    rows.is_bound = buffer >= 0;
    rows.count = spec.shape[0];
    if (!rows.is_bound) return rows;
    // Kernels may expect operands that are aligned.
    rows.in_place = rows.bytes % static_cast<int64_t>(Array::kAlignment) == 0;
    if (!rows.in_place) rows.buffer = Take(rows.bytes);
    for (size_t e = 0; e < 2; ++e) rows.uses[e] = body_.executor(e).UsesOf(buffer);
    return rows;
  }

  absl::Status StartRows(const KernelArgs& args, int64_t trips) {
    for (Rows& rows : scanned_) {
      void* const operand = const_cast<void*>(args.inputs[rows.operand]);
      rows.data = rows.is_list ? nullptr : static_cast<char*>(operand);
      rows.list = rows.is_list ? static_cast<GrowingList*>(operand) : nullptr;
      if (rows.is_list) rows.count = rows.list->rows();
      if (rows.is_bound && trips > rows.count) {
        return absl::InternalError(absl::StrCat("it has ", trips, " trips, but input ",
                                                rows.operand, " has ", rows.count, " elements"));
      }
    }
    for (Rows& rows : stacked_) {
      void* const operand = args.outputs[rows.operand];
      rows.data = rows.is_list ? nullptr : static_cast<char*>(operand);
      rows.list = rows.is_list ? static_cast<GrowingList*>(operand) : nullptr;
      if (rows.is_list) {
        // With `reverse` the last element is written first.
        EST_RETURN_IF_ERROR(rows.list->Resize(reverse_ ? trips : 0));
      } else if (trips > rows.count) {
        return absl::InternalError(absl::StrCat("it has ", trips, " trips, but output ",
                                                rows.operand, " has ", rows.count, " elements"));
      }
    }
    return absl::OkStatus();
  }

  void Bind(const KernelArgs& args) {
    char* const scratch = static_cast<char*>(args.scratch);
    for (size_t i = 0; i < num_carried_; ++i) {
      Carried& value = carried_[i];
      value.buffer[0] = static_cast<char*>(args.outputs[i]);
      value.buffer[1] = value.has_one_buffer ? value.buffer[0] : scratch + value.second;
      if (args.inputs[1 + i] != args.outputs[i])
        std::memcpy(args.outputs[i], args.inputs[1 + i], value.bytes);
    }
    for (size_t e = 0; e < 2; ++e) {
      BindFeeds(args, e, first_capture_, body_);
      for (size_t i = 0; i < num_carried_; ++i) body_.SetResult(e, i, carried_[i].buffer[1 - e]);
      for (size_t k = 0; k < scanned_.size(); ++k)
        body_.SetFeed(e, num_carried_ + k, scratch + scanned_[k].buffer);
      for (size_t k = 0; k < stacked_.size(); ++k)
        body_.SetResult(e, num_carried_ + k, scratch + stacked_[k].buffer);
      body_.Bind(e, scratch + arena_, scratch + derived_);
      if (!condition_) continue;
      BindFeeds(args, e, first_condition_capture_, *condition_);
      condition_->SetResult(e, 0, scratch + condition_result_);
      condition_->Bind(e, scratch + arena_, scratch + condition_derived_);
    }
  }

  // Sets the carried values and the captures of the body or of the condition.
  void BindFeeds(const KernelArgs& args, size_t e, size_t first_capture, Body& body) const {
    const ir::Module& module = body.compiled().module;
    for (size_t i = 0; i < num_carried_; ++i) body.SetFeed(e, i, carried_[i].buffer[e]);
    const auto num_parameters = static_cast<size_t>(module.num_parameters);
    for (size_t f = num_parameters; f < module.feeds.size(); ++f)
      body.SetFeed(e, f, args.inputs[first_capture + f - num_parameters]);
  }

  //   goes_on: false if the condition ends the loop before this trip.
  absl::Status RunTrip(const KernelArgs& args, int64_t trips, int64_t trip, Trace* trace,
                       bool* goes_on) {
    EST_RETURN_IF_ERROR(CheckLoopTime(args.step));
    const size_t e = static_cast<size_t>(trip % 2);
    const int64_t index = reverse_ ? trips - 1 - trip : trip;
    StepContext step = args.step;
    if (draws_in_order_)
      step.step =
          static_cast<int64_t>(static_cast<uint64_t>(step.step) * static_cast<uint64_t>(trips) +
                               static_cast<uint64_t>(trip));
    else
      step.trip_key = TripKey(args.step.trip_key, index);
    if (condition_) {
      if (trip == 0) EST_RETURN_IF_ERROR(condition_->RunDerived(e, step, trace));
      EST_RETURN_IF_ERROR(condition_->Run(e, step, trace));
      *goes_on = *static_cast<const bool*>(condition_->Result(e, 0));
      if (!*goes_on) return absl::OkStatus();
    }
    if (trip == 0) EST_RETURN_IF_ERROR(body_.RunDerived(e, step, trace));
    for (const Rows& rows : scanned_) {
      if (!rows.is_bound) continue;
      if (rows.in_place) {
        body_.executor(e).Rebind(rows.uses[e], rows.row(index));
      } else {
        std::memcpy(static_cast<char*>(args.scratch) + rows.buffer, rows.row(index),
                    static_cast<size_t>(rows.bytes));
      }
    }
    for (const Rows& rows : stacked_) {
      if (rows.is_list && !reverse_) EST_RETURN_IF_ERROR(rows.list->Resize(trip + 1));
      if (rows.in_place) body_.executor(e).Rebind(rows.uses[e], rows.row(index));
    }
    EST_RETURN_IF_ERROR(body_.Run(e, step, trace));
    for (size_t i = 0; i < num_carried_; ++i) {
      if (carried_[i].is_copied)
        std::memcpy(carried_[i].buffer[1 - e], body_.Result(e, i), carried_[i].bytes);
    }
    for (size_t k = 0; k < stacked_.size(); ++k) {
      const Rows& rows = stacked_[k];
      if (!rows.in_place) {
        std::memcpy(rows.row(index), body_.Result(e, num_carried_ + k),
                    static_cast<size_t>(rows.bytes));
      }
    }
    return absl::OkStatus();
  }

  const size_t num_carried_;
  const bool reverse_, draws_in_order_;
  const size_t first_capture_, first_condition_capture_;
  Body body_;
  std::optional<Body> condition_;
  size_t scratch_bytes_ = 0;
  size_t arena_ = 0, derived_ = 0, condition_derived_ = 0, condition_result_ = 0;
  std::vector<Carried> carried_;
  std::vector<Rows> scanned_, stacked_;
};

}  // namespace

namespace ir {
namespace {

// Checks that only loops and branches read lists.
absl::Status CheckLists(const Module& module) {
  const auto refused = [&module](Value value) {
    return Unimplemented(module.node(value).name,
                         ": its number of trips is not known, so only another loop can read what "
                         "it stacks; give it a largest number of trips (maximum_iterations)");
  };
  for (const Node& node : module.nodes) {
    for (const Value& input : node.inputs) {
      if (IsList(module.spec(input)) && node.functions.empty()) return refused(input);
    }
  }
  for (const Value& fetch : module.fetches) {
    if (IsList(module.spec(fetch))) return refused(fetch);
  }
  return absl::OkStatus();
}

absl::Status CheckStrings(const Module& module, const Node& node) {
  std::vector<TensorSpec> specs = node.outputs;
  const int first_capture = FirstCapture(node, 0);
  for (int i = 0; i < first_capture; ++i) specs.push_back(module.spec(At(node.inputs, i)));
  for (const TensorSpec& spec : specs) {
    if (spec.dtype == DType::kString)
      return Unimplemented(node.name,
                           ": it carries, scans or stacks strings; a loop can only "
                           "capture them");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompileBodies(Module& module, const CompileOptions& options, ExecutableInfo& info) {
  EST_RETURN_IF_ERROR(CheckLists(module));
  for (Node& node : module.nodes) {
    if (node.functions.empty()) continue;
    const bool is_loop = node.op == kWhileOp;
    if (is_loop) EST_RETURN_IF_ERROR(CheckStrings(module, node));
    std::vector<CompiledModule> bodies;
    for (const auto& function : node.functions) {
      if (function == nullptr) continue;
      EST_ASSIGN_OR_RETURN(CompiledModule body, CompileModule(*function, options, info));
      bodies.push_back(std::move(body));
    }
    if (!is_loop) {
      node.kernel = std::make_shared<BranchKernel>(node, std::move(bodies));
      continue;
    }
    std::vector<TensorSpec> inputs;
    for (const Value& input : node.inputs) inputs.push_back(module.spec(input));
    std::optional<CompiledModule> condition;
    if (bodies.size() == 2) condition = std::move(bodies[0]);
    node.kernel =
        std::make_shared<WhileKernel>(node, inputs, std::move(condition), std::move(bodies.back()));
  }
  return absl::OkStatus();
}

}  // namespace ir
}  // namespace estimator
