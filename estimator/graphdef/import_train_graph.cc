#include "estimator/graphdef/import_train_graph.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import/find_training.h"
#include "estimator/graphdef/import/import_source.h"
#include "estimator/graphdef/import/obstacles.h"
#include "estimator/graphdef/import/plan.h"
#include "estimator/graphdef/import/train_importer.h"
#include "estimator/proto/serialize.h"

namespace estimator {

absl::StatusOr<TrainGraph> TrainGraph::Read(StringArg meta_path, const TrainGraphOptions& options) {
  EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(meta_path, kMaxMessageBytes));
  return Parse(bytes, meta_path, options);
}

absl::StatusOr<TrainGraph> TrainGraph::Parse(absl::string_view bytes, StringArg where,
                                             const TrainGraphOptions& options) {
  const auto shared = std::make_shared<ImportSource>();
  ImportSource& source = *shared;
  if (!ParseWithinLimit(bytes, &source.meta_graph)) {
    return InvalidArgument(where, ": cannot parse these ", bytes.size(),
                           " bytes as a MetaGraphDef");
  }
  const absl::Status status = ReadImportSource(options, source);
  if (!status.ok()) return Annotate(status, where);
  std::vector<FlatTensor> fetches;
  if (options.role != TrainGraphRole::kPredict) fetches.push_back(source.loss);
  for (const auto& [name, tensor] : source.info.outputs) {
    EST_ASSIGN_OR_RETURN(fetches.emplace_back(), source.nodes->Find(tensor));
  }
  // This plan only tells the caller which inputs are used and what prevents the import. Import
  // plans again for what it is asked to build.
  const absl::StatusOr<ImportPlan> plan =
      MakeImportPlan(source, {.training = options.role == TrainGraphRole::kTrain,
                              .with_metrics = options.role == TrainGraphRole::kEval,
                              .fetches = fetches});
  if (!plan.ok()) return Annotate(plan.status(), where);
  source.info.obstacles = plan->obstacles;
  EST_RETURN_IF_ERROR(FindStep(*plan, where, source));
  const std::set<FlatTensor> used = UsedTensors(source, *plan, fetches);
  for (size_t k = 0; k < source.inputs.size(); ++k)
    source.info.inputs[k].used = used.count(source.inputs[k]) > 0;
  return TrainGraph(shared);
}

const TrainGraphInfo& TrainGraph::info() const { return source_->info; }

namespace {

// What Import asks a file for.
struct Request {
  std::map<std::string, FlatTensor> fetches;
  PlanOptions wanted;
  ImportPlan plan;
};

absl::StatusOr<Request> MakeRequest(const ImportSource& source,
                                    const ImportTrainGraphOptions& options) {
  const TrainGraphRole role = source.info.role;
  if ((options.training && role != TrainGraphRole::kTrain) ||
      (options.with_metrics && role != TrainGraphRole::kEval) ||
      (options.with_loss && role == TrainGraphRole::kPredict)) {
    return InvalidArgument(
        "the import asks for a train_op, metrics or a loss, but the graph is for another mode and "
        "has none: see ImportTrainGraphOptions and TrainGraphInfo::role");
  }
  Request request;
  PlanOptions& wanted = request.wanted;
  wanted.training = options.training;
  wanted.with_metrics = options.with_metrics;
  wanted.average_gradients = options.training && options.num_shards > 1;
  if (options.training || options.with_loss) wanted.fetches.push_back(source.loss);
  for (const auto& [name, tensor] : options.fetches) {
    const absl::StatusOr<FlatTensor> at = source.nodes->Find(tensor);
    if (!at.ok()) return Annotate(at.status(), absl::StrCat("fetch '", name, "'"));
    request.fetches.emplace(name, *at);
    wanted.fetches.push_back(*at);
  }
  EST_ASSIGN_OR_RETURN(request.plan, MakeImportPlan(source, wanted));
  return request;
}

using OptionalSpecs = std::vector<std::optional<TensorSpec>>;

// What prevents a build with inputs of these specs. Leaves summaries out of the request if what
// only they need cannot be built.
absl::StatusOr<std::vector<TrainGraphObstacle>> TryRequest(const ImportSource& source,
                                                           ImportTrainGraphOptions options,
                                                           const OptionalSpecs& inputs,
                                                           Request& request) {
  constexpr size_t kMaxTries = 20;  // each builds the whole graph
  Obstacles obstacles;
  std::set<int> failed;
  while (failed.size() < kMaxTries) {
    // A Graph keeps its first error for ever, so each try has its own.
    Graph graph;
    const GraphScope scope(graph);
    options.inputs.clear();
    for (const std::optional<TensorSpec>& input : inputs) {
      Tensor& given = options.inputs.emplace_back();
      if (!input.has_value()) continue;
      given = graph.AddOp("Placeholder", {}, {{"dtype", input->dtype}, {"shape", input->shape}},
                          "input");
    }
    int node = -1;
    const absl::Status status =
        BuildTrainGraph(source, request.plan, options, request.fetches, graph, failed, &node)
            .status();
    if (status.ok()) break;
    if (node < 0 && obstacles.empty()) return status;
    if (node < 0) break;
    // The table has a column for the name. In a branch, the names of its functions come before.
    std::string reason = absl::StrCat(": ", status.message());
    for (const std::string& name : {source.nodes->Where(node), source.nodes->node(node).name}) {
      const size_t found = reason.find(absl::StrCat(": ", name, ": "));
      if (found != std::string::npos) reason.erase(0, found + name.size() + 2);
    }
    reason.erase(0, 2);
    const bool essential = request.plan.essential[static_cast<size_t>(node)];
    if (!essential && request.wanted.unbuildable.emplace(node, reason).second) {
      EST_ASSIGN_OR_RETURN(request.plan, MakeImportPlan(source, request.wanted));
      continue;
    }
    if (!failed.insert(node).second) break;
    obstacles.Add(source.nodes->node(node), reason);
  }
  return obstacles.list();
}

}  // namespace

absl::StatusOr<ImportedTrainGraph> TrainGraph::Import(const ImportTrainGraphOptions& options,
                                                      Graph& graph) const {
  EST_RETURN_IF_ERROR(graph.status());
  const GraphScope scope(graph);
  EST_ASSIGN_OR_RETURN(Request request, MakeRequest(*source_, options));
  EST_RETURN_IF_ERROR(ObstacleError(request.plan.obstacles, kImporter, ""));
  // What only summaries need must not fail in `graph`, which keeps errors.
  if (request.plan.needed != request.plan.essential) {
    OptionalSpecs inputs;
    for (const Tensor& input : options.inputs)
      inputs.push_back(input.valid() ? std::optional(input.spec()) : std::nullopt);
    EST_RETURN_IF_ERROR(TryRequest(*source_, options, inputs, request).status());
  }
  return BuildTrainGraph(*source_, request.plan, options, request.fetches, graph);
}

absl::StatusOr<std::vector<TrainGraphObstacle>> TrainGraph::TryImport(
    ImportTrainGraphOptions options, const std::vector<TensorSpec>& inputs) const {
  EST_ASSIGN_OR_RETURN(Request request, MakeRequest(*source_, options));
  if (!request.plan.obstacles.empty()) return request.plan.obstacles;
  return TryRequest(*source_, std::move(options), {inputs.begin(), inputs.end()}, request);
}

}  // namespace estimator
