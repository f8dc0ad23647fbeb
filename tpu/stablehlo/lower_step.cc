#include "tpu/stablehlo/lower_step.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/op_def/op_def.h"
#include "estimator/runtime/ir.h"
#include "estimator/runtime/neutral_module.h"
#include "estimator/runtime/varies_by_replica.h"
#include "tpu/stablehlo/collectives.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo {
namespace {

constexpr absl::string_view kStringReason =
    "strings stay on the host: convert them to numbers in input_fn";

// As TensorFlow's compiler for XLA refuses a TensorList of unknown size.
constexpr absl::string_view kListReason =
    "a gradient flows through this loop, and a TPU keeps the values that it needs of each trip in "
    "memory of a fixed size: give WhileLoop maximum_iterations";

TensorSpec Stacked(int64_t iterations, const TensorSpec& spec) {
  return {spec.dtype, spec.shape.Stacked(iterations)};
}

Type ScalarType(DType dtype) { return {dtype, Shape{}}; }

std::string Describe(const ir::Module& module, const ir::Node& node) {
  std::vector<std::string> inputs, outputs;
  for (const ir::Value& input : node.inputs) inputs.push_back(module.spec(input).ToString());
  for (const TensorSpec& output : node.outputs) outputs.push_back(output.ToString());
  return absl::StrCat(node.name, " (", node.op, ": ", absl::StrJoin(inputs, ", "), " -> ",
                      absl::StrJoin(outputs, ", "), ")");
}

absl::Status CheckOptions(const ProgramSpec& spec, const LowerOptions& options) {
  if (options.num_replicas < 1 || options.iterations < 1) {
    return InvalidArgument("num_replicas and iterations must be at least 1, they are ",
                           options.num_replicas, " and ", options.iterations);
  }
  if (options.compute_dtype != DType::kFloat32 && options.compute_dtype != DType::kBfloat16) {
    return InvalidArgument("compute_dtype must be float32 or bfloat16, it is ",
                           DTypeName(options.compute_dtype));
  }
  if (!options.guard_fetch.has_value()) return absl::OkStatus();
  if (*options.guard_fetch >= spec.fetches.size()) {
    return InvalidArgument("guard_fetch is ", *options.guard_fetch, ", but the step has ",
                           spec.fetches.size(), " fetches");
  }
  const Tensor& guard = spec.fetches[*options.guard_fetch];
  if (guard.valid() && !IsFloating(guard.dtype())) {
    return InvalidArgument("guard_fetch is ", guard.name(), ", which is ", DTypeName(guard.dtype()),
                           "; only floats can be infinite or NaN");
  }
  return absl::OkStatus();
}

class StepLowering {
 public:
  StepLowering(const ir::Module& module, const ProgramSpec& spec, const LowerOptions& options)
      : module_(module),
        spec_(spec),
        options_(options),
        varies_(ir::VariesByReplica(module, options.num_replicas)) {
    w_.set_compute_dtype(options.compute_dtype);
  }

  absl::StatusOr<StepModule> Run() {
    EST_RETURN_IF_ERROR(CheckOps());
    Declare();
    WriteMain();
    EST_RETURN_IF_ERROR(Problems());
    result_.text = w_.Module(options_.name, absl::StrCat("mhlo.num_partitions = 1 : i32, "
                                                         "mhlo.num_replicas = ",
                                                         options_.num_replicas, " : i32"));
    result_.num_replicas = options_.num_replicas;
    result_.iterations = options_.iterations;
    return std::move(result_);
  }

 private:
  // Lists the nodes that have no lowering at all. Nothing is written if there are values without a
  // type in StableHLO: strings, and lists of an unknown number of rows.
  absl::Status CheckOps() {
    bool has_untyped = false;
    const auto is_string = [](const TensorSpec& spec) { return spec.dtype == DType::kString; };
    for (const ir::Variable& variable : module_.variables) {
      if (!is_string(variable.spec)) continue;
      has_untyped = true;
      problems_.push_back(absl::StrCat(variable.name, " (a variable): ", kStringReason));
    }
    for (size_t f = 0; f < module_.feeds.size(); ++f) {
      if (!is_string(module_.feeds[f])) continue;
      has_untyped = true;
      problems_.push_back(absl::StrCat(module_.feed_names[f], " (an input): ", kStringReason));
    }
    CheckNodes(module_, has_untyped);
    // Without such values, the step is written to find the other problems too.
    return has_untyped ? Problems() : absl::OkStatus();
  }

