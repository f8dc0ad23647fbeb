#include "estimator/training/model/first_non_finite.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/runtime/control_flow/non_finite_watch.h"

namespace estimator {
namespace {

constexpr absl::string_view kVariableOp = "VariableV2";
constexpr absl::string_view kConstantOp = "Const";

// The floating tensors that the loss and the updates are computed from, in creation order. A node
// is created after its inputs, so this is forward order.
std::vector<Tensor> FloatingTensors(const BuiltModel& model) {
  std::set<const Node*> needed;
  std::vector<const Node*> pending;
  if (model.spec.loss.valid()) pending.push_back(model.spec.loss.node());
  for (const Node* assign : CollectAssigns({model.spec.train_op}))
    pending.push_back(assign->input(1).node());
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (!needed.insert(node).second) continue;
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
  }
  std::vector<Tensor> tensors;
  for (const auto& node : model.graph->nodes()) {
    if (needed.count(node.get()) == 0) continue;
    if (node->op() == kConstantOp) {
      // The value of a constant is known without a run.
      const auto& value = node->attrs().get<Array>("value");
      if (!IsFloating(value.dtype()) || !FindNonFinite(value)) continue;
    }
    for (int i = 0; i < node->num_outputs(); ++i) {
      const Tensor output(model.graph.get(), node.get(), i);
      if (IsFloating(output.dtype()) && output.shape().fully_known() &&
          output.shape().num_elements() > 0)
        tensors.push_back(output);
    }
  }
  return tensors;
}

std::string Describe(const Tensor& tensor, const Array& value, int64_t i) {
  std::vector<int64_t> index;
  int64_t rest = i;
  for (const int64_t stride : value.shape().strides()) {
    index.push_back(rest / stride);
    rest %= stride;
  }
  return absl::StrCat(
      tensor.name(), " (", tensor.spec().ToString(), ") is ",
      std::isnan(value.AsDouble(i)) ? "NaN" : "Inf",
      value.shape().rank() > 0 ? absl::StrCat(" at ", Shape(std::move(index)).ToString()) : "",
      tensor.node()->op() == kVariableOp ? " since before this step" : "");
}

// " on replica 2", and if the tensor has a row for each example, ", row 5 of the batch of all
// replicas".
std::string ReplicaText(const BuiltModel& model, const Tensor& tensor, const Array& value,
                        size_t replica) {
  std::string text = absl::StrCat(" on replica ", replica);
  const int64_t rows = model.batch_size;
  if (rows > 0 && tensor.rank() > 0 && tensor.dim(0) == rows &&
      tensor.node()->op() != kVariableOp) {
    const int64_t row = *FindNonFinite(value) / (value.num_elements() / rows);
    absl::StrAppend(&text, ", row ", static_cast<int64_t>(replica) * rows + row,
                    " of the batch of all replicas");
  }
  return text;
}

// Looks at one replica's tensors in forward order. A variable or a constant can be infinite on
// purpose (the best loss so far, the logits of masked positions), and so can a tensor that is
// computed from it. These are remembered and named only if every other tensor is finite. A NaN is
// always an error.
class Search {
 public:
  // Returns the text if this is the tensor to name.
  std::optional<std::string> Look(const Tensor& tensor, const Array& value) {
    const std::optional<int64_t> i = FindNonFinite(value);
    if (!i.has_value()) return std::nullopt;
    const std::string text = Describe(tensor, value, *i);
    const std::string* source = nullptr;  // an infinite tensor that this one is computed from
    for (const Tensor& input : tensor.node()->inputs()) {
      const auto found = infinite_.find(input);
      if (found != infinite_.end()) source = &found->second;
    }
    const std::string& op = tensor.node()->op();
    const bool is_source = op == kVariableOp || op == kConstantOp;
    if (std::isnan(value.AsDouble(*i)) || (source == nullptr && !is_source))
      return source == nullptr ? text : absl::StrCat(text, " and its source ", *source);
    if (!first_infinite_source_.has_value()) first_infinite_source_ = text;
    infinite_[tensor] = is_source ? text : *source;
    return std::nullopt;
  }
  const std::optional<std::string>& first_infinite_source() const { return first_infinite_source_; }

 private:
  std::map<Tensor, std::string> infinite_;  // with the text of the tensor's source
  std::optional<std::string> first_infinite_source_;
};

}  // namespace

std::string FirstNonFiniteTensor(const BuiltModel& model, Backend& backend,
                                 const StepFeeds& feeds) {
  const std::vector<Tensor> tensors = FloatingTensors(model);
  // The program of training has most of these tensors only inside fused ops. As fetches, they are
  // computed.
  auto executable = backend.Compile(
      *model.graph, {.feeds = model.placeholders, .fetches = tensors, .updates = {}});
  if (!executable.ok()) return absl::StrCat("(not found: ", executable.status().message(), ")");
  const NonFiniteWatch watch;
  std::string found = "(every tensor is finite if the step is run again)";
  const auto outfeed = [&](int64_t, const StepFetches& fetches) {
    const bool replicas = fetches.size() > 1;
    std::vector<Search> searches(fetches.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      for (size_t replica = 0; replica < fetches.size(); ++replica) {
        const auto text = searches[replica].Look(tensors[i], fetches[replica][i]);
        if (!text.has_value()) continue;
        found = *text;
        // A loop's own outputs do not tell which of its ops gave the number.
        const std::optional<std::string> inside = watch.FirstInside(tensors[i].node()->name());
        if (inside.has_value() && !tensors[i].node()->functions().empty())
          absl::StrAppend(&found, " because ", *inside);
        if (replicas) found += ReplicaText(model, tensors[i], fetches[replica][i], replica);
        return absl::OkStatus();
      }
    }
    // Backwards, so that the name of the first replica remains.
    for (size_t replica = fetches.size(); replica-- > 0;) {
      const auto& text = searches[replica].first_infinite_source();
      if (text.has_value()) found = replicas ? absl::StrCat(*text, " on replica ", replica) : *text;
    }
    return absl::OkStatus();
  };
  const absl::Status ran = (*executable)->RunLoop(1, SameFeeds(feeds), outfeed).status();
  if (!ran.ok()) return absl::StrCat("(not found: ", ran.message(), ")");
  return found;
}

std::vector<std::string> NamesWithNaN(const std::map<std::string, Array>& variables) {
  std::vector<std::string> names;
  for (const auto& [name, value] : variables) {
    bool found = false;
    if (value.dtype() == DType::kFloat32) {  // most variables; every save checks them
      const float* const x = value.data<float>();
      const int64_t size = value.num_elements();
      int any = 0;
#pragma omp simd reduction(| : any)
      for (int64_t i = 0; i < size; ++i) any |= x[i] != x[i];
      found = any != 0;
    } else if (IsFloating(value.dtype())) {
      const std::optional<int64_t> i = FindNonFinite(value);
      found = i.has_value() && std::isnan(value.AsDouble(*i));
    }
    if (found) names.push_back(name);
  }
  return names;
}

}  // namespace estimator
