#include "estimator/data/parsing/example_builder.h"

#include <utility>

#include "estimator/proto/example.pb.h"

namespace estimator {

ExampleBuilder& ExampleBuilder::Ints(StringArg name, std::vector<int64_t> values) {
  features_[std::string(name)] = std::move(values);
  return *this;
}
ExampleBuilder& ExampleBuilder::Floats(StringArg name, std::vector<float> values) {
  features_[std::string(name)] = std::move(values);
  return *this;
}
ExampleBuilder& ExampleBuilder::Bytes(StringArg name, std::vector<std::string> values) {
  features_[std::string(name)] = std::move(values);
  return *this;
}

std::string ExampleBuilder::Serialize() const {
  proto::Example example;
  for (const auto& [name, values] : features_) {
    proto::Feature& feature = (*example.mutable_features()->mutable_feature())[name];
    if (const auto* ints = std::get_if<std::vector<int64_t>>(&values)) {
      feature.mutable_int64_list()->mutable_value()->Assign(ints->begin(), ints->end());
    } else if (const auto* floats = std::get_if<std::vector<float>>(&values)) {
      feature.mutable_float_list()->mutable_value()->Assign(floats->begin(), floats->end());
    } else {
      for (const std::string& bytes : std::get<std::vector<std::string>>(values)) {
        feature.mutable_bytes_list()->add_value(bytes);
      }
    }
  }
  std::string out;
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);  // sorts maps by key
    example.SerializeToCodedStream(&coded);
  }
  return out;
}

}  // namespace estimator
