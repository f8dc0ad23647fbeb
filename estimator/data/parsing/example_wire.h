// Reads serialized tf.train.Examples and SequenceExamples in place: nothing is copied but values.
// What is valid is what TensorFlow's own parser takes: unknown fields of an Example are skipped,
// the last of several features of one name counts, and features that nobody asks for are not read.
// Source: TF 2.15 tensorflow/core/util/example_proto_fast_parsing.cc.
#ifndef ESTIMATOR_DATA_PARSING_EXAMPLE_WIRE_H_
#define ESTIMATOR_DATA_PARSING_EXAMPLE_WIRE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace estimator {

// The bytes of a tf.train.Feature. They must outlive it.
class WireFeature {
 public:
  // In the order of the names in example_parser.cc.
  enum class Kind { kNone, kBytes, kFloat, kInt64, kUnknown };

  WireFeature() = default;
  explicit WireFeature(absl::string_view bytes) : bytes_(bytes) {}

  // kNone if it has no list: such a feature is missing. kUnknown if it has a list of another kind.
  Kind kind() const;

  // Writes the first values to `out`, as many as it has place for. Returns the number of all
  // values, or -1 if the bytes are damaged.
  // REQUIRES: kind() is the one that `out` needs: kBytes, kFloat or kInt64.
  int64_t Values(absl::Span<std::string> out) const;
  int64_t Values(absl::Span<float> out) const;
  int64_t Values(absl::Span<int64_t> out) const;
  // As above, for values that must fit int32.
  //   unfit: set to the first value that does not fit, or else not changed.
  int64_t Values(absl::Span<int32_t> out, int64_t* unfit) const;
  // The number of values, or -1. REQUIRES: kind() is kBytes, kFloat or kInt64.
  int64_t NumValues() const;

 private:
  absl::string_view bytes_;
};

// Reads the entries of a message. Use: while (entries.Next(&name, &bytes)) ...; then check ok().
// It reads a map of strings to messages, as that of Features, where each entry has a key and a
// value.
class WireMap {
 public:
  // The features of an Example. Several Examples, one after another, are one.
  static WireMap OfExample(absl::string_view example);
  // The context features and the feature lists of a SequenceExample.
  static WireMap OfContext(absl::string_view sequence_example);
  static WireMap OfFeatureLists(absl::string_view sequence_example);

  // The next entry. Returns false at the end and if the bytes are damaged.
  bool Next(absl::string_view* key, absl::string_view* value);
  // False if the bytes were damaged.
  bool ok() const { return ok_; }

 private:
  WireMap(absl::string_view message, uint32_t field) : message_(message), tag_(field << 3 | 2) {}

  absl::string_view message_;
  uint32_t tag_;  // of the field of `message_` that has the map
  absl::string_view map_;
  bool ok_ = true;
};

// Reads the features of a FeatureList. As WireMap.
class WireFeatureList {
 public:
  explicit WireFeatureList(absl::string_view bytes) : bytes_(bytes) {}
  bool Next(WireFeature* feature);
  bool ok() const { return ok_; }

 private:
  absl::string_view bytes_;
  bool ok_ = true;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_EXAMPLE_WIRE_H_
