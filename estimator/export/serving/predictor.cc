#include "estimator/export/serving/predictor.h"

#include <list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/export/serving/compiled_signature.h"
#include "estimator/runtime/cpu_backend.h"

namespace estimator {
namespace {

// Returns the signature's name for messages. A signature that the caller made has none.
std::string Who(const ServableSignature& source) {
  return source.name().empty() ? "these tensors" : absl::StrCat("signature '", source.name(), "'");
}

std::string KeysOf(const std::map<std::string, SavedTensor>& specs) {
  return absl::StrJoin(specs, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, "'", entry.first, "' (", entry.second.ToString(), ")");
  });
}

}  // namespace

// Runs one request at a time. The programs of a session share one arena.
class Predictor::Session {
 public:
  Session(VariableStore& variables, const PredictorOptions& options)
      : backend_(MakeCpuBackend(variables, options.compile_options)) {}

  // Guarded by the predictor's mutex_.
  bool busy = false;
  bool Has(const InputShapes& shapes) const {
    for (const Kept& kept : programs_) {
      if (kept.shapes == shapes) return true;
    }
    return false;
  }
  int num_programs() const { return static_cast<int>(programs_.size()); }

  // Returns the program for these shapes, and compiles it if there is none. Only the thread that
  // has made the session busy may call it. The most recently used program is first in the list.
  absl::StatusOr<CompiledSignature*> ProgramFor(const Predictor& predictor,
                                                const InputShapes& shapes) {
    for (auto kept = programs_.begin(); kept != programs_.end(); ++kept) {
      if (kept->shapes != shapes) continue;
      const std::lock_guard<std::mutex> lock(predictor.mutex_);
      programs_.splice(programs_.begin(), programs_, kept);
      return programs_.front().program.get();
    }
    std::unique_ptr<CompiledSignature> program;
    {
      // Compiling may add variables to the store, which all sessions share.
      const std::lock_guard<std::mutex> lock(predictor.compile_mutex_);
      EST_ASSIGN_OR_RETURN(program,
                           CompiledSignature::Compile(*predictor.source_, shapes, *backend_));
    }
    const std::lock_guard<std::mutex> lock(predictor.mutex_);
    if (programs_.size() >= static_cast<size_t>(predictor.options_.max_programs))
      programs_.pop_back();
    programs_.push_front({shapes, std::move(program)});
    return programs_.front().program.get();
  }

 private:
  struct Kept {
    InputShapes shapes;
    std::unique_ptr<CompiledSignature> program;
  };
  const std::unique_ptr<Backend> backend_;
  // Only the thread that has made the session busy changes it, and holds mutex_ while it does: Has
  // and num_programs read it in other threads.
  std::list<Kept> programs_;
};

Predictor::Predictor(std::unique_ptr<const ServableSignature> source,
                     std::shared_ptr<VariableStore> variables, PredictorOptions options)
    : source_(std::move(source)), variables_(std::move(variables)), options_(std::move(options)) {
  for (int i = 0; i < options_.num_sessions; ++i)
    sessions_.push_back(std::make_unique<Session>(*variables_, options_));
}
Predictor::~Predictor() = default;

absl::StatusOr<std::unique_ptr<Predictor>> Predictor::Create(
    std::unique_ptr<const ServableSignature> source, std::shared_ptr<VariableStore> variables,
    const PredictorOptions& options) {
  if (options.max_programs < 1 || options.num_sessions < 1) {
    return InvalidArgument("PredictorOptions: max_programs and num_sessions must be >= 1, got ",
                           options.max_programs, " and ", options.num_sessions);
  }
  std::unique_ptr<Predictor> predictor(
      new Predictor(std::move(source), std::move(variables), options));
  EST_RETURN_IF_ERROR(predictor->WarmUp());
  return predictor;
}

absl::Status Predictor::WarmUp() {
  // If the model accepts none of the shapes, the first error is the most useful: it is that of the
  // likeliest shapes.
  absl::Status first;
  for (const InputShapes& shapes : source_->SampleShapes()) {
    const absl::StatusOr<CompiledSignature*> program = sessions_[0]->ProgramFor(*this, shapes);
    first.Update(program.status());
    if (!program.ok()) continue;
    required_ = (*program)->required();
    // Every session compiles here, so that no request reads the variables.
    for (const auto& session : sessions_)
      EST_RETURN_IF_ERROR(session->ProgramFor(*this, shapes).status());
    return absl::OkStatus();
  }
  return first;
}

absl::StatusOr<InputShapes> Predictor::CheckInputs(const ArrayMap& inputs) const {
  std::vector<std::string> violations, names;
  InputShapes shapes;
  for (const auto& [name, spec] : this->inputs()) names.push_back(name);
  for (const auto& [name, array] : inputs) {
    const auto wanted = this->inputs().find(name);
    if (wanted == this->inputs().end()) {
      violations.push_back(absl::StrCat("there is no input '", name, "'", DidYouMean(name, names)));
    } else if (!wanted->second.Takes(array.dtype(), array.shape())) {
      violations.push_back(absl::StrCat("input '", name, "' is ", array.TypeString(),
                                        ", but the signature takes ", wanted->second.ToString()));
    } else {
      shapes[name] = array.shape();
    }
  }
  for (const std::string& name : required_) {
    if (inputs.count(name) == 0)
      violations.push_back(absl::StrCat("input '", name, "' is missing"));
  }
  if (violations.empty()) return shapes;
  return InvalidArgument(Who(*source_), ": ", absl::StrJoin(violations, "; "),
                         ". It takes: ", KeysOf(this->inputs()));
}

Predictor::Session* Predictor::Acquire(const InputShapes& shapes) const {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    // Prefers a free session that has compiled these shapes.
    Session* free = nullptr;
    for (const auto& session : sessions_) {
      if (session->busy) continue;
      if (free == nullptr || session->Has(shapes)) free = session.get();
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
  EST_ASSIGN_OR_RETURN(const InputShapes shapes, CheckInputs(inputs));
  Session* const session = Acquire(shapes);
  const absl::StatusOr<CompiledSignature*> program = session->ProgramFor(*this, shapes);
  absl::StatusOr<ArrayMap> outputs = program.ok() ? (*program)->Run(inputs) : program.status();
  Release(session);
  if (!outputs.ok()) return Annotate(outputs.status(), Who(*source_));
  return outputs;
}

int Predictor::num_programs() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int total = 0;
  for (const auto& session : sessions_) total += session->num_programs();
  return total;
}

}  // namespace estimator