  void CheckNodes(const ir::Module& module, bool& has_untyped) {
    for (const ir::Node& node : module.nodes) {
      bool strings = false, lists = false;
      for (const TensorSpec& output : node.outputs) {
        strings = strings || output.dtype == DType::kString;
        lists = lists || !output.shape.fully_known();
      }
      for (const ir::Value& input : node.inputs)
        strings = strings || module.spec(input).dtype == DType::kString;
      has_untyped = has_untyped || strings || lists;
      const bool lowered = node.kind == ir::Node::Kind::kOp
                               ? FindLowering(node.op) != nullptr && !strings
                               : node.kind != ir::Node::Kind::kConstant || !strings;
      const char* const reason = TraitsOf(node.op).not_lowered;
      if (lists) {
        AddProblem(module, node, kListReason);
      } else if (!lowered) {
        AddProblem(module, node,
                   strings             ? kStringReason
                   : reason != nullptr ? reason
                                       : "it has no StableHLO form here");
      }
      for (const auto& body : node.functions)
        if (body != nullptr) CheckNodes(*body, has_untyped);
    }
  }

  void AddProblem(const ir::Module& module, const ir::Node& node, absl::string_view reason) {
    problems_.push_back(absl::StrCat(Describe(module, node), ": ", reason));
  }

  absl::Status Problems() const {
    if (problems_.empty()) return absl::OkStatus();
    return Unimplemented(problems_.size(), " parts of the step cannot be lowered to StableHLO:\n  ",
                         absl::StrJoin(problems_, "\n  "));
  }

  // Fills the lists of arguments and results.
  void Declare() {
    update_of_.assign(module_.variables.size(), -1);
    for (size_t u = 0; u < module_.updates.size(); ++u) {
      const ir::Variable& variable = ir::At(module_.variables, module_.updates[u].variable);
      // Updated variables are the first results, so the number of an update is that of its result.
      ir::At(update_of_, module_.updates[u].variable) = static_cast<int>(u);
      result_.results.push_back(
          {.kind = StepResult::Kind::kVariable, .name = variable.name, .spec = variable.spec});
    }
    for (size_t f = 0; f < module_.fetches.size(); ++f) {
      result_.results.push_back(
          {.kind = StepResult::Kind::kFetch,
           .name = spec_.fetches[f].name(),
           .spec = Stacked(options_.iterations, module_.spec(module_.fetches[f])),
           .index = static_cast<int>(f)});
    }
    result_.results.push_back(
        {.kind = StepResult::Kind::kStepsDone, .name = "steps_done", .spec = {DType::kInt32, {}}});

    for (size_t v = 0; v < module_.variables.size(); ++v) {
      const ir::Variable& variable = module_.variables[v];
      // Random ops count steps by global_step, so a resumed training draws the same numbers.
      if (variable.name == "global_step" && IsInteger(variable.spec.dtype) &&
          variable.spec.shape.num_elements() == 1)
        global_step_ = static_cast<int>(v);
      result_.arguments.push_back({.kind = StepArgument::Kind::kVariable,
                                   .name = variable.name,
                                   .spec = variable.spec,
                                   .donated_to = options_.donate_variables ? update_of_[v] : -1});
    }
    for (size_t f = 0; f < module_.feeds.size(); ++f) {
      result_.arguments.push_back({.kind = StepArgument::Kind::kFeed,
                                   .name = module_.feed_names[f],
                                   .spec = Stacked(options_.iterations, module_.feeds[f]),
                                   .index = static_cast<int>(f)});
    }
    result_.arguments.push_back(
        {.kind = StepArgument::Kind::kNumSteps, .name = "num_steps", .spec = {DType::kInt32, {}}});
    if (global_step_ < 0) {
      result_.arguments.push_back({.kind = StepArgument::Kind::kFirstStep,
                                   .name = "first_step",
                                   .spec = {DType::kInt64, {}}});
    }
  }

  // The state of the loop: the number of finished steps, whether all losses were finite, the
  // fetches' buffers, and all arguments of @main.
  size_t ArgumentAt(size_t argument) const { return 2 + module_.fetches.size() + argument; }

