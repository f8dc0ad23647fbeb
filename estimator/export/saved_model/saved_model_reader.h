// SavedModelReader: the files of what TensorFlow (or we) exported, read without TensorFlow.
// load_predictor.h runs their signatures.
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
  // The signature is one of the MetaGraph, or one that the caller puts together.
  // Errors: as ImportGraphDef.
  absl::StatusOr<SignatureGraph> Import(const SavedSignature& signature,
                                        const InputShapes& input_shapes) const;
  // Reads those of `variables` that `store` has not got yet. A store is for one signature: graphs
  // of others may have the same names for other variables. Errors: as ReadVariable, the first one.
  absl::Status LoadVariables(const std::vector<ImportedVariable>& variables,
                             VariableStore& store) const;

 private:
  struct Rep;
  explicit SavedModelReader(std::unique_ptr<const Rep> rep);
  const std::unique_ptr<const Rep> rep_;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_READER_H_
