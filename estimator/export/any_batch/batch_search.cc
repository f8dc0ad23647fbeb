#include "estimator/export/any_batch/batch_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/export/any_batch/batch_instance.h"
#include "estimator/export/any_batch/graph_difference.h"

namespace estimator {
namespace {

// Sizes are multiples of one of these units, which are tried in this order.
constexpr int64_t kUnits[] = {1, 8, 120, 1280};
// Sizes at which the result is checked, rounded up to a multiple of the unit.
constexpr int64_t kProofs[] = {2, 3, 5, 64, 131, 1031, 4099, 65537};

// Sizes to compare. 1 is not among them, because it broadcasts.
std::vector<int64_t> SmallSizes(int64_t unit) { return {2 * unit, 3 * unit, 5 * unit}; }

// For models that treat small tensors differently: Zeros of up to 1000 elements is a Const, and a
// larger one is a Fill.
std::vector<int64_t> LargeSizes(int64_t unit) {
  const int64_t first = (1021 + unit - 1) / unit * unit;
  return {first, first + 10 * unit, first + 12 * unit};
}

class Search {
 public:
  Search(const ExportGraphFn& build, const BatchSearchOptions& options)
      : build_(build), options_(options) {}

  absl::StatusOr<BatchModel> Run() {
    std::vector<int64_t> units(std::begin(kUnits), std::end(kUnits));
    units.push_back(std::max<int64_t>(1, options_.static_batch_size));
    for (const int64_t unit : units) {
      if (!Compare(SmallSizes(unit))) continue;  // refused
      std::vector<std::string> obstacles = result_.analysis.obstacles;
      if (!obstacles.empty() && Compare(LargeSizes(unit)) && result_.analysis.obstacles.empty())
        obstacles.clear();
      if (obstacles.empty()) obstacles = Contradictions(unit);
      if (obstacles.empty()) return std::move(result_);
      return Tied(std::move(obstacles));
    }
    return Tied({absl::StrCat("the model refuses other batch sizes: ", refusal_.message())});
  }

 private:
  absl::StatusOr<ExportGraph> Build(int64_t size) {
    absl::StatusOr<ExportGraph> built = build_(size);
    if (built.ok() && !built->graph->status().ok()) built = absl::Status(built->graph->status());
    if (!built.ok()) {
      if (refusal_.ok()) refusal_ = built.status();
      result_.refused.push_back({size, std::string(built.status().message())});
    }
    return built;
  }

  // Returns the tensors that the exported file will contain.
  std::vector<BatchRoot> Roots(const ExportGraph& built) const {
    std::vector<BatchRoot> roots = ExportRoots(built);
    if (options_.prune) return roots;
    for (const auto& node : built.graph->nodes())
      roots.push_back(
          {absl::StrCat("node '", node->name(), "'"), Tensor(built.graph.get(), node.get(), 0)});
    return roots;
  }

  // Analyzes three sizes. Returns false if the model refuses one of them.
  bool Compare(const std::vector<int64_t>& sizes) {
    std::vector<ExportGraph> built;
    std::vector<SizedGraph> graphs;
    for (const int64_t size : sizes) {
      absl::StatusOr<ExportGraph> one = Build(size);
      if (!one.ok()) return false;
      graphs.push_back({one->graph.get(), size, Roots(*one)});
      built.push_back(*std::move(one));
    }
    result_.analysis = AnalyzeBatch(graphs);
    result_.built = std::move(built[0]);
    result_.batch_size = sizes[0];
    compared_ = sizes;
    return true;
  }

