// Writes event files for TensorBoard. They are TFRecord files (records/tfrecord.h) of serialized
// Event messages (proto/event.proto). The first event has file_version "brain.Event:2".
#ifndef ESTIMATOR_SUMMARY_EVENT_FILE_WRITER_H_
#define ESTIMATOR_SUMMARY_EVENT_FILE_WRITER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"
#include "estimator/records/tfrecord.h"

namespace estimator {

namespace proto {
class Event;
}

// On disk: do not change.
enum class SessionStatus { kStart = 1, kStop = 2, kCheckpoint = 3 };

// Writes one file `events.out.tfevents.<secs>.<host>[suffix]`. Thread-safe. Events are buffered
// until Flush; the destructor flushes too. The first error is kept, and every later call returns it
// too. A remote file appears when it is whole, so there each Flush ends a file, and the next event
// begins `events.out.tfevents.<secs>.<host>.<pid>.<n>[suffix]`.
class EventFileWriter {
 public:
  // Creates the file and writes its first record. The directory is created if it does not exist.
  static absl::StatusOr<std::unique_ptr<EventFileWriter>> Open(StringArg directory,
                                                               StringArg suffix = "");
  // The writer of this process for a directory. Every call returns the same writer until it fails
  // or CloseAllEventFileWriters. Source: TF 2.15 tf.compat.v1.summary.FileWriterCache.
  static absl::StatusOr<std::shared_ptr<EventFileWriter>> ForDirectory(StringArg directory);

  // Tells that a session begins whose variables are at `global_step`. The next event is preceded by
  // a SessionLog with kStart, with which readers discard what an earlier session wrote for later
  // steps: those steps run again. At step 0 they discard everything.
  void StartSession(int64_t global_step);

  absl::Status AddScalar(StringArg tag, float value, int64_t step);
  // values: numeric, of any shape.
  absl::Status AddHistogram(StringArg tag, const Array& values, int64_t step);
  // image: u8 or f32 [height, width, channels]; see image.h.
  absl::Status AddImage(StringArg tag, const Array& image, int64_t step);
  // text: Markdown.
  absl::Status AddText(StringArg tag, StringArg text, int64_t step);
  // value: of any dtype and shape; see TensorSummary.
  absl::Status AddTensor(StringArg tag, const Array& value, int64_t step,
                         StringArg plugin_name = "");
  // serialized_summary: a serialized Summary, such as the value of a summary op.
  // Errors: INVALID_ARGUMENT if it cannot be parsed.
  absl::Status AddSummary(StringArg serialized_summary, int64_t step);

  // These take a serialized GraphDef, MetaGraphDef and RunMetadata.
  absl::Status AddGraph(StringArg graph_def, int64_t step = 0);
  absl::Status AddMetaGraph(StringArg meta_graph_def, int64_t step = 0);
  absl::Status AddRunMetadata(StringArg tag, StringArg run_metadata, int64_t step);

  // With kStart, readers discard the events of `step` and later steps that they read before.
  //   checkpoint_path: the prefix of the checkpoint, for kCheckpoint.
  absl::Status AddSessionLog(SessionStatus status, int64_t step, StringArg checkpoint_path = "");

  // Writes the buffer to the system; TensorBoard then sees the events.
  absl::Status Flush();
  // The same for what is called often: on a remote file system it does something every two minutes,
  // because each Flush makes a file. TensorFlow's writers wait as long.
  absl::Status FlushSometimes();

  ~EventFileWriter();
  EventFileWriter(const EventFileWriter&) = delete;
  EventFileWriter& operator=(const EventFileWriter&) = delete;

  // On a remote file system, the first file.
  const std::string& path() const { return path_; }
  // Whether a call returned an error of the file.
  bool failed() const { return failed_; }

 private:
  absl::Status Told(absl::Status status);  // notes an error
  EventFileWriter(std::string path, std::unique_ptr<TFRecordWriter> file);
  absl::Status Write(const proto::Event& event);
  // Begins the next file of a remote directory, if none is open.
  absl::Status NextFile();

  const std::string path_;
  std::mutex mutex_;
  std::unique_ptr<TFRecordWriter> file_;  // null after a Flush of a remote file; guarded by mutex_
  std::optional<int64_t> start_step_;     // of a kStart to write; guarded by mutex_
  std::atomic<bool> failed_ = false;
  std::string remote_directory_;  // empty for a local file
  std::string suffix_;
  std::atomic<int64_t> opened_secs_ = 0;  // since 1970
};

// EventFileWriter::StartSession for the writer of this process for a directory. If there is none,
// this creates no file: a writer that ForDirectory opens later begins with the session.
// Source: TF 2.15 SummarySaverHook, which writes kStart for the first summary of a session.
void StartEventSession(StringArg directory, int64_t global_step);

// Writes a SessionLog with kCheckpoint with the writer of this process for a directory. If there is
// none, this creates no file: a writer that ForDirectory opens later begins with the newest
// checkpoint. Source: TF 2.15 CheckpointSaverHook.
absl::Status AddCheckpointEvent(StringArg directory, int64_t step, StringArg checkpoint_path);

// Flushes the writers of ForDirectory and removes them from its cache. A caller that still holds
// one can continue to use it.
absl::Status CloseAllEventFileWriters();

}  // namespace estimator

#endif  // ESTIMATOR_SUMMARY_EVENT_FILE_WRITER_H_
