// WarmStartSettings: which variables of a new model start at values of an earlier one.
//
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

// For a variable with an axis whose indices are words of a vocabulary. A vocabulary is a text file
// with one word per line. Word i is row i (axis 0) or column i (axis 1). Words in both vocabularies
// keep their values, even if their indices differ. Other words, and the buckets for unknown words,
// get initial values.
// Source: TF 2.15 tf.compat.v1.train.VocabInfo.
struct VocabInfo {
  std::string new_vocab = "";   // path; required
  int64_t new_vocab_size = 0;   // the first new_vocab_size words are used; required
  int64_t num_oov_buckets = 0;  // number of buckets; their rows come after those of the words
  std::string old_vocab = "";   // path of the checkpoint's vocabulary; required
  int64_t old_vocab_size = -1;  // the first old_vocab_size words are used; -1: all
  // The initial values of words that the old vocabulary does not have, and of buckets. It runs once
  // for the variable's whole shape. Null: zeros.
  Initializer backup_initializer = nullptr;
  int axis = 0;  // 0 or 1
};

// The type of WarmStartSettings::vars_to_warm_start. Regular expressions have Python's syntax,
// and match at the beginning of a variable's name, as in TensorFlow: "dense" matches dense/kernel
// and dense_1/bias.
class VarsToWarmStart {
 public:
  enum class Kind { kModel, kAll, kNamed, kOnlyVocab };

  // Variables of the model (Graph::ModelVariables) whose name the expression matches. A variable
  // that is not trainable may be missing in the checkpoint, with a warning. TensorFlow takes
  // trainable variables only, and so leaves out the moving averages of batch normalization.
  VarsToWarmStart(const char* regex) : VarsToWarmStart(std::string(regex)) {}  // NOLINT
  VarsToWarmStart(std::string regex)                                           // NOLINT
      : kind_(Kind::kModel), words_({std::move(regex)}) {}
  // All variables, including optimizer slots and global_step, whose name one of the expressions
  // matches.
  VarsToWarmStart(std::initializer_list<std::string> regexes)
      : kind_(Kind::kAll), words_(regexes) {}
  VarsToWarmStart(std::vector<std::string> regexes)  // NOLINT
      : kind_(Kind::kAll), words_(std::move(regexes)) {}
  // Only trainable variables of var_name_to_vocab_info. This is TensorFlow's None.
  VarsToWarmStart(std::nullopt_t) : kind_(Kind::kOnlyVocab) {}  // NOLINT
  // Variables of exactly these names.
  static VarsToWarmStart Named(std::vector<std::string> names) {
    VarsToWarmStart vars(std::nullopt);
    vars.kind_ = Kind::kNamed;
    vars.words_ = std::move(names);
    return vars;
  }

  Kind kind() const { return kind_; }
  // Regular expressions; names for kNamed.
  const std::vector<std::string>& words() const { return words_; }

 private:
  Kind kind_;
  std::vector<std::string> words_;
};

// Source: TF 2.15 tf.estimator.WarmStartSettings.
struct WarmStartSettings {
  // A checkpoint's prefix, a directory (its newest checkpoint), or a SavedModel's directory. It may
  // be a checkpoint of TensorFlow 2 (Keras, tf.train.Checkpoint); variables are found by their
  // names.
  std::string ckpt_to_initialize_from = "";
  // The default is all variables of the model. These do not include global_step and what only
  // training has, such as optimizer slots.
  VarsToWarmStart vars_to_warm_start = ".*";
  // By variable name.
  std::map<std::string, VocabInfo> var_name_to_vocab_info = {};
  // Variable name -> name in the checkpoint, for variables whose names differ.
  std::map<std::string, std::string> var_name_to_prev_var_name = {};
};

// The type of an Estimator's `warm_start_from`: nothing, a path, or settings.
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

// Checks the settings without the model and the files.
// Errors: INVALID_ARGUMENT listing all options that are missing or out of range.
absl::Status ValidateWarmStart(const WarmStartSettings& settings);

namespace train {
using ::estimator::VocabInfo;  // TensorFlow has it in both namespaces
}  // namespace train

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_WARM_START_SETTINGS_H_
