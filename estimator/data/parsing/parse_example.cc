#include "estimator/data/parsing/parse_example.h"

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/data/parsing/example_parser.h"
#include "estimator/data/parsing/parsed_spec.h"
#include "estimator/data/parsing/sequence_example_parser.h"
#include "estimator/data/pipeline/typed_fn.h"

namespace estimator {
namespace {

// Moves the labels out of the parsed features.
absl::StatusOr<Element> WithLabels(ArrayMap features, const std::vector<std::string>& labels) {
  Element element{.features = std::move(features), .labels = {}};
  for (const std::string& name : labels) {
    EST_ASSIGN_OR_RETURN(Array label, element.features.Get(name));
    element.features.erase(name);
    element.labels[labels.size() == 1 ? "" : name] = std::move(label);
  }
  return element;
}

}  // namespace

absl::StatusOr<ArrayMap> ParseSingleExample(StringArg serialized, const FeatureSpecs& specs) {
  return ExampleParser(specs).Parse(serialized);
}

MapFunction ParseExample(FeatureSpecs specs, std::vector<std::string> labels) {
  const auto parser = std::make_shared<const ExampleParser>(specs);
  auto parse = [parser, labels](const Element& element) -> absl::StatusOr<Element> {
    EST_ASSIGN_OR_RETURN(const Array serialized, element.features.Only());
    if (serialized.dtype() != DType::kString || serialized.shape().rank() > 1) {
      return InvalidArgument(
          "ParseExample takes a serialized Example (string []) or a batch of them "
          "(string [n]), not ",
          serialized.TypeString());
    }
    const absl::Span<const std::string> examples = serialized.values<std::string>();
    EST_ASSIGN_OR_RETURN(ArrayMap features, serialized.shape().rank() == 0
                                                ? parser->Parse(examples[0])
                                                : parser->ParseBatch(examples));
    return WithLabels(std::move(features), labels);
  };
  return TypedMapFn(std::move(parse),
                    [parser, specs = std::move(specs), labels = std::move(labels)](
                        const std::optional<ElementSpec>& input) -> absl::StatusOr<ElementSpec> {
                      EST_RETURN_IF_ERROR(parser->status());
                      return ParsedExampleSpec(specs, labels, input);
                    });
}

absl::StatusOr<ArrayMap> ParseSingleSequenceExample(StringArg serialized,
                                                    const FeatureSpecs& context,
                                                    const FeatureSpecs& sequences) {
  return SequenceExampleParser(context, sequences).Parse(serialized);
}

MapFunction ParseSequenceExample(FeatureSpecs context, FeatureSpecs sequences,
                                 std::vector<std::string> labels) {
  const auto parser = std::make_shared<const SequenceExampleParser>(context, sequences);
  auto parse = [parser, labels](const Element& element) -> absl::StatusOr<Element> {
    EST_ASSIGN_OR_RETURN(const Array serialized, element.features.Only());
    if (serialized.dtype() != DType::kString || serialized.num_elements() != 1) {
      return InvalidArgument(
          "ParseSequenceExample takes one serialized SequenceExample (string []), not ",
          serialized.TypeString(), "; map before Batch");
    }
    EST_ASSIGN_OR_RETURN(ArrayMap features, parser->Parse(serialized.values<std::string>()[0]));
    return WithLabels(std::move(features), labels);
  };
  return TypedMapFn(std::move(parse),
                    [parser, context = std::move(context), sequences = std::move(sequences),
                     labels = std::move(labels)](
                        const std::optional<ElementSpec>& input) -> absl::StatusOr<ElementSpec> {
                      EST_RETURN_IF_ERROR(parser->status());
                      return ParsedSequenceExampleSpec(context, sequences, labels, input);
                    });
}

absl::StatusOr<Array> DecodeRaw(const Array& strings, DType dtype) {
  const size_t size = DTypeSize(dtype);
  if (strings.dtype() != DType::kString || size == 0) {
    return InvalidArgument("DecodeRaw reads strings as numbers, not ", strings.TypeString(), " as ",
                           DTypeName(dtype));
  }
  const absl::Span<const std::string> values = strings.values<std::string>();
  const size_t bytes = values.empty() ? 0 : values[0].size();
  if (bytes % size != 0) {
    return InvalidArgument("DecodeRaw: input of ", bytes, " bytes is not a multiple of ", size,
                           ", the size of ", DTypeName(dtype));
  }
  Shape shape = strings.shape();
  shape.push_back(static_cast<int64_t>(bytes / size));
  Array out(dtype, std::move(shape));
  char* to = static_cast<char*>(out.raw());
  for (const std::string& value : values) {
    if (value.size() != bytes) {
      return InvalidArgument("DecodeRaw: the strings have different lengths: ", bytes, " and ",
                             value.size(), " bytes");
    }
    if (bytes > 0) std::memcpy(to, value.data(), bytes);
    to += bytes;
  }
  return out;
}

absl::StatusOr<std::string> EncodeRaw(const Array& numbers) {
  if (DTypeSize(numbers.dtype()) == 0)
    return InvalidArgument("EncodeRaw writes numbers, not ", numbers.TypeString());
  // Memory is little-endian on every machine that this project runs on.
  return std::string(static_cast<const char*>(numbers.raw()), numbers.num_bytes());
}

}  // namespace estimator
