// SavedModelReader: reads the files of an exported model, written by us or by TensorFlow.
// load_predictor.h runs its signatures.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_READER_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_READER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/export/signature/saved_signature.h"
#include "estimator/export/signature/servable_signature.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// The files of one MetaGraph. Thread-safe.
class SavedModelReader {
 public:
  // Opens one MetaGraph. A model without variables needs no checkpoint.
  //   path: a SavedModel's directory (see saved_model_proto.h for its files), or a `.meta` file
  //   with
  //     its checkpoint beside it.
  //   tags: exactly the tags of the MetaGraph. Not used for a `.meta` file.
  // Errors: NOT_FOUND if there is no such file; NOT_FOUND naming the existing tags if no MetaGraph
  // has these; DATA_LOSS if the file is not well-formed; as BundleReader::Open.
  static absl::StatusOr<std::unique_ptr<SavedModelReader>> Open(
      absl::string_view path, const std::set<std::string>& tags = {"serve"});
  ~SavedModelReader();
  SavedModelReader(const SavedModelReader&) = delete;
  SavedModelReader& operator=(const SavedModelReader&) = delete;

  // The signatures by name, without those that only initialize. A `.meta` file usually has none:
  // for it, make a SavedSignature of the tensors that you need.
  const std::map<std::string, SavedSignature>& signatures() const;
  // Returns the signature of this name. Errors: NOT_FOUND naming the existing signatures.
  absl::StatusOr<SavedSignature> Signature(absl::string_view name) const;

  // Returns the graph of a signature for inputs of these shapes.
  //   signature: one of signatures(), or one that the caller makes.
  //   input_shapes: a shape for every input that the outputs need.
  // Errors: as ImportGraphDef.
  absl::StatusOr<SignatureGraph> Import(const SavedSignature& signature,
                                        const InputShapes& input_shapes) const;
  // Reads those of `variables` that are not yet in `store`. Use one store for each signature,
  // because graphs of different signatures may use the same name for different variables.
  // Errors: the first error of ReadVariable.
  absl::Status LoadVariables(const std::vector<ImportedVariable>& variables,
                             VariableStore& store) const;

 private:
  struct Rep;
  explicit SavedModelReader(std::unique_ptr<const Rep> rep);
  const std::unique_ptr<const Rep> rep_;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_READER_H_
