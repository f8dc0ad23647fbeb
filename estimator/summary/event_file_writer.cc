#include "estimator/summary/event_file_writer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/proto/event.pb.h"
#include "estimator/proto/serialize.h"
#include "estimator/summary/summary_bytes.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// On disk: do not change.
constexpr char kFileVersion[] = "brain.Event:2";

constexpr int64_t kRemoteFlushSeconds = 120;

// What the writer of a directory begins with.
struct Beginning {
  std::optional<int64_t> start_step;
  absl::Time started = absl::InfinitePast();  // when StartEventSession was called
  struct Checkpoint {
    int64_t step = 0;
    std::string path;
  };
  std::optional<Checkpoint> checkpoint;
};

// What this process writes to a directory.
struct EventDirectory {
  std::shared_ptr<EventFileWriter> writer;  // null: none is open
  Beginning beginning;                      // of the next writer
};

std::mutex directories_mutex;

std::map<std::string, EventDirectory>& GetDirectories() {
  // Guarded by directories_mutex. Never deleted, so it outlives every writer.
  static auto* const directories = new std::map<std::string, EventDirectory>;
  return *directories;
}

proto::Event NewEvent(int64_t step) {
  proto::Event event;
  event.set_wall_time(absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()));
  event.set_step(step);
  return event;
}

// The first record of a file.
std::string VersionEvent() {
  proto::Event version = NewEvent(0);
  version.set_file_version(kFileVersion);
  return version.SerializeAsString();
}

