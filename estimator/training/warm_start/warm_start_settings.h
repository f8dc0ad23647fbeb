// WarmStartSettings: which variables of a new model begin at values of an earlier one.
//   .warm_start_from = "/tmp/other_model_dir"
//   .warm_start_from = WarmStartSettings{.ckpt_to_initialize_from = "/tmp/bert/bert_model.ckpt",
//                                        .vars_to_warm_start = "bert/"}
#ifndef ESTIMATOR_TRAINING_WARM_START_WARM_START_SETTINGS_H_
#define ESTIMATOR_TRAINING_WARM_START_WARM_START_SETTINGS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/graph/variable.h"

namespace estimator {

// A variable whose axis follows the words of a vocabulary. A vocabulary is a text file, one word a
// line; word i is row i (column i, for axis 1). Words that both vocabularies have keep their values
// wherever they stand; the others, and the buckets for unknown words, get first values.
// Source: TF 2.15 tf.compat.v1.train.VocabInfo.
struct VocabInfo {
  std::string new_vocab = "";   // path; required
  int64_t new_vocab_size = 0;   // words of it in use, the first ones; required
  int64_t num_oov_buckets = 0;  // rows of the variable after those of the words
  std::string old_vocab = "";   // path; required: the vocabulary of the checkpoint
  int64_t old_vocab_size = -1;  // words of it that count, the first ones; -1: all
  // Of words that the old vocabulary lacks and of buckets, run once over the variable's whole
  // shape; null: zeros.
  Initializer backup_initializer = nullptr;
  int axis = 0;  // 0 or 1
};

// WarmStartSettings::vars_to_warm_start. Regular expressions are Python's and match at the
// beginning of a variable's name, as in TensorFlow: "dense" takes dense/kernel and dense_1/bias.
class VarsToWarmStart {
 public:
  enum class Kind { kTrainable, kAll, kNamed, kOnlyVocab };

  // Trainable variables that the expression matches.
  VarsToWarmStart(const char* regex) : VarsToWarmStart(std::string(regex)) {}  // NOLINT
  VarsToWarmStart(std::string regex)                                           // NOLINT
      : kind_(Kind::kTrainable), words_({std::move(regex)}) {}
  // Variables of any kind, optimizer slots and global_step too, that one of them matches.
  VarsToWarmStart(std::initializer_list<std::string> regexes)
      : kind_(Kind::kAll), words_(regexes) {}
  VarsToWarmStart(std::vector<std::string> regexes)  // NOLINT
      : kind_(Kind::kAll), words_(std::move(regexes)) {}
  // Trainable variables of var_name_to_vocab_info only: TensorFlow's None.
  VarsToWarmStart(std::nullopt_t) : kind_(Kind::kOnlyVocab) {}  // NOLINT
  // Variables of exactly these names.
  static VarsToWarmStart Named(std::vector<std::string> names) {
    VarsToWarmStart vars(std::nullopt);
    vars.kind_ = Kind::kNamed;
    vars.words_ = std::move(names);
    return vars;
  }

  Kind kind() const { return kind_; }
  // Expressions, or names.
  const std::vector<std::string>& words() const { return words_; }

 private:
  Kind kind_;
  std::vector<std::string> words_;
};

// Source: TF 2.15 tf.estimator.WarmStartSettings.
struct WarmStartSettings {
  // A checkpoint's prefix, a directory (its newest checkpoint), or a SavedModel's directory. Of
  // TensorFlow 2's objects too (Keras, tf.train.Checkpoint), by the names of their variables.
  std::string ckpt_to_initialize_from = "";
  // The default leaves out global_step, optimizer slots and batch norm's moving averages.
  VarsToWarmStart vars_to_warm_start = ".*";
  std::map<std::string, VocabInfo> var_name_to_vocab_info = {};
  // Names in the checkpoint, by variable name, where they differ.
  std::map<std::string, std::string> var_name_to_prev_var_name = {};
};

// What `warm_start_from` of an Estimator takes: nothing, a path, or settings.
class WarmStartFrom {
 public:
  WarmStartFrom() = default;
  WarmStartFrom(std::nullopt_t) {}                                       // NOLINT
  WarmStartFrom(const char* path) : WarmStartFrom(std::string(path)) {}  // NOLINT
  WarmStartFrom(std::string path) {                                      // NOLINT
    settings_.emplace().ckpt_to_initialize_from = std::move(path);
  }
  WarmStartFrom(WarmStartSettings settings) : settings_(std::move(settings)) {}  // NOLINT

  const std::optional<WarmStartSettings>& settings() const { return settings_; }

 private:
  std::optional<WarmStartSettings> settings_;
};

// Errors: INVALID_ARGUMENT listing all that is missing or out of range, as far as it shows without
// the model and the files.
absl::Status ValidateWarmStart(const WarmStartSettings& settings);

namespace train {
using ::estimator::VocabInfo;  // TensorFlow has it in both
}  // namespace train

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_WARM_START_SETTINGS_H_
