// SavedModelReader: runs what TensorFlow (or we) exported, without TensorFlow.
//
//   EST_ASSIGN_OR_RETURN(auto model, SavedModelReader::Open("export/1700000000"));
//   EST_ASSIGN_OR_RETURN(auto serve, model->Load("serving_default"));
//   EST_ASSIGN_OR_RETURN(auto outputs, serve->Run({{"image", images}}));
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_READER_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_READER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/shape.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import_graph_def.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// A tensor of a signature, as the file describes it.
struct SavedTensor {
  std::string tensor_name;        // "Placeholder:0"; empty for a sparse tensor
  DType dtype = DType::kInvalid;  // kInvalid for what has no DType (complex64, variant, ...)
  std::optional<Shape> shape;  // unknown sizes are kUnknownDim; nullopt: not even the rank is known

  std::string ToString() const;  // "f32 [?,28,28,1]"
};

struct SavedSignature {
  std::string method_name;  // "tensorflow/serving/predict"
  std::map<std::string, SavedTensor> inputs;
  std::map<std::string, SavedTensor> outputs;
};

// A signature as a graph, for inputs of one set of shapes.
struct SavedSignatureGraph {
  std::unique_ptr<Graph> graph;
  std::map<std::string, Tensor> inputs;  // placeholders, by the signature's names
  std::map<std::string, Tensor> outputs;
  // Inputs that are serialized Examples go through these; such an input is no feed of a program.
  std::vector<ImportedParser> parsers;
  std::vector<ImportedVariable> variables;
};

struct LoadSignatureOptions {
  // By name. None: all outputs of the signature.
  std::vector<std::string> outputs = {};
};

class SignatureRunner;

// The files of one MetaGraph. Thread-safe.
class SavedModelReader {
 public:
  // `path`: a SavedModel's directory (of either form, see read_saved_model.h), whose MetaGraph with
  // exactly these tags is meant; or a `.meta` file, whose checkpoint stands beside it.
  // Errors: NOT_FOUND if there is no such file, or no MetaGraph with these tags, naming those there
  // are; DATA_LOSS if it is not well-formed; as BundleReader::Open. A model without variables needs
  // no checkpoint.
  static absl::StatusOr<std::unique_ptr<SavedModelReader>> Open(
      absl::string_view path, const std::set<std::string>& tags = {"serve"});
  ~SavedModelReader();
  SavedModelReader(const SavedModelReader&) = delete;
  SavedModelReader& operator=(const SavedModelReader&) = delete;

  // By name, without those that only initialize. A `.meta` file has mostly none: say which tensors.
  const std::map<std::string, SavedSignature>& signatures() const;
  // Errors: NOT_FOUND naming those there are.
  absl::StatusOr<SavedSignature> Signature(absl::string_view name) const;

  // The signature's graph for inputs of these shapes; every input that the outputs need has one.
  // Errors: as ImportGraphDef.
  absl::StatusOr<SavedSignatureGraph> Import(const SavedSignature& signature,
                                             const std::map<std::string, Shape>& input_shapes,
                                             const LoadSignatureOptions& options = {}) const;
  // Reads those of `variables` that `store` has not got yet. A store is for one signature: graphs
  // of others may have the same names for other variables. Errors: as ReadVariable, the first one.
  absl::Status LoadVariables(const std::vector<ImportedVariable>& variables,
                             VariableStore& store) const;

  // What runs a signature; one of the MetaGraph, or one that the caller puts together.
  // Nothing is compiled before the first Run. The reader outlives the runner.
  absl::StatusOr<std::unique_ptr<SignatureRunner>> Load(
      absl::string_view signature, const LoadSignatureOptions& options = {}) const;
  absl::StatusOr<std::unique_ptr<SignatureRunner>> Load(
      const SavedSignature& signature, const LoadSignatureOptions& options = {}) const;

 private:
  struct Rep;
  explicit SavedModelReader(std::unique_ptr<const Rep> rep);
  const std::unique_ptr<const Rep> rep_;
};

// Runs a signature on the CPU. Keeps a program for every set of input shapes that it has seen, over
// one copy of the variables. Not thread-safe.
class SignatureRunner {
 public:
  ~SignatureRunner();
  SignatureRunner(const SignatureRunner&) = delete;
  SignatureRunner& operator=(const SignatureRunner&) = delete;

  // As SavedModelReader::Load.
  static absl::StatusOr<std::unique_ptr<SignatureRunner>> Create(
      const SavedModelReader& reader, const SavedSignature& signature,
      const LoadSignatureOptions& options);

  const SavedSignature& signature() const;
  // Takes the inputs that the outputs need; others may be left out.
  // Errors: INVALID_ARGUMENT naming the inputs that are missing, unknown, or of another dtype or
  // shape than the signature says; as Import; as ParseSingleExample, with the row.
  absl::StatusOr<std::map<std::string, Array>> Run(const std::map<std::string, Array>& inputs);

 private:
  struct Rep;
  explicit SignatureRunner(std::unique_ptr<Rep> rep);
  const std::unique_ptr<Rep> rep_;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_READER_H_
