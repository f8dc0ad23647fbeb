#include "estimator/export/load_predictor.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/export/saved_model_reader.h"

namespace estimator {
namespace {

// The shapes of the inputs of a request of `batch_size` rows.
absl::StatusOr<std::map<std::string, Shape>> ShapesFor(const SavedSignature& signature,
                                                       int64_t batch_size) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, input] : signature.inputs) {
    if (!input.shape.has_value()) {
      return absl::UnimplementedError(
          absl::StrCat("input '", name, "' is ", input.ToString(), ": its rank must be known"));
    }
    Shape shape = *input.shape;
    if (shape.rank() > 0 && shape.dim(0) == Shape::kUnknownDim) shape.set_dim(0, batch_size);
    if (!shape.fully_known()) {
      return absl::UnimplementedError(absl::StrCat("input '", name, "' is ", input.ToString(),
                                                   ": only its first size may be open"));
    }
    shapes[name] = std::move(shape);
  }
  return shapes;
}

absl::StatusOr<ExportGraph> BuildFrom(const SavedModelReader& reader,
                                      const LoadPredictorOptions& options, int64_t batch_size,
                                      std::vector<ImportedVariable>* variables) {
  EST_ASSIGN_OR_RETURN(const SavedSignature signature, reader.Signature(options.signature_key));
  EST_ASSIGN_OR_RETURN(const auto shapes, ShapesFor(signature, batch_size));
  EST_ASSIGN_OR_RETURN(SavedSignatureGraph imported, reader.Import(signature, shapes));
  if (imported.parsers.size() > 1) {
    return absl::UnimplementedError(absl::StrCat("signature '", options.signature_key, "' parses ",
                                                 imported.parsers.size(),
                                                 " inputs of Examples; one is supported"));
  }
  ExportGraph built;
  built.graph = std::move(imported.graph);
  built.signatures[options.signature_key] = {signature.method_name, std::move(imported.inputs),
                                             std::move(imported.outputs)};
  for (ImportedParser& parser : imported.parsers) {
    built.parsing = {parser.serialized, std::move(parser.specs), std::move(parser.features)};
  }
  if (variables != nullptr) *variables = std::move(imported.variables);
  return built;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Predictor>> LoadPredictor(absl::string_view saved_model_dir,
                                                         const LoadPredictorOptions& options) {
  EST_ASSIGN_OR_RETURN(std::unique_ptr<SavedModelReader> opened,
                       SavedModelReader::Open(saved_model_dir, options.tags));
  const std::shared_ptr<const SavedModelReader> reader = std::move(opened);
  std::vector<ImportedVariable> variables;
  EST_ASSIGN_OR_RETURN(const ExportGraph first, BuildFrom(*reader, options, 1, &variables));
  auto store = std::make_shared<VariableStore>();
  EST_RETURN_IF_ERROR(reader->LoadVariables(variables, *store));
  const auto build = [reader, options](int64_t batch_size) {
    return BuildFrom(*reader, options, batch_size, nullptr);
  };
  return Predictor::Create(build, std::move(store), options.signature_key, options.predictor);
}

}  // namespace estimator
