// Predictor: serves one signature of a model, loaded once, to any number of threads.
//
//   EST_ASSIGN_OR_RETURN(const auto predictor, estimator.MakePredictor(receiver_fn));
//   EST_ASSIGN_OR_RETURN(const ArrayMap outputs, predictor->Predict({{"image", images}}));
//
// Shapes are static in a program, so it compiles one for each batch size (in general: each set of
// input shapes) that is asked for, and keeps the last few: memory stays flat however many requests
// come. model_fn was called, and files were read, when the Predictor was made; a request does
// neither. The first request of a size pays for compiling, milliseconds for a small network: where
// sizes are many, pad requests to a few, as only the caller knows whether rows stand for
// themselves.
#ifndef ESTIMATOR_EXPORT_SERVING_PREDICTOR_H_
#define ESTIMATOR_EXPORT_SERVING_PREDICTOR_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/export/signature/servable_signature.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

struct PredictorOptions {
  // Sets of input shapes whose programs are kept, a session; the one that was not used the longest
  // goes.
  int max_programs = 8;
  // Requests that run at the same time, each in a memory of its own; others wait. One request uses
  // all cores already.
  int num_sessions = 1;
  CompileOptions compile_options = {};
};

// Thread-safe.
class Predictor {
 public:
  // `variables`: nobody else writes to them any more.
  // Errors: INVALID_ARGUMENT for options out of range; what is wrong with the model, such as
  // FAILED_PRECONDITION naming variables without a value: it is compiled for a first size here.
  static absl::StatusOr<std::unique_ptr<Predictor>> Create(
      std::unique_ptr<const ServableSignature> source, std::shared_ptr<VariableStore> variables,
      const PredictorOptions& options = {});
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  // The outputs of a request, by the signature's names. A request has any number of rows > 0 (but
  // for a model that takes one size only), and all the inputs that the outputs need. A serialized
  // tf.train.Example is parsed here, where the model has a parsing receiver.
  // Errors: INVALID_ARGUMENT listing every input that is missing, unknown, or of another dtype or
  // shape than the signature's; of kernels, naming the node.
  absl::StatusOr<ArrayMap> Predict(const ArrayMap& inputs) const;

  // What a request takes and gives; the batch is Shape::kUnknownDim.
  const SavedSignature& signature() const { return source_->signature(); }
  const std::map<std::string, SavedTensor>& inputs() const { return signature().inputs; }
  const std::map<std::string, SavedTensor>& outputs() const { return signature().outputs; }
  const std::string& method_name() const { return signature().method_name; }
  // Programs that are compiled at this moment, over all sessions.
  int num_programs() const;

 private:
  class Session;

  Predictor(std::unique_ptr<const ServableSignature> source,
            std::shared_ptr<VariableStore> variables, PredictorOptions options);
  // Compiles for the first of the source's sample shapes that the model takes.
  absl::Status WarmUp();
  // The shapes of a request, after every check.
  absl::StatusOr<InputShapes> CheckInputs(const ArrayMap& inputs) const;
  Session* Acquire(const InputShapes& shapes) const;
  void Release(Session* session) const;

  const std::unique_ptr<const ServableSignature> source_;
  const std::shared_ptr<VariableStore> variables_;
  const PredictorOptions options_;
  std::set<std::string> required_;  // inputs

  mutable std::mutex compile_mutex_;
  mutable std::mutex mutex_;  // of the sessions' being busy
  mutable std::condition_variable session_freed_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SERVING_PREDICTOR_H_
