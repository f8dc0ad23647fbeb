#include "estimator/export/predictor.h"

#include <list>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/export/batch_analysis.h"
#include "estimator/runtime/cpu_backend.h"

namespace estimator {
namespace {

std::string KeysOf(const std::map<std::string, TensorSpec>& specs) {
  return absl::StrJoin(specs, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, "'", entry.first, "' (", entry.second.ToString(), ")");
  });
}

// Whether an array of `given` may be fed where `wanted` may leave sizes open.
bool Fits(const TensorSpec& given, const TensorSpec& wanted) {
  if (given.dtype != wanted.dtype || given.shape.rank() != wanted.shape.rank()) return false;
  for (int axis = 0; axis < wanted.shape.rank(); ++axis) {
    const int64_t size = wanted.shape.dim(axis);
    if (size != Shape::kUnknownDim && size != given.shape.dim(axis)) return false;
  }
  return true;
}

absl::StatusOr<const Signature*> FindSignature(const ExportGraph& built, const std::string& key) {
  const auto found = built.signatures.find(key);
  if (found != built.signatures.end()) return &found->second;
  return absl::NotFoundError(absl::StrCat(
      "the model has no signature '", key,
      "'; it has: ", absl::StrJoin(built.signatures, ", ", [](std::string* out, const auto& entry) {
        absl::StrAppend(out, entry.first);
      })));
}

// Errors: FAILED_PRECONDITION naming all variables that the signature needs and that have no value.
absl::Status CheckVariables(const Graph& graph, const Signature& signature,
                            const VariableStore& variables) {
  std::vector<Tensor> roots;
  for (const auto& [name, tensor] : signature.outputs) roots.push_back(tensor);
  std::vector<std::string> missing;
  for (const Node* node : NeededNodes(graph, roots)) {
    if (node->op() == "VariableV2" && !variables.initialized(node->name()))
      missing.push_back(node->name());
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("variables without a value: ", absl::StrJoin(missing, ", ")));
}

// The rows of a string array, each parsed, as arrays with the rows on axis 0.
absl::StatusOr<ArrayMap> ParseExamples(const Array& serialized, const FeatureSpecs& specs) {
  std::map<std::string, std::vector<Array>> rows;
  for (int64_t i = 0; i < serialized.num_elements(); ++i) {
    absl::StatusOr<ArrayMap> parsed = ParseSingleExample(serialized.data<std::string>()[i], specs);
    if (!parsed.ok()) return Annotate(parsed.status(), absl::StrCat("example ", i));
    for (auto& [name, array] : *parsed) rows[name].push_back(std::move(array));
  }
  ArrayMap stacked;
  for (const auto& [name, arrays] : rows) stacked[name] = Stack(arrays);
  return stacked;
}

// A program for one batch size.
struct Compiled {
  int64_t batch_size = 0;
  std::vector<std::string> feed_names;  // by position: the input, or the parsed feature
  FeatureSpecs parsing;                 // empty: inputs are fed as they are
  std::string serialized_name;          // the input that is parsed
  std::vector<std::string> output_names;
  std::unique_ptr<Executable> executable;
};

absl::StatusOr<Compiled> Compile(const ExportGraphFn& build, const std::string& key,
                                 int64_t batch_size, Backend& backend) {
  EST_ASSIGN_OR_RETURN(const ExportGraph built, build(batch_size));
  EST_ASSIGN_OR_RETURN(const Signature* signature, FindSignature(built, key));
  Compiled compiled;
  compiled.batch_size = batch_size;
  ProgramSpec spec;
  const auto feed = [&](const std::string& name, const Tensor& tensor) {
    compiled.feed_names.push_back(name);
    spec.feeds.push_back(tensor);
  };
  for (const auto& [name, tensor] : signature->inputs) {
    if (!built.parsing.has_value() || !(tensor == built.parsing->serialized)) {
      feed(name, tensor);
      continue;
    }
    compiled.parsing = built.parsing->specs;
    compiled.serialized_name = name;
    for (const auto& [feature, placeholder] : built.parsing->parsed) feed(feature, placeholder);
  }
  for (const auto& [name, tensor] : signature->outputs) {
    compiled.output_names.push_back(name);
    spec.fetches.push_back(tensor);
  }
  EST_ASSIGN_OR_RETURN(compiled.executable, backend.Compile(*built.graph, spec));
  return compiled;
}

