#include "estimator/training/model/built_model.h"

#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/ops/constant.h"

namespace estimator {

std::string InputSlot::ToString() const {
  const char* what = is_label ? "labels" : "features";
  return name.empty() ? what : absl::StrCat(what, "['", name, "']");
}

std::vector<InputSlot> SlotsOf(const Element& element, Mode mode) {
  std::vector<InputSlot> slots;
  for (const auto& [name, array] : element.features) {
    slots.push_back({.is_label = false, .name = name, .spec = {array.dtype(), array.shape()}});
  }
  if (mode == Mode::kPredict) return slots;
  for (const auto& [name, array] : element.labels) {
    slots.push_back({.is_label = true, .name = name, .spec = {array.dtype(), array.shape()}});
  }
  return slots;
}

absl::StatusOr<std::vector<Array>> FeedsOf(const std::vector<InputSlot>& slots,
                                           const Element& element) {
  std::vector<Array> feeds;
  feeds.reserve(slots.size());
  for (const InputSlot& slot : slots) {
    const ArrayMap& arrays = slot.is_label ? element.labels : element.features;
    const auto found = arrays.find(slot.name);
    if (found == arrays.end()) {
      return absl::InvalidArgumentError(absl::StrCat("input_fn gave no ", slot.ToString(),
                                                     " in this element; earlier ones had it as ",
                                                     slot.spec.ToString()));
    }
    const TensorSpec given{found->second.dtype(), found->second.shape()};
    if (!(given == slot.spec)) {
      return absl::InvalidArgumentError(absl::StrCat(
          slot.ToString(), " is ", given.ToString(), ", the model was built for ",
          slot.spec.ToString(),
          ": shapes are static; give Batch a .drop_remainder, or make every element of one shape"));
    }
    feeds.push_back(found->second);
  }
  return feeds;
}

int64_t NumRows(const Element& element, absl::Span<const int64_t> batch_axis) {
  const bool fits = batch_axis.size() == element.features.size() + element.labels.size();
  size_t i = 0;
  for (const ArrayMap* arrays : {&element.features, &element.labels}) {
    for (const auto& [name, array] : *arrays) {
      const int64_t axis = fits ? batch_axis[i++] : 0;
      if (array.shape().rank() > axis) return array.shape().dim(static_cast<int>(axis));
    }
  }
  return 0;
}

namespace {

// TensorFlow's GraphDef has no word for a nameless input; slots show up in the graph under these
// names.
std::string PlaceholderName(const InputSlot& slot) {
  const char* what = slot.is_label ? "labels" : "features";
  if (slot.name.empty()) return what;
  std::string name = absl::StrCat(what, "/", slot.name);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) &&
        !absl::StrContains("_./-", absl::string_view(&c, 1)))
      c = '_';
  }
  return name;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BuiltModel>> BuildModel(const Strategy& strategy,
                                                       const Element& element,
                                                       const BuildOptions& options) {
  auto model = std::make_unique<BuiltModel>();
  model->graph = std::make_unique<Graph>();
  Graph& graph = *model->graph;
  graph.set_seed(options.seed);
  model->num_replicas = options.num_replicas;
  const ReplicaScope replicas(
      {.num_shards = options.num_replicas, .dense_gradients = strategy.on_replicas()});
  model->slots = SlotsOf(element, options.mode);
  model->batch_size = NumRows(element, strategy.batch_axis(options.mode));

  const GraphScope scope(graph);
  GetOrCreateGlobalStep();
  std::map<std::string, Tensor> features, labels;
  for (const InputSlot& slot : model->slots) {
    const Tensor placeholder = Placeholder(slot.spec.dtype, slot.spec.shape, PlaceholderName(slot));
    model->placeholders.push_back(placeholder);
    (slot.is_label ? labels : features)[slot.name] = placeholder;
  }
  EST_ASSIGN_OR_RETURN(
      model->spec,
      CallModelFn(strategy, graph, Features(&graph, "features", std::move(features)),
                  Labels(&graph, "labels", std::move(labels)), options.mode, model->batch_size));
  if (model->spec.scaffold_fn) model->scaffold = model->spec.scaffold_fn();
  model->summed_bare_optimizer = replicas.summed_bare_optimizer();
  EST_RETURN_IF_ERROR(graph.status());
  return model;
}

absl::StatusOr<ModelSpec> CallModelFn(const Strategy& strategy, const Graph& graph,
                                      const Features& features, const Labels& labels, Mode mode,
                                      int64_t batch_size) {
  absl::StatusOr<ModelSpec> spec = strategy.CallModelFn(features, labels, mode, batch_size);
  // The graph's first error is nearer to its cause than what the spec made of invalid handles.
  EST_RETURN_IF_ERROR(graph.status());
  if (!spec.ok()) return spec.status();
  if (spec->mode != mode) {
    return absl::InvalidArgumentError(absl::StrCat("model_fn was called for mode ", ModeName(mode),
                                                   " and returned a spec for mode ",
                                                   ModeName(spec->mode)));
  }
  EST_RETURN_IF_ERROR(ValidateModelSpec(graph, *spec));
  return spec;
}

}  // namespace estimator
