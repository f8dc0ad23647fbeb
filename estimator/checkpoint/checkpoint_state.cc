#include "estimator/checkpoint/checkpoint_state.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/proto/checkpoint_state.pb.h"
#include "estimator/proto/serialize.h"

namespace estimator {
namespace {

// On disk: do not change.
constexpr char kStateFileName[] = "checkpoint";

// 100,000 paths of 600 bytes. A text proto takes many times its bytes once it is parsed.
constexpr int64_t kMaxStateBytes = int64_t{64} << 20;

// Keeps the first error of the parser. By default it would only be logged.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty())
      text = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  std::string text;
};

// Where the checkpoint of a path in the state file is.
std::string Located(absl::string_view directory, const std::string& path, CheckpointState* state) {
  const absl::string_view other = Dirname(path);
  if (other.empty()) return JoinPath(directory, path);
  const std::string own = JoinPath(directory, Basename(path));
  if (!Basename(path).empty() && CheckpointModifiedTimeSeconds(own) > 0) {
    // A directory that is gone is another one.
    if (!IsSameFile(directory.empty() ? "." : std::string(directory),
                    IsAbsolutePath(path) ? std::string(other) : JoinPath(directory, other))) {
      state->copied_from = std::string(other);
    }
    return own;
  }
  return IsAbsolutePath(path) ? path : JoinPath(directory, path);
}

std::string Relative(absl::string_view directory, absl::string_view path) {
  if (directory.empty()) return std::string(path);
  const std::string folder = absl::StrCat(absl::StripSuffix(directory, "/"), "/");
  // Relative paths stay valid when the directory is moved.
  absl::ConsumePrefix(&path, folder);
  return std::string(path);
}

}  // namespace

std::string CheckpointStatePath(StringArg directory) { return JoinPath(directory, kStateFileName); }

absl::StatusOr<CheckpointState> GetCheckpointState(StringArg directory) {
  const std::string path = CheckpointStatePath(directory);
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxStateBytes));
  proto::CheckpointState message;
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  // A later TensorFlow may write more fields.
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaxNesting);
  if (!parser.ParseFromString(text, &message)) {
    return DataLoss(path, " is not a checkpoint state: ", error.text);
  }
  if (message.model_checkpoint_path().empty()) {
    return DataLoss(path, ": there is no model_checkpoint_path");
  }
  CheckpointState state;
  state.model_checkpoint_path = Located(directory, message.model_checkpoint_path(), &state);
  for (const std::string& one : message.all_model_checkpoint_paths()) {
    state.all_model_checkpoint_paths.push_back(Located(directory, one, &state));
  }
  // Other numbers of times cannot be assigned to paths. The saver then takes those of the files.
  if (message.all_model_checkpoint_timestamps_size() == message.all_model_checkpoint_paths_size()) {
    state.all_model_checkpoint_timestamps.assign(message.all_model_checkpoint_timestamps().begin(),
                                                 message.all_model_checkpoint_timestamps().end());
  }
  state.last_preserved_timestamp = message.last_preserved_timestamp();
  return state;
}

absl::Status WriteCheckpointState(StringArg directory, const CheckpointState& state) {
  proto::CheckpointState message;
  message.set_model_checkpoint_path(Relative(directory, state.model_checkpoint_path));
  for (const std::string& path : state.all_model_checkpoint_paths) {
    message.add_all_model_checkpoint_paths(Relative(directory, path));
  }
  for (const double timestamp : state.all_model_checkpoint_timestamps) {
    message.add_all_model_checkpoint_timestamps(timestamp);
  }
  message.set_last_preserved_timestamp(state.last_preserved_timestamp);
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return WriteDerivedFile(CheckpointStatePath(directory), text);
}

}  // namespace estimator