absl::StatusOr<ArrayMap> Run(const Compiled& compiled, const ArrayMap& inputs) {
  ArrayMap parsed;
  if (!compiled.serialized_name.empty()) {
    EST_ASSIGN_OR_RETURN(parsed,
                         ParseExamples(inputs.at(compiled.serialized_name), compiled.parsing));
  }
  std::vector<Array> feeds;
  for (const std::string& name : compiled.feed_names) {
    const auto found = parsed.find(name);
    feeds.push_back(found != parsed.end() ? found->second : inputs.at(name));
  }
  ArrayMap outputs;
  const auto outfeed = [&](int64_t, const StepFetches& fetches) {
    for (size_t i = 0; i < compiled.output_names.size(); ++i)
      outputs[compiled.output_names[i]] = fetches[0][i].Clone();
    return absl::OkStatus();
  };
  const auto infeed = [&feeds]() -> absl::StatusOr<std::optional<StepFeeds>> {
    return std::optional<StepFeeds>({feeds});
  };
  EST_RETURN_IF_ERROR(compiled.executable->RunLoop(1, infeed, outfeed).status());
  return outputs;
}

}  // namespace

// What one request at a time runs in: programs that share one arena.
class Predictor::Session {
 public:
  Session(VariableStore& variables, const PredictorOptions& options)
      : backend_(MakeCpuBackend(variables, options.compile_options)) {}

  // Under the predictor's mutex_.
  bool busy = false;
  bool Has(int64_t batch_size) const {
    for (const Compiled& program : programs_) {
      if (program.batch_size == batch_size) return true;
    }
    return false;
  }
  int num_programs() const { return num_programs_; }

  // By the one who made it busy. The program that was used last stands first.
  absl::StatusOr<const Compiled*> ProgramFor(const Predictor& predictor, int64_t batch_size) {
    for (auto program = programs_.begin(); program != programs_.end(); ++program) {
      if (program->batch_size != batch_size) continue;
      const std::lock_guard<std::mutex> lock(predictor.mutex_);
      programs_.splice(programs_.begin(), programs_, program);
      return &programs_.front();
    }
    absl::StatusOr<Compiled> compiled = absl::UnknownError("not compiled");
    {
      const std::lock_guard<std::mutex> lock(predictor.build_mutex_);
      compiled = Compile(predictor.build_, predictor.signature_key_, batch_size, *backend_);
    }
    if (!compiled.ok()) return compiled.status();
    const std::lock_guard<std::mutex> lock(predictor.mutex_);
    if (programs_.size() >= static_cast<size_t>(predictor.options_.max_programs))
      programs_.pop_back();
    programs_.push_front(*std::move(compiled));
    num_programs_ = static_cast<int>(programs_.size());
    return &programs_.front();
  }

 private:
  const std::unique_ptr<Backend> backend_;
  std::list<Compiled> programs_;  // changed under mutex_, which Has reads under
  int num_programs_ = 0;
};

Predictor::Predictor(ExportGraphFn build, std::shared_ptr<VariableStore> variables,
                     std::string signature_key, PredictorOptions options)
    : build_(std::move(build)),
      variables_(std::move(variables)),
      signature_key_(std::move(signature_key)),
      options_(std::move(options)) {
  for (int i = 0; i < options_.num_sessions; ++i)
    sessions_.push_back(std::make_unique<Session>(*variables_, options_));
}
Predictor::~Predictor() = default;

absl::StatusOr<std::unique_ptr<Predictor>> Predictor::Create(
    ExportGraphFn build, std::shared_ptr<VariableStore> variables, const std::string& signature_key,
    const PredictorOptions& options) {
  if (options.max_programs < 1 || options.num_sessions < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("PredictorOptions: max_programs and num_sessions must be >= 1, given ",
                     options.max_programs, " and ", options.num_sessions));
  }
  std::unique_ptr<Predictor> predictor(
      new Predictor(std::move(build), std::move(variables), signature_key, options));
  EST_RETURN_IF_ERROR(predictor->LearnSignature());
  // Whatever is wrong with the model shows here, not in the first request. Every session binds to
  // the variables here: later, threads only read the store.
  const int64_t batch_size = predictor->fixed_batch_size_ > 0 ? predictor->fixed_batch_size_ : 1;
  for (const auto& session : predictor->sessions_)
    EST_RETURN_IF_ERROR(session->ProgramFor(*predictor, batch_size).status());
  return predictor;
}

