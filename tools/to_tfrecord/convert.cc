#include "tools/to_tfrecord/convert.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "estimator/base/file.h"
#include "estimator/base/file_lock.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "tools/tfrecord/record_file_writer.h"
#include "tools/tfrecord/record_files.h"
#include "tools/tfrecord/rewrite.h"
#include "tools/to_tfrecord/example_batch.h"

namespace estimator {
namespace {

// About the bytes of a record beside the image.
constexpr int64_t kOtherBytes = 300;

// FNV-1a with 64 bits. In the manifest: do not change.
class Hash {
 public:
  void Add(absl::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    value_ = (value_ ^ 0xff) * 0x100000001b3;  // between two fields
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

std::string YesOrNo(bool value) { return value ? "true" : "false"; }

std::string LabelFormatName(LabelFormat format) {
  return format == LabelFormat::kIndex      ? "index"
         : format == LabelFormat::kMultiHot ? "multi_hot"
                                            : "columns";
}

// All that changes the bytes of the files. The names are those of the flags.
std::map<std::string, std::string> Settings(const SampleSet& set, const Split& split,
                                            const ConvertOptions& options) {
  const ExampleKeys& keys = options.example.keys;
  Hash classes;
  for (const std::string& name : set.classes) classes.Add(name);
  for (const std::string& synset : set.synsets) classes.Add(synset);
  std::map<std::string, std::string> settings = {
      {"images", absl::StrCat(split.samples.size())},
      {"--split", split.origin},
      {"num_shards", absl::StrCat(split.num_shards)},
      {"classes", absl::StrCat(set.classes.size(), " (", absl::Hex(classes.value()), ")")},
      {"--first_label", absl::StrCat(set.classes_are_numbers ? 0 : options.example.first_label)},
      {"--label_format", LabelFormatName(options.example.label_format)},
      {"--rgb_jpeg", YesOrNo(options.image.rgb_jpeg)},
      {"--compression", options.compression == Compression::kNone
                            ? "none"
                            : std::string(CompressionName(options.compression))},
      {"--counts_in_names", YesOrNo(options.counts_in_names)},
      {"--suffix", options.suffix},
  };
  if (options.image.rgb_jpeg) {
    settings["--jpeg_quality"] = absl::StrCat(options.image.jpeg_quality);
  }
  settings["keys"] = absl::StrJoin(
      {keys.image, keys.label, keys.text, keys.synset, keys.one_hot, keys.height, keys.width,
       keys.channels, keys.colorspace, keys.format, keys.filename, keys.bbox},
      " ");
  return settings;
}

// Writes one split.
class SplitWriter {
 public:
  SplitWriter(const SampleSet& set, const Split& split, const ConvertOptions& options,
              ProgressBar& progress, ConvertReport& report)
      : set_(set), split_(split), options_(options), progress_(progress), report_(report) {}

  // Reads the manifest of an earlier run and checks that this one may continue it.
  absl::Status Open() {
    manifest_.settings = Settings(set_, split_, options_);
    EST_ASSIGN_OR_RETURN(const auto files, EarlierFiles());
    EST_ASSIGN_OR_RETURN(const bool continues, Exists(ManifestPath()));
    if (continues) {
      EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(ManifestPath()));
      const absl::StatusOr<Manifest> earlier = DecodeManifest(text);
      const absl::Status same = earlier.ok()
                                    ? CheckSameSettings(earlier->settings, manifest_.settings)
                                    : earlier.status();
      if (same.ok()) {
        manifest_.shards = earlier->shards;
        return absl::OkStatus();
      }
      if (!options_.force) {
        return absl::Status(
            same.code(),
            absl::StrCat(ManifestPath(), ", which an earlier run wrote: ", same.message(),
                         ". Choose another --output_dir, or pass --force to replace its files"));
      }
    } else if (!files.empty() && !options_.force) {
      return absl::AlreadyExistsError(absl::StrCat(
          "there are already files ", files.front(), " ... (", files.size(),
          "), which this tool did not write; choose another --output_dir or --split, or pass "
          "--force to replace them"));
    }
    for (const std::string& file : files) EST_RETURN_IF_ERROR(RemoveFile(file));
    // It says whose the first shard is, if this process is killed right after that one.
    return WriteManifest();
  }

  absl::Status Write() {
    std::vector<int64_t> missing;
    for (int64_t shard = 0; shard < split_.num_shards; ++shard) {
      if (IsFinished(shard)) {
        Count(manifest_.shards[shard]);
        progress_.AddEarlier(static_cast<int64_t>(Samples(shard).size()));
        ++report_.kept_shards;
      } else {
        missing.push_back(shard);
      }
    }
    for (const int64_t shard : missing) EST_RETURN_IF_ERROR(WriteShard(shard));
    return absl::OkStatus();
  }

  absl::Status WriteUnusedFiles() const {
    const std::string path =
        JoinPath(options_.output_dir, absl::StrCat("unused_files-", split_.name, ".txt"));
    if (unused_.empty()) return FileExists(path) ? RemoveFile(path) : absl::OkStatus();
    std::string text;
    for (const UnusedFile& unused : unused_) {
      absl::StrAppend(&text, unused.path, "\t", absl::CEscape(unused.reason), "\n");
    }
    return WriteFileAtomically(path, text);
  }

 private:
  std::string Prefix() const { return JoinPath(options_.output_dir, split_.name); }
  std::string ManifestPath() const {
    return JoinPath(options_.output_dir, absl::StrCat(".", split_.name, ".manifest"));
  }

  absl::Status WriteManifest() const {
    return WriteFileAtomically(ManifestPath(), EncodeManifest(manifest_));
  }

  // The files with the names of this split's shards: train-00000-of-00012...
  absl::StatusOr<std::vector<std::string>> EarlierFiles() const {
    EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(options_.output_dir));
    std::vector<std::string> files;
    for (const std::string& name : names) {
      absl::string_view rest = name;
      if (absl::ConsumePrefix(&rest, split_.name + "-") && !rest.empty() &&
          absl::ascii_isdigit(static_cast<unsigned char>(rest[0])) &&
          absl::StrContains(rest, "-of-")) {
        files.push_back(JoinPath(options_.output_dir, name));
      }
    }
    return files;
  }

