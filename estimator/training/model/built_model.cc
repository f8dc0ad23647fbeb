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
