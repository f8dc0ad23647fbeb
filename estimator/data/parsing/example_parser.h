// Parses serialized Examples by specs that were checked once. It reads the bytes in place and
// writes the values into the resulting arrays.
#ifndef ESTIMATOR_DATA_PARSING_EXAMPLE_PARSER_H_
#define ESTIMATOR_DATA_PARSING_EXAMPLE_PARSER_H_

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/data/parsing/example_wire.h"
#include "estimator/data/parsing/feature_spec.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// Errors: INVALID_ARGUMENT if an Example has more bytes than TensorFlow's parser can count.
absl::Status CheckExampleSize(absl::string_view example);

// Thread-safe. An error of the specs is that of each Parse.
class ExampleParser {
 public:
  explicit ExampleParser(FeatureSpecs specs);
  ExampleParser(const ExampleParser&) = delete;
  ExampleParser& operator=(const ExampleParser&) = delete;

  absl::StatusOr<ArrayMap> Parse(absl::string_view example) const;
  // The arrays have an axis 0 of the number of examples.
  absl::StatusOr<ArrayMap> ParseBatch(absl::Span<const std::string> examples) const;

  // Finds the features of a map, which are those of the specs in their order.
  //   found: set to one feature for each spec; a missing one has no kind.
  absl::Status Find(WireMap map, absl::Span<WireFeature> found) const;
  // Parses the features of num_rows examples.
  //   features: those of the first example, then those of the next one.
  //   row_name: of a row in messages, "example" or "step". If it is empty, num_rows is 1 and the
  //     results have no axis 0 of size num_rows.
  absl::StatusOr<ArrayMap> Decode(absl::Span<const WireFeature> features, size_t num_rows,
                                  absl::string_view row_name) const;

  size_t num_specs() const { return specs_.size(); }
  const absl::Status& status() const { return status_; }

 private:
  FeatureSpecs specs_;
  absl::flat_hash_map<absl::string_view, size_t> index_;  // of a name in the order of specs_
  absl::Status status_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_EXAMPLE_PARSER_H_