  absl::Span<const int64_t> Samples(int64_t shard) const {
    const auto total = static_cast<int64_t>(split_.samples.size());
    // The numbers of images differ by one at most, and no shard is empty.
    const int64_t begin = total * shard / split_.num_shards;
    const int64_t end = total * (shard + 1) / split_.num_shards;
    return absl::MakeConstSpan(split_.samples)
        .subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  uint64_t HashInputs(int64_t shard) const {
    Hash hash;
    for (const int64_t i : Samples(shard)) {
      const Sample& sample = set_.samples[static_cast<size_t>(i)];
      hash.Add(sample.path);
      hash.Add(sample.name);
      hash.Add(absl::StrJoin(sample.labels, ","));
      hash.Add(absl::StrCat(sample.bytes, " ", sample.modified_seconds));
      const auto boxes = set_.boxes.find(sample.name);
      if (boxes == set_.boxes.end()) continue;
      for (const BoundingBox& box : boxes->second) {
        hash.Add(absl::StrCat(box.xmin, " ", box.xmax, " ", box.ymin, " ", box.ymax));
      }
    }
    return hash.value();
  }

  bool IsFinished(int64_t shard) const {
    const auto found = manifest_.shards.find(shard);
    if (found == manifest_.shards.end() || found->second.inputs != HashInputs(shard)) return false;
    // The file may have been removed or truncated since.
    const auto size = FileSize(JoinPath(options_.output_dir, found->second.file));
    return size.ok() && *size == found->second.bytes;
  }

  void Count(const FinishedShard& shard) {
    report_.records += shard.records;
    report_.bytes += shard.bytes;
    report_.files.push_back(JoinPath(options_.output_dir, shard.file));
    CountUnused(shard);
  }
  void CountUnused(const FinishedShard& shard) {
    report_.unused.insert(report_.unused.end(), shard.unused.begin(), shard.unused.end());
    unused_.insert(unused_.end(), shard.unused.begin(), shard.unused.end());
  }

  absl::StatusOr<std::string> MakeExample(const Sample& sample) const {
    EST_ASSIGN_OR_RETURN(std::string bytes, set_.load(sample));
    EST_ASSIGN_OR_RETURN(const EncodedImage image, CheckImage(std::move(bytes), options_.image));
    return BuildImageExample(image, sample, set_, options_.example);
  }

  std::unique_ptr<ExampleBatch> StartBatch(absl::Span<const int64_t> samples, size_t begin) const {
    if (begin >= samples.size()) return nullptr;
    const size_t size = std::min(samples.size() - begin, static_cast<size_t>(options_.batch_size));
    return std::make_unique<ExampleBatch>(
        size, options_.num_threads,
        [this, part = samples.subspan(begin, size)](size_t i) -> absl::StatusOr<std::string> {
          return MakeExample(set_.samples[static_cast<size_t>(part[i])]);
        });
  }

  absl::Status WriteShard(int64_t shard) {
    const absl::Span<const int64_t> samples = Samples(shard);
    const std::string name =
        ShardPath(Prefix(), shard, split_.num_shards, /*count=*/-1, options_.suffix);
    EST_ASSIGN_OR_RETURN(const auto writer,
                         RecordFileWriter::Open(name, {.compression = options_.compression}));
    FinishedShard finished{.inputs = HashInputs(shard)};
    std::unique_ptr<ExampleBatch> next = StartBatch(samples, 0);
    for (size_t begin = 0; next != nullptr;) {
      EST_RETURN_IF_ERROR(CheckInterrupt());
      const std::unique_ptr<ExampleBatch> batch = std::move(next);
      auto& examples = batch->Wait();
      next = StartBatch(samples, begin + examples.size());  // is made while this one is written
      for (size_t i = 0; i < examples.size(); ++i) {
        if (examples[i].ok()) {
          EST_RETURN_IF_ERROR(writer->Write(*examples[i]));
        } else {
          const size_t index = static_cast<size_t>(samples[begin + i]);
          finished.unused.push_back({.path = set_.samples[index].path,
                                     .reason = std::string(examples[i].status().message())});
        }
      }
      begin += examples.size();
      progress_.Add(static_cast<int64_t>(examples.size()));
    }
    const size_t unused = report_.unused.size() + finished.unused.size();
    if (!finished.unused.empty() && static_cast<int64_t>(unused) > options_.allow_bad) {
      CountUnused(finished);
      return absl::OkStatus();  // the shard is not finished, and Convert fails at the end
    }
    const std::string path =
        ShardPath(Prefix(), shard, split_.num_shards,
                  options_.counts_in_names ? writer->records() : int64_t{-1}, options_.suffix);
    const auto earlier = manifest_.shards.find(shard);
    EST_RETURN_IF_ERROR(writer->Finish(path));
    finished.file = std::string(Basename(path));
    finished.records = writer->records();
    EST_ASSIGN_OR_RETURN(finished.bytes, FileSize(path));
    if (earlier != manifest_.shards.end() && earlier->second.file != finished.file) {
      // The same shard with another number of records in its name.
      const std::string stale = JoinPath(options_.output_dir, earlier->second.file);
      if (FileExists(stale)) EST_RETURN_IF_ERROR(RemoveFile(stale));
    }
    manifest_.shards[shard] = finished;
    EST_RETURN_IF_ERROR(WriteManifest());
    Count(finished);
    return absl::OkStatus();
  }

  const SampleSet& set_;
  const Split& split_;
  const ConvertOptions& options_;
  ProgressBar& progress_;
  ConvertReport& report_;  // of all splits
  Manifest manifest_;
  std::vector<UnusedFile> unused_;  // of this split
};

absl::Status WriteLabels(const SampleSet& set, const ConvertOptions& options) {
  if (set.classes.empty()) return absl::OkStatus();
  std::string text;
  for (const std::string& name : set.classes) absl::StrAppend(&text, absl::CEscape(name), "\n");
  const std::string path = JoinPath(options.output_dir, "labels.txt");
  EST_ASSIGN_OR_RETURN(const bool exists, Exists(path));
  if (exists && !options.force) {
    EST_ASSIGN_OR_RETURN(const std::string before, ReadFile(path));
    if (before == text) return absl::OkStatus();
    return FailedPrecondition(path, " has other classes than this data set (", set.classes.size(),
                              ", ", JoinSome(set.classes, 5),
                              "), so that labels would mean different classes in one folder. "
                              "Choose another --output_dir, or pass --force");
  }
  return WriteFileAtomically(path, text);
}

absl::Status SetNumShards(const SampleSet& set, const ConvertOptions& options, Split& split) {
  const auto count = static_cast<int64_t>(split.samples.size());
  if (split.num_shards > count) {
    return InvalidArgument("split ", split.name, " has ", count,
                           " images, which are fewer than its ", split.num_shards,
                           " shards; reduce the number of shards");
  }
  if (split.num_shards > 0) return absl::OkStatus();
  int64_t bytes = 0;
  for (const int64_t i : split.samples) {
    bytes += set.samples[static_cast<size_t>(i)].bytes + kOtherBytes;
  }
  split.num_shards =
      std::clamp<int64_t>((bytes + options.shard_bytes / 2) / options.shard_bytes, 1, count);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConvertReport> Convert(const SampleSet& set, std::vector<Split> splits,
                                      const ConvertOptions& given) {
  ConvertOptions options = given;
  if (options.num_threads <= 0) {
    options.num_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }
  EST_RETURN_IF_ERROR(CheckExampleKeys(set, options.example));
  for (Split& split : splits) EST_RETURN_IF_ERROR(SetNumShards(set, options, split));
  EST_RETURN_IF_ERROR(CreateDirectories(options.output_dir));
  const auto lock = FileLock::TryLock(JoinPath(options.output_dir, ".to_tfrecord.lock"));
  if (absl::IsAlreadyExists(lock.status())) {
    return absl::Status(lock.status().code(),
                        absl::StrCat("another program is writing to ", options.output_dir, ": ",
                                     lock.status().message()));
  }
  EST_RETURN_IF_ERROR(RemoveTemporaryFiles(options.output_dir, ""));  // of killed runs
  EST_RETURN_IF_ERROR(WriteLabels(set, options));

  int64_t total = 0;
  for (const Split& split : splits) total += static_cast<int64_t>(split.samples.size());
  ConvertReport report;
  ProgressBar progress("images", total, options.progress);
  std::vector<std::unique_ptr<SplitWriter>> writers;
  for (const Split& split : splits) {
    writers.push_back(std::make_unique<SplitWriter>(set, split, options, progress, report));
    EST_RETURN_IF_ERROR(writers.back()->Open());
  }
  int64_t num_shards = 0;
  for (const Split& split : splits) num_shards += split.num_shards;
  for (const auto& writer : writers) {
    const absl::Status written = writer->Write();
    if (absl::IsCancelled(written)) {
      return absl::CancelledError(
          absl::StrCat("interrupted; ", report.files.size(), " of ", num_shards,
                       " files are finished, and the same command continues"));
    }
    EST_RETURN_IF_ERROR(written);
    EST_RETURN_IF_ERROR(writer->WriteUnusedFiles());
  }
  progress.Finish();
  std::sort(report.files.begin(), report.files.end());
  if (static_cast<int64_t>(report.unused.size()) <= options.allow_bad) return report;
  std::vector<std::string> lines;
  for (const UnusedFile& unused : report.unused) {
    lines.push_back(absl::StrCat("\n  ", unused.path, ": ", unused.reason));
  }
  return InvalidArgument(
      report.unused.size(), " of ", total,
      " images cannot be used, and --allow_bad=", options.allow_bad,
      " allows fewer:", JoinSome(lines, 20), "\n",
      JoinPath(options.output_dir, "unused_files-*.txt"),
      " has the whole list. Repair or remove them, or pass --allow_bad=", report.unused.size(),
      " to leave them out; the same command then writes the shards that are missing");
}

}  // namespace estimator
