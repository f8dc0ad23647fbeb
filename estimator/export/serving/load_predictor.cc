#include "estimator/export/serving/load_predictor.h"

#include <map>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/export/signature/join_keys.h"

namespace estimator {
namespace {

class SavedSignatureSource : public ServableSignature {
 public:
  SavedSignatureSource(std::shared_ptr<const SavedModelReader> reader, std::string name,
                       SavedSignature signature, std::optional<int64_t> batch_size)
      : reader_(std::move(reader)),
        name_(std::move(name)),
        signature_(std::move(signature)),
        batch_size_(batch_size) {}

  const std::string& name() const override { return name_; }
  const SavedSignature& signature() const override { return signature_; }
  absl::StatusOr<SignatureGraph> GraphFor(const InputShapes& shapes) const override {
    return reader_->Import(signature_, shapes);
  }
  absl::Status LoadVariables(const SignatureGraph& graph, VariableStore& store) const override {
    return reader_->LoadVariables(graph.variables, store);
  }

  // A batch of 1 is the likeliest to work. 2, 8 and 120 are for models that reshape to groups of
  // rows.
  std::vector<InputShapes> SampleShapes() const override {
    std::vector<InputShapes> samples;
    std::vector<int64_t> sizes = {1, 2, 8, 120};
    if (batch_size_.has_value()) sizes.insert(sizes.begin(), *batch_size_);
    for (const int64_t rows : sizes) {
      InputShapes shapes;
      for (const auto& [name, input] : signature_.inputs) {
        // Then no shapes can be guessed, and the first request compiles.
        if (!input.shape.has_value()) return {};
        Shape shape = *input.shape;
        if (shape.rank() > 0 && shape.dim(0) == Shape::kUnknownDim) shape.set_dim(0, rows);
        if (!shape.fully_known()) return {};
        shapes[name] = std::move(shape);
      }
      samples.push_back(std::move(shapes));
    }
    return samples;
  }

 private:
  const std::shared_ptr<const SavedModelReader> reader_;
  const std::string name_;
  const SavedSignature signature_;
  const std::optional<int64_t> batch_size_;
};

absl::Status KeepOutputs(const std::vector<std::string>& names, SavedSignature& signature) {
  std::map<std::string, SavedTensor> outputs;
  for (const std::string& name : names) {
    const auto found = signature.outputs.find(name);
    if (found == signature.outputs.end()) {
      return NotFound("the signature has no output '", name, "'; it has ",
                      JoinKeys(signature.outputs));
    }
    outputs.insert(*found);
  }
  if (!names.empty()) signature.outputs = std::move(outputs);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Predictor>> Load(std::shared_ptr<const SavedModelReader> reader,
                                                const std::string& name, SavedSignature signature,
                                                const LoadPredictorOptions& options) {
  if (options.batch_size.has_value() && *options.batch_size < 1) {
    return InvalidArgument("LoadPredictorOptions.batch_size must be positive, got ",
                           *options.batch_size);
  }
  EST_RETURN_IF_ERROR(KeepOutputs(options.outputs, signature));
  return Predictor::Create(std::make_unique<SavedSignatureSource>(
                               std::move(reader), name, std::move(signature), options.batch_size),
                           std::make_shared<VariableStore>(), options.predictor);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Predictor>> LoadPredictor(StringArg saved_model_dir,
                                                         const LoadPredictorOptions& options) {
  EST_ASSIGN_OR_RETURN(std::shared_ptr<const SavedModelReader> reader,
                       SavedModelReader::Open(saved_model_dir, options.tags));
  EST_ASSIGN_OR_RETURN(SavedSignature signature, reader->Signature(options.signature_key));
  return Load(std::move(reader), options.signature_key, std::move(signature), options);
}

absl::StatusOr<std::unique_ptr<Predictor>> LoadPredictor(
    std::shared_ptr<const SavedModelReader> reader, SavedSignature signature,
    const LoadPredictorOptions& options) {
  return Load(std::move(reader), "", std::move(signature), options);
}

}  // namespace estimator
