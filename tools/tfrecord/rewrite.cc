#include "tools/tfrecord/rewrite.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/records/progress_bar.h"
#include "tools/tfrecord/record_file_writer.h"

namespace estimator {
namespace {

absl::Status CreateDirectoryOf(const std::string& path) {
  const absl::string_view directory = Dirname(path);
  return directory.empty() ? absl::OkStatus() : CreateDirectories(directory);
}

}  // namespace

absl::Status CheckAbsent(const std::string& path, bool force) {
  EST_ASSIGN_OR_RETURN(const bool exists, Exists(path));
  if (force || !exists) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(path, " exists; choose another name, or pass --force"));
}

std::string ShardPath(const std::string& prefix, int64_t shard, int64_t num_shards, int64_t count,
                      const std::string& suffix) {
  return absl::StrCat(prefix, absl::StrFormat("-%05d-of-%05d", shard, num_shards),
                      count < 0 ? "" : absl::StrCat("-", count), suffix);
}

absl::StatusOr<std::string> SplitRecordFiles(const std::vector<std::string>& files,
                                             const std::string& prefix,
                                             const SplitOptions& options) {
  // The names have the number of shards, so the files are read twice.
  int64_t records = 0, bytes = 0;
  for (const std::string& file : files) {
    EST_ASSIGN_OR_RETURN(const TFRecordPosition end, EndOfRecords(file, options.rewrite.input));
    records += end.index;
    bytes += end.offset;
  }
  const int64_t num_shards =
      options.num_shards > 0
          ? options.num_shards
          : std::clamp<int64_t>((bytes + options.shard_bytes / 2) / options.shard_bytes, 1,
                                std::max<int64_t>(records, 1));
  if (records < num_shards) {
    return InvalidArgument("there are ", records, " records for ", num_shards,
                           " shards; a shard must not be empty");
  }
  // The records of a shard begin at this number. So the shards differ by one record at most.
  const auto first_of = [&](int64_t shard) { return records * shard / num_shards; };
  std::vector<std::string> paths;
  for (int64_t shard = 0; shard < num_shards; ++shard) {
    const int64_t count = options.counts_in_names ? first_of(shard + 1) - first_of(shard) : -1;
    paths.push_back(ShardPath(prefix, shard, num_shards, count, options.suffix));
    EST_RETURN_IF_ERROR(CheckAbsent(paths.back(), options.rewrite.force));
    for (const std::string& file : files) {
      if (!IsSameFile(file, paths.back())) continue;
      return InvalidArgument(file, " is an input and an output; choose another prefix");
    }
  }
  EST_RETURN_IF_ERROR(CreateDirectoryOf(prefix));
  ProgressBar progress("records", records);
  std::unique_ptr<RecordFileWriter> writer;
  int64_t shard = -1, done = 0;
  for (const std::string& file : files) {
    EST_RETURN_IF_ERROR(
        ForEachRecord(file, options.rewrite.input, [&](const Record& record) -> absl::Status {
          if (done == first_of(shard + 1)) {
            if (writer) EST_RETURN_IF_ERROR(writer->Finish(paths[static_cast<size_t>(shard)]));
            ++shard;
            EST_ASSIGN_OR_RETURN(writer,
                                 RecordFileWriter::Open(paths[static_cast<size_t>(shard)],
                                                        {.compression = options.rewrite.output}));
          }
          ++done;
          progress.Add(1);
          return writer->Write(record.data);
        }));
  }
  if (writer) EST_RETURN_IF_ERROR(writer->Finish(paths[static_cast<size_t>(shard)]));
  progress.Finish();
  return absl::StrCat("wrote ", records, " records to ", paths.front(),
                      num_shards > 1 ? absl::StrCat(" ... ", paths.back()) : "", " (", num_shards,
                      " files)\n");
}

absl::StatusOr<std::string> MergeRecordFiles(const std::vector<std::string>& files,
                                             const std::string& output,
                                             const RewriteOptions& options) {
  for (const std::string& file : files) {
    if (IsSameFile(file, output)) {
      return InvalidArgument(output,
                             " is an input and the output; the last argument is the output");
    }
  }
  EST_RETURN_IF_ERROR(CheckAbsent(output, options.force));
  EST_RETURN_IF_ERROR(CreateDirectoryOf(output));
  EST_ASSIGN_OR_RETURN(const auto writer,
                       RecordFileWriter::Open(output, {.compression = options.output}));
  ProgressBar progress("records", 0);
  for (const std::string& file : files) {
    EST_RETURN_IF_ERROR(ForEachRecord(file, options.input, [&](const Record& record) {
      progress.Add(1);
      return writer->Write(record.data);
    }));
  }
  EST_RETURN_IF_ERROR(writer->Finish(output));
  progress.Finish();
  return absl::StrCat("wrote ", writer->records(), " records of ", files.size(), " files to ",
                      output, "\n");
}

}  // namespace estimator
