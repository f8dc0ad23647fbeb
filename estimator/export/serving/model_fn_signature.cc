#include "estimator/export/serving/model_fn_signature.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/export/any_batch/batch_instance.h"
#include "estimator/export/signature/join_keys.h"

namespace estimator {
namespace {

absl::StatusOr<const Signature*> FindSignature(const ExportGraph& built, const std::string& key) {
  const auto found = built.signatures.find(key);
  if (found != built.signatures.end()) return &found->second;
  return NotFound("the model has no signature '", key, "'; it has: ", JoinKeys(built.signatures));
}

// The model built for one batch size.
struct Sized {
  int64_t batch_size = 0;
  ExportGraph built;
  const Signature* signature = nullptr;
};

class ModelFnSignature : public ServableSignature {
 public:
  ModelFnSignature(std::string key, BatchAnalysis analysis, std::vector<std::string> obstacles)
      : key_(std::move(key)), analysis_(std::move(analysis)), obstacles_(std::move(obstacles)) {}

  absl::Status Add(int64_t batch_size, ExportGraph built) {
    EST_ASSIGN_OR_RETURN(const Signature* const signature, FindSignature(built, key_));
    spec_.method_name = signature->method_name;
    Learn(signature->inputs, spec_.inputs);
    Learn(signature->outputs, spec_.outputs);
    sized_.push_back({batch_size, std::move(built), nullptr});
    // The map's elements keep their addresses when sized_ grows and moves it.
    sized_.back().signature = &sized_.back().built.signatures.at(key_);
    return absl::OkStatus();
  }

  const std::string& name() const override { return key_; }
  const SavedSignature& signature() const override { return spec_; }

  absl::StatusOr<SignatureGraph> GraphFor(const InputShapes& shapes) const override {
    EST_ASSIGN_OR_RETURN(const Chosen chosen, Choose(shapes));
    const auto& [sized, batch_size] = chosen;
    std::vector<Tensor> roots;
    for (const auto& [name, tensor] : sized->signature->outputs) roots.push_back(tensor);
    for (const auto& [name, tensor] : sized->signature->inputs) roots.push_back(tensor);
    EST_ASSIGN_OR_RETURN(BatchInstance instance, InstantiateForBatch(analysis_, roots, batch_size));
    SignatureGraph made;
    for (const auto& [name, tensor] : sized->signature->inputs)
      made.inputs[name] = instance.Of(tensor);
    for (const auto& [name, tensor] : sized->signature->outputs)
      made.outputs[name] = instance.Of(tensor);
    EST_RETURN_IF_ERROR(CheckShapes(shapes, made, batch_size));
    AddParser(*sized, instance, made);
    made.graph = std::move(instance.graph);
    return made;
  }

  std::vector<InputShapes> SampleShapes() const override {
    std::vector<InputShapes> samples;
    // The model was built for the second size, so it takes that one if it does not take 1.
    for (const int64_t rows : {int64_t{1}, sized_[0].batch_size}) {
      InputShapes shapes;
      for (const auto& [name, tensor] : sized_[0].signature->inputs) {
        shapes[name] = tensor.shape();
        const auto line = analysis_.placeholders.find(tensor.node()->name());
        if (line == analysis_.placeholders.end()) continue;
        for (int axis = 0; axis < tensor.rank(); ++axis)
          shapes[name].set_dim(axis, rows * line->second.slope.data<int64_t>()[axis] +
                                         line->second.intercept.data<int64_t>()[axis]);
      }
      samples.push_back(std::move(shapes));
    }
    return samples;
  }

 private:
  struct Chosen {
    const Sized* sized = nullptr;
    int64_t batch_size = 0;
  };

  // Records the dtypes and shapes of tensors. A size that depends on the batch, or that differs
  // between the graphs, becomes unknown.
  void Learn(const NamedTensors& tensors, std::map<std::string, SavedTensor>& specs) const {
    for (const auto& [name, tensor] : tensors) {
      Shape shape = analysis_.ShapeOf(tensor);
      const auto known = specs.find(name);
      if (known != specs.end() && known->second.shape->rank() == shape.rank()) {
        for (int axis = 0; axis < shape.rank(); ++axis) {
          if (known->second.shape->dim(axis) != shape.dim(axis))
            shape.set_dim(axis, Shape::kUnknownDim);
        }
      }
      specs[name] = {tensor.name(), tensor.dtype(), std::move(shape)};
    }
  }

