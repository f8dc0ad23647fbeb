#include "models/bert/classifier_data.h"

#include <memory>
#include <optional>

#include "absl/strings/str_split.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/records/tfrecord.h"

namespace estimator::bert {
namespace {

constexpr int64_t kBegin = 1, kEnd = 2, kFirstWord = 5;  // ids
constexpr float kFrequent = 0.75f;  // the share of words from the half that belongs to the class

FeatureSpecs Specs(int64_t max_seq_length, Mode mode) {
  const FixedLenFeature sequence{.dtype = DType::kInt32, .shape = {max_seq_length}};
  FixedLenFeature label{.dtype = DType::kInt32};
  if (mode == Mode::kPredict) label.default_value = Array::Scalar<int32_t>(0);
  const FixedLenFeature is_real{.dtype = DType::kInt32, .default_value = Array::Scalar<int32_t>(1)};
  return {{"input_ids", sequence},
          {"input_mask", sequence},
          {"segment_ids", sequence},
          {"label_ids", label},
          {"is_real_example", is_real}};
}

absl::StatusOr<bool> IsReal(const Element& example) {
  return example.features.at("is_real_example").scalar<int32_t>() != 0;
}

}  // namespace

absl::Status CheckExamples(absl::string_view path, int64_t max_seq_length) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<TFRecordReader> reader, TFRecordReader::Open(path));
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> record, reader->Next());
  if (!record.has_value()) return InvalidArgument(path, " has no examples");
  const absl::StatusOr<ArrayMap> ids =
      ParseSingleExample(*record, {{"input_ids", VarLenFeature{.dtype = DType::kInt64}}});
  if (!ids.ok()) return Annotate(ids.status(), path);
  const int64_t length = ids->at("input_ids").num_elements();
  if (length == max_seq_length) return absl::OkStatus();
  return InvalidArgument(path, ": input_ids of the first example has ", length,
                         " ids, but max_seq_length is ", max_seq_length);
}

absl::StatusOr<std::vector<std::string>> FindExampleFiles(absl::string_view patterns,
                                                          int64_t max_seq_length) {
  std::vector<std::string> files;
  for (const absl::string_view pattern : absl::StrSplit(patterns, ',', absl::SkipWhitespace())) {
    const absl::StatusOr<std::vector<std::string>> matches = MatchFiles(pattern);
    if (absl::IsNotFound(matches.status())) return NotFound("no file matches '", pattern, "'");
    EST_RETURN_IF_ERROR(matches.status());
    files.insert(files.end(), matches->begin(), matches->end());
  }
  for (const std::string& file : files) EST_RETURN_IF_ERROR(CheckExamples(file, max_seq_length));
  return files;
}

Dataset ClassifierDataset(const std::vector<std::string>& files, int64_t max_seq_length, Mode mode,
                          int64_t batch_size, int hosts, int host) {
  const MapFunction parse = ParseExample(Specs(max_seq_length, mode));
  if (mode == Mode::kTrain) {
    return TFRecordDataset(files)
        .Shuffle(1000)
        .Repeat()
        .Shard(hosts, host, batch_size)
        .Map(parse)
        .Batch(batch_size, {.drop_remainder = true})
        .Prefetch(2);
  }
  return TFRecordDataset(files).Map(parse).Filter(IsReal).Batch(batch_size).Prefetch(2);
}

absl::Status WriteDrawnSentences(absl::string_view path, const DrawnSentencesOptions& options) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<TFRecordWriter> writer, TFRecordWriter::Open(path));
  const int64_t half = (options.vocab_size - kFirstWord) / 2;
  const auto size = static_cast<size_t>(options.max_seq_length);
  for (int64_t i = 0; i < options.count; ++i) {
    Philox philox(options.seed, static_cast<uint64_t>(i));
    const Philox::Result first = philox.Next4();
    const int64_t label = first[0] & 1;
    const int64_t length = 8 + first[1] % (options.max_seq_length - 7);
    const int64_t second_sentence = 3 + first[2] % (length - 5);  // where it begins
    std::vector<int64_t> ids(size, 0), mask(size, 0), segments(size, 0);
    for (int64_t j = 0; j < length; ++j) {
      const Philox::Result word = philox.Next4();
      const bool upper_half = (UniformFloat(word[0]) < kFrequent) == (label == 1);
      ids[j] = kFirstWord + (upper_half ? half : 0) + word[1] % half;
      mask[j] = 1;
      segments[j] = j >= second_sentence;
    }
    ids[0] = kBegin;
    ids[second_sentence - 1] = ids[length - 1] = kEnd;
    EST_RETURN_IF_ERROR(writer->Write(ExampleBuilder()
                                          .Ints("input_ids", ids)
                                          .Ints("input_mask", mask)
                                          .Ints("segment_ids", segments)
                                          .Ints("label_ids", {label})
                                          .Ints("is_real_example", {1})
                                          .Serialize()));
  }
  return writer->Close();
}

}  // namespace estimator::bert
