// Builds serialized tf.train.Examples, for programs that write TFRecord files.
//   writer->Write(ExampleBuilder().Ints("label", {3}).Bytes("image", {jpeg}).Serialize());
#ifndef ESTIMATOR_DATA_PARSING_EXAMPLE_BUILDER_H_
#define ESTIMATOR_DATA_PARSING_EXAMPLE_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "estimator/base/string_arg.h"

namespace estimator {

class ExampleBuilder {
 public:
  // Sets a feature. It replaces an earlier feature of the same name.
  ExampleBuilder& Ints(StringArg name, std::vector<int64_t> values);
  ExampleBuilder& Floats(StringArg name, std::vector<float> values);
  ExampleBuilder& Bytes(StringArg name, std::vector<std::string> values);
  // The serialized Example. The same features always give the same bytes.
  std::string Serialize() const;

 private:
  using Values = std::variant<std::vector<int64_t>, std::vector<float>, std::vector<std::string>>;
  std::map<std::string, Values> features_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_EXAMPLE_BUILDER_H_