  // Chooses the graph from which to derive the graph for these shapes, and the batch size.
  absl::StatusOr<Chosen> Choose(const InputShapes& shapes) const {
    if (!obstacles_.empty()) {
      for (const Sized& sized : sized_) {
        bool fits = true;
        for (const auto& [name, shape] : shapes)
          fits = fits && sized.signature->inputs.at(name).shape() == shape;
        if (fits) return Chosen{&sized, sized.batch_size};
      }
      return InvalidArgument("the graph depends on its batch size, and was built for ",
                             absl::StrJoin(sized_, ", ",
                                           [](std::string* out, const Sized& s) {
                                             absl::StrAppend(out, s.batch_size);
                                           }),
                             " (set MakePredictorOptions::batch_sizes to build other sizes): ",
                             absl::StrJoin(obstacles_, "; "));
    }
    for (const auto& [name, shape] : shapes) {
      const auto line =
          analysis_.placeholders.find(sized_[0].signature->inputs.at(name).node()->name());
      if (line == analysis_.placeholders.end()) continue;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const int64_t slope = line->second.slope.data<int64_t>()[axis];
        if (slope == 0) continue;
        const int64_t rows = shape.dim(axis) - line->second.intercept.data<int64_t>()[axis];
        if (rows <= 0) return InvalidArgument("input '", name, "' has no rows");
        if (rows % slope != 0)
          return InvalidArgument("input '", name, "' has ", shape.dim(axis),
                                 " rows, but takes multiples of ", slope);
        // The first input that depends on the batch decides. CheckShapes compares the others.
        return Chosen{&sized_[0], rows / slope};
      }
    }
    return Chosen{&sized_[0], sized_[0].batch_size};  // no input depends on the batch
  }

  static absl::Status CheckShapes(const InputShapes& shapes, const SignatureGraph& made,
                                  int64_t batch_size) {
    std::vector<std::string> wrong;
    for (const auto& [name, shape] : shapes) {
      const Tensor& wanted = made.inputs.at(name);
      if (wanted.shape() == shape) continue;
      wrong.push_back(absl::StrCat("input '", name, "' is ", shape.ToString(), ", but must be ",
                                   wanted.shape().ToString(), " for a batch of ", batch_size));
    }
    if (wrong.empty()) return absl::OkStatus();
    return InvalidArgument("inputs have different batch sizes: ", absl::StrJoin(wrong, "; "));
  }

  static void AddParser(const Sized& sized, const BatchInstance& instance, SignatureGraph& made) {
    const std::optional<ExampleParsing>& parsing = sized.built.parsing;
    if (!parsing.has_value() || instance.nodes.count(parsing->serialized.node()) == 0) return;
    ImportedParser parser{
        .serialized = instance.Of(parsing->serialized), .specs = parsing->specs, .features = {}};
    for (const auto& [name, placeholder] : parsing->parsed) {
      if (instance.nodes.count(placeholder.node()) > 0)
        parser.features[name] = instance.Of(placeholder);
    }
    made.parsers.push_back(std::move(parser));
  }

  const std::string key_;
  const BatchAnalysis analysis_;
  const std::vector<std::string> obstacles_;
  SavedSignature spec_;
  std::vector<Sized> sized_;  // more than one if the model is tied to its batch size
};

}  // namespace

absl::StatusOr<std::unique_ptr<const ServableSignature>> MakeModelFnSignature(
    BatchModel model, const std::string& key, const ExportGraphFn& build,
    const std::vector<int64_t>& batch_sizes) {
  const bool tied = !model.obstacles.empty();
  auto made = std::make_unique<ModelFnSignature>(key, std::move(model.analysis),
                                                 std::move(model.obstacles));
  const int64_t built_for = model.batch_size;
  EST_RETURN_IF_ERROR(made->Add(built_for, std::move(model.built)));
  for (const int64_t size : batch_sizes) {
    if (!tied || size == built_for) continue;
    absl::StatusOr<ExportGraph> built = build(size);
    const absl::Status status = built.ok() ? built->graph->status() : built.status();
    EST_RETURN_IF_ERROR(Annotate(status, absl::StrCat("building for a batch of ", size)));
    EST_RETURN_IF_ERROR(made->Add(size, *std::move(built)));
  }
  return made;
}

}  // namespace estimator