// What differs between two batch sizes is the batch.
absl::Status Predictor::LearnSignature() {
  constexpr int64_t kSizes[] = {2, 3};
  EST_ASSIGN_OR_RETURN(const ExportGraph small, build_(kSizes[0]));
  EST_ASSIGN_OR_RETURN(const ExportGraph large, build_(kSizes[1]));
  EST_RETURN_IF_ERROR(small.graph->status());
  EST_RETURN_IF_ERROR(large.graph->status());
  EST_ASSIGN_OR_RETURN(const Signature* a, FindSignature(small, signature_key_));
  EST_ASSIGN_OR_RETURN(const Signature* b, FindSignature(large, signature_key_));
  bool any_batch_size = false;
  const auto learn = [&](const NamedTensors& from, const NamedTensors& other, bool input,
                         std::map<std::string, TensorSpec>& specs) {
    for (const auto& [name, tensor] : from) {
      TensorSpec spec = tensor.spec();
      const Shape& there = other.at(name).shape();
      for (int axis = 0; axis < spec.shape.rank(); ++axis) {
        if (there.dim(axis) == spec.shape.dim(axis)) continue;
        spec.shape.set_dim(axis, Shape::kUnknownDim);
        any_batch_size |= input;
      }
      specs[name] = spec;
    }
  };
  learn(a->inputs, b->inputs, true, inputs_);
  learn(a->outputs, b->outputs, false, outputs_);
  method_name_ = a->method_name;
  EST_RETURN_IF_ERROR(CheckVariables(*small.graph, *a, *variables_));
  if (any_batch_size) return absl::OkStatus();
  for (const auto& [name, spec] : inputs_) {
    if (spec.shape.rank() > 0) fixed_batch_size_ = spec.shape.dim(0);
  }
  if (fixed_batch_size_ == 0) fixed_batch_size_ = 1;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Predictor::CheckInputs(const ArrayMap& inputs) const {
  std::vector<std::string> violations, names;
  for (const auto& [name, spec] : inputs_) names.push_back(name);
  for (const auto& [name, array] : inputs) {
    if (inputs_.count(name) > 0) continue;
    const std::optional<std::string> nearest = NearestName(name, names);
    violations.push_back(
        absl::StrCat("there is no input '", name, "'",
                     nearest ? absl::StrCat("; did you mean '", *nearest, "'?") : ""));
  }
  int64_t rows = fixed_batch_size_;
  std::string rows_of;
  for (const auto& [name, spec] : inputs_) {
    const auto given = inputs.find(name);
    if (given == inputs.end()) {
      violations.push_back(absl::StrCat("input '", name, "' is missing"));
      continue;
    }
    const TensorSpec actual{given->second.dtype(), given->second.shape()};
    if (!Fits(actual, spec)) {
      violations.push_back(absl::StrCat("input '", name, "' is ", actual.ToString(),
                                        ", the signature takes ", spec.ToString()));
      continue;
    }
    for (int axis = 0; axis < spec.shape.rank(); ++axis) {
      if (spec.shape.dim(axis) != Shape::kUnknownDim) continue;
      const int64_t here = actual.shape.dim(axis);
      if (rows_of.empty()) {
        rows = here;
        rows_of = name;
      } else if (here != rows) {
        violations.push_back(
            absl::StrCat("input '", name, "' has ", here, " rows, '", rows_of, "' has ", rows));
      }
    }
  }
  if (violations.empty() && rows == 0)
    violations.push_back(absl::StrCat("input '", rows_of, "' has no rows"));
  if (violations.empty()) return rows;
  return absl::InvalidArgumentError(absl::StrCat("signature '", signature_key_,
                                                 "': ", absl::StrJoin(violations, "; "),
                                                 ". It takes: ", KeysOf(inputs_)));
}

Predictor::Session* Predictor::Acquire(int64_t batch_size) const {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    Session* free = nullptr;
    for (const auto& session : sessions_) {
      if (session->busy) continue;
      if (free == nullptr || session->Has(batch_size)) free = session.get();
    }
    if (free != nullptr) {
      free->busy = true;
      return free;
    }
    session_freed_.wait(lock);
  }
}

void Predictor::Release(Session* session) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    session->busy = false;
  }
  session_freed_.notify_one();
}

absl::StatusOr<ArrayMap> Predictor::Predict(const ArrayMap& inputs) const {
  EST_ASSIGN_OR_RETURN(const int64_t batch_size, CheckInputs(inputs));
  Session* const session = Acquire(batch_size);
  const absl::StatusOr<const Compiled*> program = session->ProgramFor(*this, batch_size);
  absl::StatusOr<ArrayMap> outputs = program.ok() ? Run(**program, inputs) : program.status();
  Release(session);
  return outputs;
}

int Predictor::num_programs() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int total = 0;
  for (const auto& session : sessions_) total += session->num_programs();
  return total;
}

}  // namespace estimator
