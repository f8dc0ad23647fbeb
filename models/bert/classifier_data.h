// The input of the classifier: TFRecord files of tf.train.Examples with these int64 features, as
// google-research/bert's run_classifier writes them.
//
//   input_ids [S]     the ids of the words; 0 after the last one
//   input_mask [S]    1 for a word, 0 after the last one
//   segment_ids [S]   the sentence of each word, 0 or 1
//   label_ids []      the class
//   is_real_example []  0 for an example that only fills up a batch; absent: 1
#ifndef MODELS_BERT_CLASSIFIER_DATA_H_
#define MODELS_BERT_CLASSIFIER_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/estimator_spec.h"

namespace estimator::bert {

// Returns the files of a list such as "a.tf_record,b-*.tf_record", in its order.
// Errors: NOT_FOUND naming the pattern that no file matches; as CheckExamples.
absl::StatusOr<std::vector<std::string>> FindExampleFiles(absl::string_view patterns,
                                                          int64_t max_seq_length);

// Checks the first example of a file.
// Errors: INVALID_ARGUMENT if the file has no examples, if input_ids has another length than
// max_seq_length (with both), or if the record is no such example; DATA_LOSS for a damaged file.
absl::Status CheckExamples(absl::string_view path, int64_t max_seq_length);

// Returns batches of the features above, i32 [N, S] and i32 [N], without labels.
//   kTrain: repeats for ever, shuffled again each epoch, full batches only.
//   kEval, kPredict: once, in order, without examples that are not real. The last batch may be
//     smaller. In kPredict, label_ids may be absent and are then 0.
//   hosts, host: the processes that train together, and which of them reads: each gets its part of
//   the batch that one of them would get.
// Errors (of the iterator): INVALID_ARGUMENT for a record that is no such example.
Dataset ClassifierDataset(const std::vector<std::string>& files, int64_t max_seq_length, Mode mode,
                          int64_t batch_size, int hosts = 1, int host = 0);

struct DrawnSentencesOptions {
  int64_t count = 0;
  int64_t max_seq_length = 0;  // at least 8
  int64_t vocab_size = 0;      // at least 16
  uint64_t seed = 0;
};
// Writes examples with drawn words, for a run without data. The words of one half of the vocabulary
// are frequent in examples of class 1, those of the other half in class 0. Ids 1 and 2 begin and
// end a sentence, as [CLS] and [SEP].
// Errors: those of the file.
absl::Status WriteDrawnSentences(absl::string_view path, const DrawnSentencesOptions& options);

}  // namespace estimator::bert

#endif  // MODELS_BERT_CLASSIFIER_DATA_H_
