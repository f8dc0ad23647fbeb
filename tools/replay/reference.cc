#include "tools/replay/reference.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/proto/serialize.h"
#include "tools/replay/reference.pb.h"

namespace estimator::replay {
namespace {

constexpr char kManifest[] = "reference.textproto";

class Errors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    lines.push_back(absl::StrCat(line + 1, ":", column + 1, ": ", message));
  }
  std::vector<std::string> lines;
};

absl::StatusOr<proto::ReferenceRun> ReadManifest(const std::string& folder) {
  const std::string path = JoinPath(folder, kManifest);
  if (!FileExists(path)) {
    return NotFound(FileExists(folder) ? absl::StrCat("there is no ", kManifest, " in ", folder)
                                       : absl::StrCat("there is no folder ", folder),
                    "; testdata/reference/reference_lib.py writes the folder of a reference");
  }
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  proto::ReferenceRun manifest;
  google::protobuf::TextFormat::Parser parser;
  Errors errors;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(kMaxNesting);
  if (!parser.ParseFromString(text, &manifest)) {
    return InvalidArgument(path, ":", absl::StrJoin(errors.lines, absl::StrCat("; ", path, ":")));
  }
  std::vector<std::string> missing;
  if (manifest.num_steps() < 1) missing.push_back("num_steps (1 or more)");
  if (manifest.initial_checkpoint().empty()) missing.push_back("initial_checkpoint");
  if (manifest.batches().empty()) missing.push_back("batches");
  if (manifest.expected().empty()) missing.push_back("expected");
  for (const auto& [name, value] :
       {std::pair("rtol", manifest.rtol()), std::pair("variable_rtol", manifest.variable_rtol()),
        std::pair("atol", manifest.atol())}) {
    if (!(value >= 0)) missing.push_back(absl::StrCat(name, " (0 or more)"));
  }
  if (!missing.empty()) {
    return InvalidArgument(path, " does not say ", absl::StrJoin(missing, ", "));
  }
  return manifest;
}

absl::StatusOr<std::unique_ptr<BundleReader>> Open(const std::string& folder,
                                                   const std::string& prefix) {
  auto reader = BundleReader::Open(JoinPath(folder, prefix));
  if (reader.ok()) return reader;
  return Annotate(reader.status(),
                  absl::StrCat(JoinPath(folder, kManifest), " names '", prefix, "'"));
}

// Splits the name of an input: "features/image" is the feature "image", and "labels" are labels
// without a name. Returns false for any other name.
bool SplitInputName(absl::string_view name, bool* is_label, std::string* key) {
  *is_label = absl::ConsumePrefix(&name, "labels");
  if (!*is_label && !absl::ConsumePrefix(&name, "features")) return false;
  const bool bare = name.empty();
  if (!bare && !absl::ConsumePrefix(&name, "/")) return false;
  *key = std::string(name);
  return bare || !name.empty();
}

}  // namespace

absl::StatusOr<Reference> Reference::Load(absl::string_view folder) {
  Reference reference;
  reference.folder_ = std::string(folder);
  EST_ASSIGN_OR_RETURN(const proto::ReferenceRun manifest, ReadManifest(reference.folder_));
  reference.description_ = manifest.description();
  reference.made_by_ = manifest.made_by().empty() ? "the reference" : manifest.made_by();
  reference.num_steps_ = manifest.num_steps();
  if (manifest.has_random_seed()) reference.random_seed_ = manifest.random_seed();
  reference.mode_ = manifest.mode() == proto::ReferenceRun::TRAIN  ? Mode::kTrain
                    : manifest.mode() == proto::ReferenceRun::EVAL ? Mode::kEval
                                                                   : Mode::kPredict;
  reference.tolerances_ = {
      .rtol = manifest.rtol(), .variable_rtol = manifest.variable_rtol(), .atol = manifest.atol()};
  EST_ASSIGN_OR_RETURN(reference.initial_, Open(reference.folder_, manifest.initial_checkpoint()));
  for (const std::string& prefix : manifest.expected()) {
    EST_ASSIGN_OR_RETURN(std::unique_ptr<BundleReader> reader, Open(reference.folder_, prefix));
    reference.expected_.push_back(std::move(reader));
  }
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> batches,
                       Open(reference.folder_, manifest.batches()));
  for (const std::string& name : batches->names()) {
    EST_ASSIGN_OR_RETURN(Array array, batches->Read(name));
    bool is_label;
    std::string key;
    if (!SplitInputName(name, &is_label, &key)) {
      return InvalidArgument(batches->prefix(), ": '", name,
                             "' is neither features, features/<name>, labels nor labels/<name>");
    }
    const int64_t count = array.shape().rank() == 0 ? 0 : array.shape().dim(0);
    if (count == 0 || (reference.num_batches_ != 0 && count != reference.num_batches_)) {
      return InvalidArgument(batches->prefix(), ": '", name, "' is ", array.TypeString(),
                             ", but must be [",
                             reference.num_batches_ == 0 ? std::string("batches")
                                                         : absl::StrCat(reference.num_batches_),
                             ", batch size, ...]");
    }
    reference.num_batches_ = count;
    reference.batches_[name] = std::move(array);
  }
  if (reference.num_batches_ == 0) {
    return InvalidArgument(batches->prefix(), " has no batches");
  }
  return reference;
}

Element Reference::Batch(int64_t step) const {
  Element element;
  for (const auto& [name, array] : batches_) {
    bool is_label;
    std::string key;
    SplitInputName(name, &is_label, &key);
    (is_label ? element.labels : element.features)[key] = array.Row(step % num_batches_);
  }
  return element;
}

std::vector<std::string> Reference::Names(absl::string_view prefix) const {
  std::vector<std::string> names;
  for (const auto& reader : expected_) {
    for (const std::string& name : reader->names()) {
      if (absl::StartsWith(name, prefix)) names.push_back(name.substr(prefix.size()));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool Reference::Has(absl::string_view name) const {
  return std::any_of(expected_.begin(), expected_.end(),
                     [name](const auto& reader) { return reader->Has(name); });
}

absl::StatusOr<Array> Reference::Expected(absl::string_view name) const {
  // The last checkpoint has precedence: a case's own results come after those that cases share.
  for (auto reader = expected_.rbegin(); reader != expected_.rend(); ++reader) {
    if ((*reader)->Has(name)) return (*reader)->Read(name);
  }
  return NotFound(folder_, " has no expected value '", name, "'", DidYouMean(name, Names("")));
}

}  // namespace estimator::replay
