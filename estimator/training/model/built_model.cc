#include "estimator/training/model/built_model.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/ops/constant.h"

namespace estimator {
namespace {

// The name of a slot's placeholder in the graph. A GraphDef allows these characters only.
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

// Calls model_fn in `graph`, the current graph, and checks what it returned.
absl::StatusOr<ModelSpec> CallModelFn(const Strategy& strategy, const Graph& graph,
                                      const Features& features, const Labels& labels, Mode mode,
                                      int64_t batch_size) {
  absl::StatusOr<ModelSpec> spec = strategy.CallModelFn(features, labels, mode, batch_size);
  // An op that failed made invalid handles, and the spec complains about those. The graph's first
  // error names the cause, so it is the one to report.
  EST_RETURN_IF_ERROR(graph.status());
  if (!spec.ok()) return spec.status();
  if (spec->mode != mode) {
    return InvalidArgument("model_fn was called for mode ", ModeName(mode),
                           " and returned a spec for mode ", ModeName(spec->mode));
  }
  EST_RETURN_IF_ERROR(ValidateModelSpec(graph, *spec));
  return spec;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BuiltModel>> BuildModelFrom(const Strategy& strategy, Mode mode,
                                                           std::optional<int64_t> seed,
                                                           const Replicas& replicas,
                                                           const ModelInputsFn& make_inputs) {
  auto model = std::make_unique<BuiltModel>();
  model->graph = std::make_unique<Graph>();
  Graph& graph = *model->graph;
  graph.set_seed(seed);
  model->num_replicas = replicas.num_replicas;
  model->learning_rate_scale = replicas.learning_rate_scale;
  // What is built below asks it for the number of replicas.
  const ReplicaScope replica_scope(replicas);

  const GraphScope scope(graph);
  // TensorFlow makes it first as well, so that the graphs have the same numbers of nodes and random
  // ops the same seeds.
  GetOrCreateGlobalStep();
  EST_ASSIGN_OR_RETURN(ModelInputs inputs, make_inputs());
  model->batch_size = inputs.batch_size;
  EST_ASSIGN_OR_RETURN(
      model->spec,
      CallModelFn(strategy, graph, Features(&graph, "features", std::move(inputs.features)),
                  Labels(&graph, "labels", std::move(inputs.labels)), mode, model->batch_size));
  // The function may add nodes, so it is called once, while the graph is the current one.
  if (model->spec.scaffold_fn) model->scaffold = model->spec.scaffold_fn();
  model->summed_bare_optimizer = replica_scope.summed_bare_optimizer();
  EST_RETURN_IF_ERROR(graph.status());
  return model;
}

absl::StatusOr<std::unique_ptr<BuiltModel>> BuildModel(const Strategy& strategy,
                                                       const Element& element,
                                                       const BuildOptions& options) {
  std::vector<InputSlot> slots = SlotsOf(element, options.mode);
  std::vector<Tensor> placeholders;
  const auto make_inputs = [&]() -> absl::StatusOr<ModelInputs> {
    ModelInputs inputs;
    inputs.batch_size = NumRows(element, strategy.batch_axis(options.mode));
    for (const InputSlot& slot : slots) {
      placeholders.push_back(Placeholder(slot.spec.dtype, slot.spec.shape, PlaceholderName(slot)));
      (slot.is_label ? inputs.labels : inputs.features)[slot.name] = placeholders.back();
    }
    return inputs;
  };
  EST_ASSIGN_OR_RETURN(
      std::unique_ptr<BuiltModel> model,
      BuildModelFrom(strategy, options.mode, options.seed,
                     {.num_replicas = options.num_replicas,
                      .dense_gradients = strategy.on_replicas() || options.num_replicas > 1,
                      .learning_rate_scale = options.learning_rate_scale},
                     make_inputs));
  model->slots = std::move(slots);
  model->placeholders = std::move(placeholders);
  return model;
}

}  // namespace estimator