  void WriteMain() {
    std::vector<Type> arguments, results;
    std::vector<std::string> attributes;
    for (const StepArgument& argument : result_.arguments) {
      arguments.emplace_back(argument.spec);
      attributes.push_back(
          argument.donated_to < 0
              ? ""
              : absl::StrCat("tf.aliasing_output = ", argument.donated_to, " : i32"));
    }
    for (const StepResult& result : result_.results) results.emplace_back(result.spec);
    const Values inputs = w_.BeginFunction("main", arguments, attributes, results);

    Values state = {w_.FillInt(ScalarType(DType::kInt32), 0),
                    w_.FillInt(ScalarType(DType::kBool), 1)};
    for (const ir::Value& fetch : module_.fetches)
      state.push_back(w_.Fill(Stacked(options_.iterations, module_.spec(fetch)), 0));
    state.insert(state.end(), inputs.begin(), inputs.end());
    const size_t num_steps = ArgumentAt(module_.variables.size() + module_.feeds.size());
    state = w_.While(
        state,
        [&](const Values& values) {
          // A caller's num_steps beyond the stacked batches is cut.
          const Value limit =
              w_.Min(values[num_steps], w_.FillInt(values[num_steps].type, options_.iterations));
          return w_.Op("and", {w_.Compare("LT", values[0], limit), values[1]},
                       ScalarType(DType::kBool));
        },
        [&](const Values& values) { return WriteStep(values); });

    Values outputs;
    for (const ir::Update& update : module_.updates)
      outputs.push_back(state[ArgumentAt(static_cast<size_t>(update.variable))]);
    for (size_t f = 0; f < module_.fetches.size(); ++f) outputs.push_back(state[2 + f]);
    outputs.push_back(state[0]);
    w_.EndFunction(outputs);
  }

  // One step: the loop's state after it.
  Values WriteStep(const Values& state) {
    const Value& i = state[0];
    StepValues step;
    step.num_replicas = options_.num_replicas;
    step.replica = w_.Op("replica_id", {}, {DType::kInt32, Shape{}, /*is_unsigned=*/true});
    if (global_step_ >= 0) {
      const Value& counter = state[ArgumentAt(static_cast<size_t>(global_step_))];
      step.step = w_.Convert(w_.Reshape(counter, Shape{}), DType::kInt64);
    } else {
      step.step = w_.Add(state.back(), w_.Convert(i, DType::kInt64));
    }
    values_ = WriteNodes(module_, step, [&](const ir::Node& node) {
      const auto index = static_cast<size_t>(node.index);
      if (node.kind == ir::Node::Kind::kVariable) return state[ArgumentAt(index)];
      return RowAt(w_, state[ArgumentAt(module_.variables.size() + index)], i);
    });
    w_.SetLocation("");

    const Value ok = Guard();
    Values next = state;
    // A step that the guard stops does not count as finished.
    next[0] = w_.Add(i, w_.Convert(ok, DType::kInt32));
    next[1] = ok;
    for (size_t f = 0; f < module_.fetches.size(); ++f) {
      // The row of a stopped step is written too: the host reports the loss in it.
      next[2 + f] = WithRowAt(w_, state[2 + f], i, At(module_.fetches[f]));
    }
    for (const ir::Update& update : module_.updates) {
      w_.SetLocation(update.name);
      Value value = At(update.value);
      // Otherwise the variables of the replicas would drift apart.
      if (ir::At(varies_, update.value.node))
        value = FromReplica0(w_, value, step.replica, options_.num_replicas);
      Value& variable = next[ArgumentAt(static_cast<size_t>(update.variable))];
      variable = options_.guard_fetch.has_value() ? w_.Select(ok, value, variable) : value;
    }
    w_.SetLocation("");
    return next;
  }

  using NodeValues = std::vector<Values>;  // for each node its outputs

  //   read: the value of a feed or a variable.
  NodeValues WriteNodes(const ir::Module& module, const StepValues& step,
                        const std::function<Value(const ir::Node&)>& read) {
    NodeValues values;
    for (const ir::Node& node : module.nodes) {
      w_.SetLocation(node.name);
      if (node.kind == ir::Node::Kind::kConstant) {
        values.push_back({w_.Constant(node.constant)});
      } else if (node.kind == ir::Node::Kind::kOp) {
        Values inputs;
        for (const ir::Value& input : node.inputs) inputs.push_back(ir::At(values, input));
        values.push_back(WriteOp(module, node, inputs, step));
      } else {
        values.push_back({read(node)});
      }
    }
    return values;
  }

