// Predictor: serves one signature of a model, loaded once, to any number of threads.
//
//   EST_ASSIGN_OR_RETURN(const auto predictor, estimator.MakePredictor(receiver_fn));
//   EST_ASSIGN_OR_RETURN(const ArrayMap outputs, predictor->Predict({{"image", images}}));
//
// Shapes are static in a program, so it compiles one for each batch size that is asked for, and
// keeps the last few: memory stays flat however many requests come.
#ifndef ESTIMATOR_EXPORT_PREDICTOR_H_
#define ESTIMATOR_EXPORT_PREDICTOR_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/data/element.h"
#include "estimator/export/signatures.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

struct PredictorOptions {
  // Batch sizes whose programs are kept, a session; the one that was not used the longest goes.
  int max_programs = 8;
  // Requests that run at the same time, each in a memory of its own; others wait. One request uses
  // all cores already.
  int num_sessions = 1;
  CompileOptions compile_options = {};
};

// Thread-safe.
class Predictor {
 public:
  // Serves the signature `signature_key` of the graphs that `build` makes, one for each batch size
  // (`build` may be called by any of the threads that call Predict, one at a time).
  // `variables`: with all values; nobody writes to them any more.
  // Errors: those of `build`; NOT_FOUND naming the signatures that there are; INVALID_ARGUMENT for
  // options out of range; FAILED_PRECONDITION naming variables without a value.
  static absl::StatusOr<std::unique_ptr<Predictor>> Create(
      ExportGraphFn build, std::shared_ptr<VariableStore> variables,
      const std::string& signature_key = kDefaultServingSignatureKey,
      const PredictorOptions& options = {});
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  // The outputs of a request, by the signature's names. A request has any number of rows > 0 (but
  // for a model that takes one size only). A serialized tf.train.Example is parsed here, where the
  // model has a parsing receiver.
  // Errors: INVALID_ARGUMENT listing every input that is missing, unknown, or of another dtype or
  // shape than the signature's.
  absl::StatusOr<ArrayMap> Predict(const ArrayMap& inputs) const;

  // What a request takes and gives; the batch is Shape::kUnknownDim.
  const std::map<std::string, TensorSpec>& inputs() const { return inputs_; }
  const std::map<std::string, TensorSpec>& outputs() const { return outputs_; }
  const std::string& method_name() const { return method_name_; }
  // Programs that are compiled at this moment, over all sessions.
  int num_programs() const;

 private:
  class Session;

  Predictor(ExportGraphFn build, std::shared_ptr<VariableStore> variables,
            std::string signature_key, PredictorOptions options);
  absl::Status LearnSignature();
  // The rows of a request, after every check.
  absl::StatusOr<int64_t> CheckInputs(const ArrayMap& inputs) const;
  Session* Acquire(int64_t batch_size) const;
  void Release(Session* session) const;

  const ExportGraphFn build_;
  const std::shared_ptr<VariableStore> variables_;
  const std::string signature_key_;
  const PredictorOptions options_;
  std::string method_name_;
  std::map<std::string, TensorSpec> inputs_, outputs_;
  int64_t fixed_batch_size_ = 0;  // of a model that takes one size only; 0: any

  mutable std::mutex build_mutex_;
  mutable std::mutex mutex_;  // of the sessions' being busy
  mutable std::condition_variable session_freed_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_PREDICTOR_H_