  // Returns the first size at which the model differs from the result of the analysis, as an
  // obstacle. Returns none if all tried sizes agree.
  std::vector<std::string> Contradictions(int64_t unit) {
    const std::vector<BatchRoot> roots = ExportRoots(result_.built);
    std::vector<Tensor> tensors;
    for (const BatchRoot& root : roots) tensors.push_back(root.tensor);
    for (const int64_t proof : kProofs) {
      const int64_t size = (proof + unit - 1) / unit * unit;
      const bool done = std::count(compared_.begin(), compared_.end(), size) > 0;
      compared_.push_back(size);
      // An instance has its constants in memory, and a proof is not worth gigabytes.
      if (done || LargestConstantBytes(result_.analysis, size) > options_.max_constant_bytes)
        continue;
      const absl::StatusOr<BatchInstance> instance =
          InstantiateForBatch(result_.analysis, tensors, size);
      const size_t num_refused = result_.refused.size();
      const absl::StatusOr<ExportGraph> built = Build(size);
      if (!built.ok()) {
        // If the instance cannot be made either, the size is too large for the ops. It is then not
        // a size that the model refuses.
        if (!instance.ok()) result_.refused.resize(num_refused);
        continue;
      }
      std::optional<std::string> difference =
          instance.ok() ? Difference(*instance, roots, ExportRoots(*built))
                        : std::string(instance.status().message());
      if (!difference.has_value()) continue;
      return {absl::StrCat("the model at batch size ", size, " differs from what sizes ",
                           compared_[0], ", ", compared_[1], " and ", compared_[2],
                           " predict: ", *difference)};
    }
    return {};
  }

  static std::optional<std::string> Difference(const BatchInstance& instance,
                                               const std::vector<BatchRoot>& roots,
                                               const std::vector<BatchRoot>& built) {
    std::vector<std::pair<Tensor, Tensor>> pairs;
    for (size_t i = 0; i < std::min(roots.size(), built.size()); ++i) {
      if (roots[i].what != built[i].what)
        return absl::StrCat("it has ", built[i].what, " instead of ", roots[i].what);
      // The default seed of an initializer is the number of ops before it, and that may depend on
      // the batch: Zeros() is one op or two, depending on its size.
      if (roots[i].initial_value) continue;
      pairs.emplace_back(instance.Of(roots[i].tensor), built[i].tensor);
    }
    if (roots.size() > built.size()) return absl::StrCat("it lacks ", roots[built.size()].what);
    if (roots.size() < built.size()) return absl::StrCat("it has ", built[roots.size()].what);
    return GraphDifference(pairs);
  }

  absl::StatusOr<BatchModel> Tied(std::vector<std::string> obstacles) {
    // The graph is written as it is built, without the sizes of an analysis that failed.
    result_.analysis = BatchAnalysis();
    result_.batch_size = options_.static_batch_size;
    absl::StatusOr<ExportGraph> built = Build(options_.static_batch_size);
    if (!built.ok()) {
      // A model refuses a size with INVALID_ARGUMENT. Other errors are not about the batch.
      if (!absl::IsInvalidArgument(refusal_)) return refusal_;
      const std::string sizes =
          absl::StrJoin(result_.refused, ", ", [](std::string* out, const RefusedBatch& refused) {
            absl::StrAppend(out, refused.batch_size);
          });
      return absl::Status(
          refusal_.code(),
          absl::StrCat(refusal_.message(), " (built for batches of ", sizes,
                       "; if the model takes certain sizes only, pass one to the input receiver as "
                       "default_batch_size)"));
    }
    result_.built = *std::move(built);
    result_.obstacles = std::move(obstacles);
    return std::move(result_);
  }

  const ExportGraphFn& build_;
  const BatchSearchOptions& options_;
  BatchModel result_;
  absl::Status refusal_;           // the first one
  std::vector<int64_t> compared_;  // sizes that AnalyzeBatch compared
};

}  // namespace

std::vector<BatchRoot> ExportRoots(const ExportGraph& built) {
  std::vector<BatchRoot> roots;
  for (const auto& [key, signature] : built.signatures) {
    for (const auto& [name, tensor] : signature.inputs)
      roots.push_back({absl::StrCat("input '", name, "' of signature '", key, "'"), tensor});
    for (const auto& [name, tensor] : signature.outputs)
      roots.push_back({absl::StrCat("output '", name, "' of signature '", key, "'"), tensor});
  }
  for (const Variable& variable : built.graph->variables()) {
    roots.push_back({absl::StrCat("variable '", variable.name(), "'"), variable.read()});
    roots.push_back({.what = absl::StrCat("the initial value of '", variable.name(), "'"),
                     .tensor = variable.initial_value(),
                     .initial_value = true});
  }
  if (built.train_op.valid())
    roots.push_back({"the train_op", Tensor(built.graph.get(), built.train_op.node(), 0)});
  return roots;
}

absl::StatusOr<BatchModel> FindBatchModel(const ExportGraphFn& build,
                                          const BatchSearchOptions& options) {
  return Search(build, options).Run();
}

}  // namespace estimator