std::string HostName() {
  std::array<char, 256> name = {};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

// An unused file name. Two writers that start in the same second and directory get different names.
absl::StatusOr<std::string> NewPath(absl::string_view directory, absl::string_view suffix) {
  const std::string base = JoinPath(
      directory,
      absl::StrCat("events.out.tfevents.", absl::ToUnixSeconds(absl::Now()), ".", HostName()));
  if (IsRemotePath(directory)) {
    // The file of another writer appears later, so that nothing shows whether a name is used.
    static std::atomic<int> next_number = 0;
    return absl::StrCat(base, ".", ::getpid(), ".", next_number++, suffix);
  }
  std::string path = absl::StrCat(base, suffix);
  for (int i = 1;; ++i) {
    EST_ASSIGN_OR_RETURN(const bool used, Exists(path));
    if (!used) return path;
    path = absl::StrCat(base, ".", i, suffix);
  }
}

// Whether an event file of the directory was written after `time`.
bool WasWrittenSince(absl::string_view directory, absl::Time time) {
  const auto paths = Glob(JoinPath(EscapeGlob(directory), "*.tfevents.*"));
  if (!paths.ok()) return false;
  return std::any_of(paths->begin(), paths->end(), [time](const std::string& path) {
    return absl::UnixEpoch() + absl::Seconds(FileModifiedTimeSeconds(path).value_or(0)) > time;
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventFileWriter>> EventFileWriter::Open(StringArg directory,
                                                                       StringArg suffix) {
  EST_RETURN_IF_ERROR(CreateDirectories(directory.empty() ? "." : directory));
  EST_ASSIGN_OR_RETURN(std::string path, NewPath(directory, suffix));
  EST_ASSIGN_OR_RETURN(auto file, TFRecordWriter::Open(path));
  EST_RETURN_IF_ERROR(file->Write(VersionEvent()));
  std::unique_ptr<EventFileWriter> writer(new EventFileWriter(std::move(path), std::move(file)));
  if (IsRemotePath(directory)) {
    writer->remote_directory_ = std::string(directory);
    writer->suffix_ = std::string(suffix);
    writer->opened_secs_ = absl::ToUnixSeconds(absl::Now());
  } else {
    EST_RETURN_IF_ERROR(writer->Flush());
  }
  return writer;
}

absl::StatusOr<std::shared_ptr<EventFileWriter>> EventFileWriter::ForDirectory(
    StringArg directory) {
  const std::lock_guard<std::mutex> lock(directories_mutex);
  auto& [writer, next] = GetDirectories()[std::string(directory)];
  // A writer keeps its first error, which ended a session. It must not end the next one too.
  if (writer != nullptr && !writer->failed()) return writer;
  writer = nullptr;
  Beginning beginning = std::exchange(next, {});
  // Readers would discard what another process, such as an evaluator, has written meanwhile.
  if (beginning.start_step && WasWrittenSince(directory, beginning.started)) {
    beginning.start_step.reset();
  }
  EST_ASSIGN_OR_RETURN(writer, Open(directory));
  if (beginning.start_step) writer->StartSession(*beginning.start_step);
  if (beginning.checkpoint) {
    EST_RETURN_IF_ERROR(writer->AddSessionLog(
        SessionStatus::kCheckpoint, beginning.checkpoint->step, beginning.checkpoint->path));
  }
  return writer;
}

void StartEventSession(StringArg directory, int64_t global_step) {
  const std::lock_guard<std::mutex> lock(directories_mutex);
  auto& [writer, next] = GetDirectories()[std::string(directory)];
  if (writer != nullptr && !writer->failed()) {
    writer->StartSession(global_step);
  } else {
    next = {.start_step = global_step, .started = absl::Now(), .checkpoint = {}};
  }
}

absl::Status AddCheckpointEvent(StringArg directory, int64_t step, StringArg checkpoint_path) {
  const std::lock_guard<std::mutex> lock(directories_mutex);
  auto& [writer, next] = GetDirectories()[std::string(directory)];
  if (writer != nullptr) {
    EST_RETURN_IF_ERROR(writer->AddSessionLog(SessionStatus::kCheckpoint, step, checkpoint_path));
    // A run that is killed continues from this checkpoint, and must find the events before it.
    return IsRemotePath(directory) ? writer->Flush() : absl::OkStatus();
  }
  next.checkpoint = {.step = step, .path = std::string(checkpoint_path)};
  return absl::OkStatus();
}

absl::Status CloseAllEventFileWriters() {
  const std::lock_guard<std::mutex> lock(directories_mutex);
  absl::Status first;
  for (auto& [path, directory] : GetDirectories()) {
    if (directory.writer != nullptr) first.Update(directory.writer->Flush());
    directory.writer = nullptr;
  }
  return first;
}

EventFileWriter::EventFileWriter(std::string path, std::unique_ptr<TFRecordWriter> file)
    : path_(std::move(path)), file_(std::move(file)) {}

EventFileWriter::~EventFileWriter() {
  if (file_ == nullptr) return;
  const absl::Status status = file_->Close();
  LOG_IF(WARNING, !status.ok()) << path_ << ": the last events may be lost: " << status;
}

absl::Status EventFileWriter::Write(const proto::Event& event) {
  EST_ASSIGN_OR_RETURN(const std::string bytes,
                       SerializeWithinLimit(event, absl::StrCat("the event of step ", event.step()),
                                            "omit the graph or the summary, or split it"));
  const std::lock_guard<std::mutex> lock(mutex_);
  EST_RETURN_IF_ERROR(Told(NextFile()));
  if (const std::optional<int64_t> step = std::exchange(start_step_, std::nullopt)) {
    proto::Event start = NewEvent(*step);
    start.mutable_session_log()->set_status(proto::SessionLog::START);
    EST_RETURN_IF_ERROR(Told(file_->Write(start.SerializeAsString())));
  }
  return Told(file_->Write(bytes));
}

absl::Status EventFileWriter::Told(absl::Status status) {
  if (!status.ok()) failed_ = true;
  return status;
}

// Readers discard the step of kStart too. The values of `global_step` itself are from before the
// session, but before step 0 there is nothing.
void EventFileWriter::StartSession(int64_t global_step) {
  const std::lock_guard<std::mutex> lock(mutex_);
  start_step_ = global_step == 0 ? 0 : global_step + 1;
}

absl::Status EventFileWriter::NextFile() {
  if (file_ != nullptr) return absl::OkStatus();
  EST_ASSIGN_OR_RETURN(const std::string path, NewPath(remote_directory_, suffix_));
  EST_ASSIGN_OR_RETURN(file_, TFRecordWriter::Open(path));
  opened_secs_ = absl::ToUnixSeconds(absl::Now());
  return file_->Write(VersionEvent());
}

// A remote file that cannot be written is lost with its events, and this call alone says so: the
// next event begins another file.
absl::Status EventFileWriter::Flush() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (remote_directory_.empty()) return Told(file_->Flush());
  const std::unique_ptr<TFRecordWriter> whole = std::move(file_);
  return whole == nullptr ? absl::OkStatus() : Told(whole->Close());
}

absl::Status EventFileWriter::FlushSometimes() {
  const int64_t seconds = absl::ToUnixSeconds(absl::Now()) - opened_secs_;
  if (!remote_directory_.empty() && seconds < kRemoteFlushSeconds) return absl::OkStatus();
  return Flush();
}

absl::Status EventFileWriter::AddSummary(StringArg serialized_summary, int64_t step) {
  proto::Event event = NewEvent(step);
  if (!ParseWithinLimit(serialized_summary, event.mutable_summary())) {
    return InvalidArgument("step ", step, ": the ", serialized_summary.size(),
                           " bytes are not a Summary");
  }
  return Write(event);
}

absl::Status EventFileWriter::AddScalar(StringArg tag, float value, int64_t step) {
  return AddSummary(ScalarSummary(tag, value), step);
}

absl::Status EventFileWriter::AddHistogram(StringArg tag, const Array& values, int64_t step) {
  EST_ASSIGN_OR_RETURN(const std::string summary, HistogramSummary(tag, values));
  return AddSummary(summary, step);
}

absl::Status EventFileWriter::AddImage(StringArg tag, const Array& image, int64_t step) {
  EST_ASSIGN_OR_RETURN(const std::string summary, SingleImageSummary(tag, image));
  return AddSummary(summary, step);
}

absl::Status EventFileWriter::AddText(StringArg tag, StringArg text, int64_t step) {
  return AddTensor(tag, Array::String(text), step, "text");
}

absl::Status EventFileWriter::AddTensor(StringArg tag, const Array& value, int64_t step,
                                        StringArg plugin_name) {
  EST_ASSIGN_OR_RETURN(const std::string summary, TensorSummary(tag, value, plugin_name));
  return AddSummary(summary, step);
}

absl::Status EventFileWriter::AddGraph(StringArg graph_def, int64_t step) {
  proto::Event event = NewEvent(step);
  event.set_graph_def(std::string(graph_def));
  return Write(event);
}

absl::Status EventFileWriter::AddMetaGraph(StringArg meta_graph_def, int64_t step) {
  proto::Event event = NewEvent(step);
  event.set_meta_graph_def(std::string(meta_graph_def));
  return Write(event);
}

absl::Status EventFileWriter::AddRunMetadata(StringArg tag, StringArg run_metadata, int64_t step) {
  proto::Event event = NewEvent(step);
  event.mutable_tagged_run_metadata()->set_tag(std::string(tag));
  event.mutable_tagged_run_metadata()->set_run_metadata(std::string(run_metadata));
  return Write(event);
}

absl::Status EventFileWriter::AddSessionLog(SessionStatus status, int64_t step,
                                            StringArg checkpoint_path) {
  proto::Event event = NewEvent(step);
  event.mutable_session_log()->set_status(static_cast<proto::SessionLog::SessionStatus>(status));
  // A path has any bytes. TensorFlow cannot parse an event whose strings are not UTF-8.
  event.mutable_session_log()->set_checkpoint_path(
      IsUtf8(checkpoint_path) ? std::string(checkpoint_path) : absl::CEscape(checkpoint_path));
  return Write(event);
}

}  // namespace estimator
