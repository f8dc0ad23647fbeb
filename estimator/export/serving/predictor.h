// Predictor: serves one signature of a model to any number of threads.
//
//   EST_ASSIGN_OR_RETURN(const auto predictor, estimator.MakePredictor(receiver_fn));
//   EST_ASSIGN_OR_RETURN(const ArrayMap outputs, predictor->Predict({{"image", images}}));
//
// Programs have static shapes, so a Predictor compiles one for each set of input shapes that it is
// asked for (usually: each batch size). It keeps the last few, so memory does not grow with the
// number of requests. Requests do not call model_fn and read no files.
//
// The first request of a batch size includes the time to compile: milliseconds for a small network.
// If your requests have many batch sizes, pad them to a few. Predictor does not do this, because
// rows may depend on each other.
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
  // The number of compiled programs, one for each set of input shapes, that a session keeps. The
  // least recently used is dropped. Each program needs memory, also for filters in the layouts of
  // its kernels (disable_passes = {"derive_values"} saves that and is slower). Set it to your
  // number of batch sizes.
  int max_programs = 8;
  // The number of requests that run at the same time, each with its own memory. Others wait. More
  // than 1 rarely helps, because a single request uses all cores.
  int num_sessions = 1;
  CompileOptions compile_options = {};
};

// Thread-safe.
class Predictor {
 public:
  // Compiles the signature for a first batch size, so that errors of the model are found here.
  //   variables: must not change from now on.
  // Errors: INVALID_ARGUMENT for options out of range; as CompiledSignature::Compile, for example
  // FAILED_PRECONDITION naming variables without a value.
  static absl::StatusOr<std::unique_ptr<Predictor>> Create(
      std::unique_ptr<const ServableSignature> source, std::shared_ptr<VariableStore> variables,
      const PredictorOptions& options = {});
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  // Returns the outputs of a request by the signature's names.
  //   inputs: all inputs that the outputs need, by name, with any number of rows > 0. (A model that
  //     is tied to its batch size needs that number.) If the model has a parsing receiver, the
  //     input is an array of serialized tf.train.Examples.
  // Errors: INVALID_ARGUMENT listing every input that is missing, unknown, or has another dtype or
  // shape than the signature; those of kernels, naming the node.
  absl::StatusOr<ArrayMap> Predict(const ArrayMap& inputs) const;

  // The inputs and outputs of requests. The batch dimension is Shape::kUnknownDim.
  const SavedSignature& signature() const { return source_->signature(); }
  const std::map<std::string, SavedTensor>& inputs() const { return signature().inputs; }
  const std::map<std::string, SavedTensor>& outputs() const { return signature().outputs; }
  const std::string& method_name() const { return signature().method_name; }
  // Returns the number of programs that all sessions keep now.
  int num_programs() const;

 private:
  class Session;

  Predictor(std::unique_ptr<const ServableSignature> source,
            std::shared_ptr<VariableStore> variables, PredictorOptions options);
  // Compiles for the first of the source's sample shapes that the model accepts.
  absl::Status WarmUp();
  // Checks a request, and returns the shapes of its inputs.
  absl::StatusOr<InputShapes> CheckInputs(const ArrayMap& inputs) const;
  Session* Acquire(const InputShapes& shapes) const;
  void Release(Session* session) const;

  const std::unique_ptr<const ServableSignature> source_;
  const std::shared_ptr<VariableStore> variables_;
  const PredictorOptions options_;
  std::set<std::string> required_;  // inputs

  mutable std::mutex compile_mutex_;
  mutable std::mutex mutex_;  // guards Session::busy
  mutable std::condition_variable session_freed_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SERVING_PREDICTOR_H_
