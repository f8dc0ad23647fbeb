// Writes event files, which TensorBoard shows: TFRecord files (records/tfrecord.h) of serialized
// Event messages (proto/event.proto), the first with file_version "brain.Event:2".
#ifndef ESTIMATOR_SUMMARY_EVENT_FILE_WRITER_H_
#define ESTIMATOR_SUMMARY_EVENT_FILE_WRITER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/records/tfrecord.h"

namespace estimator {

namespace proto {
class Event;
}

// On disk: do not change.
enum class SessionStatus { kStart = 1, kStop = 2, kCheckpoint = 3 };

// One file `events.out.tfevents.<secs>.<host>[suffix]`. Thread-safe. Events are buffered until
// Flush, and flushed when the writer goes. The first error is kept, and every later call returns it
// too.
class EventFileWriter {
 public:
  // Makes the directory if need be, and the file, with its first record.
  static absl::StatusOr<std::unique_ptr<EventFileWriter>> Open(absl::string_view directory,
                                                               absl::string_view suffix = "");
  // The writer of this process for a directory: every call returns the same one, until
  // CloseAllEventFileWriters. Source: TF 2.15 tf.compat.v1.summary.FileWriterCache.
  static absl::StatusOr<std::shared_ptr<EventFileWriter>> ForDirectory(absl::string_view directory);

  absl::Status AddScalar(absl::string_view tag, float value, int64_t step);
  // values: numeric, of any shape.
  absl::Status AddHistogram(absl::string_view tag, const Array& values, int64_t step);
  // image: u8 or f32 [height, width, channels]; see image.h.
  absl::Status AddImage(absl::string_view tag, const Array& image, int64_t step);
  // Markdown.
  absl::Status AddText(absl::string_view tag, absl::string_view text, int64_t step);
  // Any dtype and shape; see TensorSummary.
  absl::Status AddTensor(absl::string_view tag, const Array& value, int64_t step,
                         absl::string_view plugin_name = "");
  // A serialized Summary: the value of a summary op.
  // Errors: INVALID_ARGUMENT if it cannot be parsed.
  absl::Status AddSummary(absl::string_view serialized_summary, int64_t step);

  // Serialized GraphDef, MetaGraphDef and RunMetadata.
  absl::Status AddGraph(absl::string_view graph_def, int64_t step = 0);
  absl::Status AddMetaGraph(absl::string_view meta_graph_def, int64_t step = 0);
  absl::Status AddRunMetadata(absl::string_view tag, absl::string_view run_metadata, int64_t step);

  // kStart: readers drop what they have of `step` and later ones. checkpoint_path: of kCheckpoint.
  absl::Status AddSessionLog(SessionStatus status, int64_t step,
                             absl::string_view checkpoint_path = "");

  // To the system: TensorBoard sees it.
  absl::Status Flush();

  ~EventFileWriter();
  EventFileWriter(const EventFileWriter&) = delete;
  EventFileWriter& operator=(const EventFileWriter&) = delete;

  const std::string& path() const { return path_; }

 private:
  EventFileWriter(std::string path, std::unique_ptr<TFRecordWriter> file);
  absl::Status Write(const proto::Event& event);

  const std::string path_;
  std::mutex mutex_;
  std::unique_ptr<TFRecordWriter> file_;  // guarded by mutex_
};

// Flushes, and forgets the writers of ForDirectory; a writer that is still held stays usable.
absl::Status CloseAllEventFileWriters();

}  // namespace estimator

#endif  // ESTIMATOR_SUMMARY_EVENT_FILE_WRITER_H_
