#include "estimator/summary/event_reader.h"

#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/proto/event.pb.h"
#include "estimator/records/tfrecord.h"
#include "glog/logging.h"

namespace estimator {
namespace {

SummaryRecord::Kind KindOf(const proto::Summary::Value& value) {
  switch (value.value_case()) {
    case proto::Summary::Value::kSimpleValue:
      return SummaryRecord::Kind::kScalar;
    case proto::Summary::Value::kHisto:
      return SummaryRecord::Kind::kHistogram;
    case proto::Summary::Value::kImage:
      return SummaryRecord::Kind::kImage;
    case proto::Summary::Value::kTensor:
      return SummaryRecord::Kind::kTensor;
    default:
      return SummaryRecord::Kind::kOther;
  }
}

// Adds the values of a file to `records`. Stops at a damaged record, with a warning.
//   discard: whether a kStart removes values from `records`.
absl::Status ReadEvents(absl::string_view path, bool discard, std::vector<SummaryRecord>* records) {
  EST_ASSIGN_OR_RETURN(const auto reader, TFRecordReader::Open(path));
  while (true) {
    const auto bytes = reader->Next();
    if (bytes.ok() && !*bytes) return absl::OkStatus();
    proto::Event event;
    if (!bytes.ok() || !event.ParseFromString(**bytes)) {
      LOG(WARNING) << path << ": the rest of the file is skipped: "
                   << (bytes.ok() ? "a record is not an Event" : bytes.status().message());
      return absl::OkStatus();
    }
    if (discard && event.session_log().status() == proto::SessionLog::START) {
      std::erase_if(*records,
                    [&](const SummaryRecord& record) { return record.step >= event.step(); });
    }
    for (const proto::Summary::Value& value : event.summary().value()) {
      records->push_back({.step = event.step(),
                          .wall_time = event.wall_time(),
                          .tag = value.tag(),
                          .kind = KindOf(value),
                          .scalar = value.simple_value(),
                          .bytes = value.SerializeAsString()});
    }
  }
}

}  // namespace

StatusOrRange<std::vector<SummaryRecord>> ReadEventFile(StringArg path) {
  std::vector<SummaryRecord> records;
  EST_RETURN_IF_ERROR(ReadEvents(path, /*discard=*/false, &records));
  return records;
}

StatusOrRange<std::vector<SummaryRecord>> ReadEventDirectory(StringArg directory) {
  EST_ASSIGN_OR_RETURN(const auto paths, Glob(JoinPath(EscapeGlob(directory), "*.tfevents.*")));
  return ReadEventFiles(paths);
}

StatusOrRange<std::vector<SummaryRecord>> ReadEventFiles(const std::vector<std::string>& paths) {
  std::vector<SummaryRecord> records;
  for (const std::string& path : paths) {
    EST_RETURN_IF_ERROR(ReadEvents(path, /*discard=*/true, &records));
  }
  return records;
}

absl::StatusOr<std::map<int64_t, std::map<std::string, double>>> ReadScalars(StringArg directory) {
  EST_ASSIGN_OR_RETURN(const auto records, ReadEventDirectory(directory));
  std::map<int64_t, std::map<std::string, double>> scalars;
  for (const SummaryRecord& record : records) {
    if (record.kind == SummaryRecord::Kind::kScalar)
      scalars[record.step][record.tag] = record.scalar;
  }
  return scalars;
}

}  // namespace estimator
