#include "tpu/rules/graph_rules.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/op_def/op_def.h"
#include "tpu/rules/index_range.h"

namespace estimator::tpu {
namespace {

constexpr int64_t kLargeConstantBytes = int64_t{64} << 20;

bool HasOutput(const Node& node, const std::function<bool(const TensorSpec&)>& matches) {
  return std::any_of(node.outputs().begin(), node.outputs().end(), matches);
}

// One finding for all nodes of a kind. A network has hundreds of nodes of one dtype, and one change
// cures them.
class Group {
 public:
  void Add(const Node* node) { nodes_.push_back(node); }
  void AddTo(Report& report, const CheckedModel& model, const ProgramNodes& program,
             absl::string_view rule, absl::string_view what, std::string cure) const {
    if (nodes_.empty()) return;
    constexpr size_t kShown = 8;
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(nodes_.size(), kShown); ++i)
      names.push_back(program.NameOf(*nodes_[i]));
    if (nodes_.size() > kShown) names.push_back(absl::StrCat(nodes_.size() - kShown, " more"));
    report.Add(rule, model.Where(program.NameOf(*nodes_[0])),
               absl::StrCat(nodes_.size() == 1 ? "one op " : absl::StrCat(nodes_.size(), " ops "),
                            what, nodes_.size() == 1 ? "" : ": ",
                            nodes_.size() == 1 ? "" : absl::StrJoin(names, ", ")),
               std::move(cure));
  }

 private:
  std::vector<const Node*> nodes_;
};

// Whether a value is computed from a core's rows without a sum over the cores.
bool IsOfOneCore(const Graph& graph, const Tensor& value) {
  std::vector<bool> seen(graph.nodes().size(), false);
  std::vector<const Node*> pending = {value.node()};
  while (!pending.empty()) {
    const Node* const node = pending.back();
    pending.pop_back();
    if (seen[static_cast<size_t>(node->id())]) continue;
    seen[static_cast<size_t>(node->id())] = true;
    if (node->op() == "CrossReplicaSum") continue;  // what is below it is summed
    if (node->op() == "Placeholder") return true;
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
  }
  return false;
}

void CheckBatchNorm(const CheckedModel& model, Report& report) {
  // One core, or cores that all get the whole batch, have the statistics of the batch.
  if (model.mode != Mode::kTrain || model.num_replicas <= 1 || model.broadcast) return;
  std::vector<std::string> variables;
  for (const Node* assign : CollectAssigns(model.graph.update_ops())) {
    if (assign->num_inputs() < 2 || !IsOfOneCore(model.graph, assign->input(1))) continue;
    variables.push_back(assign->input(0).node()->name());
  }
  if (variables.empty()) return;
  report.Add("local-batch-norm", model.Where(variables[0]),
             absl::StrCat(variables.size(), " moving averages are of the ", model.rows,
                          " rows of one core, not of the global batch of ",
                          model.rows * model.num_replicas),
             "keep it if a core has 32 rows or more; else sum mean and variance with "
             "CrossReplicaSum, or use layers::LayerNorm");
}

}  // namespace

void CheckGraphRules(const CheckedModel& model, Report& report) {
  const ProgramNodes program(model);
  Group float64, strings, int64s, float16;
  for (const Node* node : program.all()) {
    const std::string where = model.Where(program.NameOf(*node));
    const auto has = [&](DType dtype) {
      return HasOutput(*node, [&](const TensorSpec& spec) { return spec.dtype == dtype; });
    };
    if (has(DType::kFloat64)) float64.Add(node);
    if (has(DType::kFloat16)) float16.Add(node);
    const char* const host_only = TraitsOf(node->op()).host_only;
    // AsString is reported as an op that has no lowering.
    if (has(DType::kString) && host_only == nullptr) strings.Add(node);
    // Scalars such as global_step cost nothing, and constants, such as a shape, are folded.
    for (int i = 0; i < node->num_outputs(); ++i) {
      const TensorSpec& spec = node->outputs()[static_cast<size_t>(i)];
      if (spec.dtype != DType::kInt64 || spec.shape.num_elements() <= 1) continue;
      if (node->op() == "Placeholder" ||
          std::any_of(node->inputs().begin(), node->inputs().end(),
                      [&](const Tensor& input) { return program.DependsOnInput(input); })) {
        int64s.Add(node);
        break;
      }
    }
    if (host_only != nullptr) report.Add("host-only-op", where, "XLA has no such op", host_only);
    if (HasOutput(*node, [](const TensorSpec& spec) { return !spec.shape.fully_known(); })) {
      report.Add("loop-without-bound", where,
                 "its gradient needs values of each trip, and their number is not known",
                 "give WhileLoop maximum_iterations");
    }
    if (node->op() == "CrossReplicaSum" && program.IsInBody(*node)) {
      report.Add("sum-in-body", where, "it is in the body of a loop or a branch",
                 "return the value from the body, and sum that");
    }
    if (node->op() == "CheckNumerics" || node->op() == "CheckRange") {
      report.Add("check-op", where, "the check has no effect on a TPU",
                 "return the tensor in host_call and check it there, or clip the values");
    }
    // Nodes of gradients repeat the indices of the model's own nodes, which are reported.
    if ((node->op() == "GatherV2" || node->op() == "GatherNd") &&
        program.DependsOnInput(node->input(1)) && !program.IsGradient(*node) &&
        !IndicesAreInRange(*node, [&](const Node& input) { return program.Sources(input); })) {
      report.Add("unchecked-index", where,
                 absl::StrCat("indices ", node->input(1).spec().ToString(),
                              " come from the input and select rows of ",
                              node->input(0).spec().ToString()),
                 "make sure in input_fn that every index is in range");
    }
    if (node->op() == "Const" &&
        static_cast<int64_t>(node->outputs()[0].num_bytes()) >= kLargeConstantBytes) {
      report.Add("large-constant", where,
                 absl::StrCat("the program contains ", node->outputs()[0].num_bytes() >> 20,
                              " MiB of constants"),
                 "return the data as a feature of input_fn, or keep it in a variable that is not "
                 "trainable");
    }
  }
  float64.AddTo(report, model, program, "float64", "of float64",
                "use float32, or Cast the input to it");
  strings.AddTo(report, model, program, "string", "of strings",
                "turn strings into numbers in input_fn, and leave them out of the features");
  int64s.AddTo(report, model, program, "int64", "of int64 arrays",
               "use int32: Cast labels and ids in input_fn, and give ArgMax an int32 output");
  float16.AddTo(report, model, program, "float16", "of float16",
                "use bfloat16, or tpu::Bfloat16Scope");
  for (const SummaryRequest& summary : model.graph.summaries()) {
    report.Add("summary-in-model", model.Where(summary.tag), "the model asks for a summary",
               "keep it if the model is not to run with TensorFlow; else return the value in "
               "host_call and write it there");
  }
  CheckBatchNorm(model, report);
}

}  // namespace estimator::tpu