  // The bodies of `node`, which its lowering writes.
  std::vector<LoweredFunction> FunctionsOf(const ir::Node& node) {
    std::vector<LoweredFunction> functions;
    for (const std::shared_ptr<ir::Module>& body : node.functions) {
      functions.emplace_back();
      if (body == nullptr) continue;
      functions.back() = {
          body->feeds.size(), [this, &node, body](const Values& inputs, const StepValues& step) {
            const NodeValues values = WriteNodes(*body, step, [&inputs](const ir::Node& feed) {
              return ir::At(inputs, feed.index);
            });
            w_.SetLocation(node.name);
            Values results;
            for (const ir::Value& fetch : body->fetches) results.push_back(ir::At(values, fetch));
            return results;
          }};
    }
    return functions;
  }

  Values WriteOp(const ir::Module& module, const ir::Node& node, const Values& inputs,
                 const StepValues& step) {
    const KernelSpec spec = ir::SpecOf(module, node);
    const OpLowering* const lowering = FindLowering(node.op);
    if (lowering != nullptr) {
      LoweringResult outputs = (*lowering)(w_, LoweringArgs{spec, inputs, step, FunctionsOf(node)});
      if (outputs.ok() && HaveTypes(*outputs, node.outputs)) return *std::move(outputs);
      AddProblem(module, node,
                 outputs.ok() ? TypesMessage(*outputs) : std::string(outputs.status().message()));
    }
    // The other nodes are lowered too, so that all problems are reported together.
    Values zeros;
    for (const TensorSpec& output : node.outputs) zeros.push_back(w_.Fill(output, 0));
    return zeros;
  }

  static bool HaveTypes(const Values& values, const std::vector<TensorSpec>& specs) {
    return std::equal(
        values.begin(), values.end(), specs.begin(), specs.end(),
        [](const Value& value, const TensorSpec& spec) { return value.type == Type(spec); });
  }

  static std::string TypesMessage(const Values& values) {
    return absl::StrCat("its lowering gives ",
                        absl::StrJoin(values, ", ",
                                      [](std::string* out, const Value& value) {
                                        out->append(value.type.ToString());
                                      }),
                        ", which is a bug in the lowering");
  }

  const Value& At(ir::Value value) const { return ir::At(values_, value); }

  // Whether the step's updates count, on every replica the same.
  Value Guard() {
    if (!options_.guard_fetch.has_value()) return w_.FillInt(ScalarType(DType::kBool), 1);
    const ir::Value fetch = module_.fetches[*options_.guard_fetch];
    const Value& loss = At(fetch);
    Value finite = w_.IsFinite(loss);
    if (loss.rank() > 0) finite = w_.Reduce("and", finite, Count(loss.rank()));
    if (options_.num_replicas == 1) return finite;
    // The replicas must agree, because the loop has collectives: they count the failures.
    const Value failed = w_.Convert(w_.Unary("not", finite), DType::kInt32);
    const Value failures = AllReduceSum(w_, failed, AllReplicas(options_.num_replicas));
    return w_.Compare("EQ", failures, w_.FillInt(failures.type, 0));
  }

  const ir::Module& module_;
  const ProgramSpec& spec_;
  const LowerOptions& options_;
  const std::vector<char> varies_;
  Writer w_;
  StepModule result_;
  std::vector<int> update_of_;  // for each variable its update, or -1
  int global_step_ = -1;        // the number of the variable
  NodeValues values_;           // of module_
  std::vector<std::string> problems_;
};

}  // namespace

absl::StatusOr<StepModule> LowerStep(const Graph& graph, const ProgramSpec& spec,
                                     const LowerOptions& options) {
  EST_RETURN_IF_ERROR(CheckOptions(spec, options));
  EST_ASSIGN_OR_RETURN(
      const ir::Module module,
      ir::BuildNeutralModule(graph, spec, {.single_replica = options.num_replicas == 1}));
  return StepLowering(module, spec, options).Run();
}

}  // namespace estimator::tpu::stablehlo
