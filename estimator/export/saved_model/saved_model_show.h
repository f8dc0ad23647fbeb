// Describes the contents of a SavedModel with the text of TensorFlow's `saved_model_cli show`.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_SHOW_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_SHOW_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// The saved_model.pb or saved_model.pbtxt of one directory, written by us or by TensorFlow, or a
// `.meta` file, which is one graph without tags.
class SavedModelShow {
 public:
  // Errors: as ReadSavedModelProto and ReadMetaGraph.
  static absl::StatusOr<SavedModelShow> Open(absl::string_view dir);
  ~SavedModelShow();
  SavedModelShow(SavedModelShow&&) noexcept;

  // Below, `tag_set` is the tags of one graph, such as "serve" or "serve,tpu".
  // Errors: NOT_FOUND naming the existing ones for an unknown tag-set or signature.
  std::string TagSets() const;
  absl::StatusOr<std::string> SignatureKeys(absl::string_view tag_set) const;
  absl::StatusOr<std::string> InputsAndOutputs(absl::string_view tag_set,
                                               const std::string& signature_key) const;
  absl::StatusOr<std::string> Ops(absl::string_view tag_set) const;
  // Says how to name the tensors of graphs without signatures. "" if all graphs have signatures.
  std::string Tensors() const;
  // Tag-sets, signatures and ops.
  std::string All() const;

 private:
  struct Rep;
  explicit SavedModelShow(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_SHOW_H_
