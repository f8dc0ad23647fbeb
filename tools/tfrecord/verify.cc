#include "tools/tfrecord/verify.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/image/decode_image.h"
#include "estimator/records/counts_in_names.h"
#include "estimator/records/progress_bar.h"

namespace estimator {
namespace {

absl::Status CheckExample(const Record& record, const VerifyRecordsOptions& options) {
  if (!options.examples && options.image_key.empty()) return absl::OkStatus();
  EST_ASSIGN_OR_RETURN(const proto::Example example, ParseExampleRecord(record));
  if (options.image_key.empty()) return absl::OkStatus();
  EST_ASSIGN_OR_RETURN(const std::string bytes, BytesOfKey(record, example, options.image_key));
  return Annotate(image::DecodeImage(bytes, {.channels = 3}).status(),
                  absl::StrCat(record.Place(), ": key \"", options.image_key, "\""));
}

// The records and the damage of one file.
struct FileReport {
  int64_t records = 0;
  std::vector<std::string> damage;
};

absl::StatusOr<FileReport> VerifyFile(const std::string& path, InputCompression compression,
                                      const VerifyRecordsOptions& options, ProgressBar& progress) {
  FileReport report;
  EST_ASSIGN_OR_RETURN(const auto reader, OpenRecords(path, compression));
  while (true) {
    EST_RETURN_IF_ERROR(CheckInterrupt());
    const TFRecordPosition position = reader->position();
    absl::StatusOr<std::optional<std::string>> data = reader->Next();
    if (data.ok() && !*data) break;
    if (data.ok()) {
      const Record record = {.path = path,
                             .index = position.index,
                             .offset = position.offset,
                             .data = **std::move(data)};
      const absl::Status checked = CheckExample(record, options);
      if (!checked.ok()) report.damage.emplace_back(checked.message());
    } else {
      report.damage.emplace_back(data.status().message());
      const auto skipped = reader->Skip();  // fails if the length is what is damaged
      if (!skipped.ok() || !*skipped) {
        report.damage.push_back(
            absl::StrCat(path, ": nothing after byte ", position.offset, " can be read"));
        break;
      }
    }
    ++report.records;
    progress.Add(1);
  }
  return report;
}

}  // namespace

absl::StatusOr<RecordsReport> VerifyRecordFiles(const std::vector<std::string>& files,
                                                InputCompression compression,
                                                const VerifyRecordsOptions& options) {
  RecordsReport report;
  int64_t records = 0, bytes = 0;
  int damaged_files = 0;
  ProgressBar progress("records", 0);
  const std::vector<std::optional<int64_t>> stated = CountsInNames(files);
  for (size_t i = 0; i < files.size(); ++i) {
    EST_ASSIGN_OR_RETURN(const int64_t size, FileSize(files[i]));
    EST_ASSIGN_OR_RETURN(FileReport file, VerifyFile(files[i], compression, options, progress));
    if (stated[i] && *stated[i] != file.records) {
      file.damage.push_back(absl::StrCat(files[i], ": its name states ", *stated[i],
                                         " records, but it has ", file.records));
    }
    bytes += size;
    records += file.records;
    damaged_files += file.damage.empty() ? 0 : 1;
    report.damage.insert(report.damage.end(), file.damage.begin(), file.damage.end());
  }
  report.summary = absl::StrCat(
      files.size(), " files, ", records, " records, ", HumanBytes(bytes), ": ",
      damaged_files == 0 ? "not damaged" : absl::StrCat(damaged_files, " files are damaged"), "\n");
  return report;
}

}  // namespace estimator
