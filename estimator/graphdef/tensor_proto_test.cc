#include "estimator/graphdef/tensor_proto.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "estimator/array/compare.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Array> Read(const std::string& text) {
  proto::TensorProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return ReadTensorProto(proto, 1000);
}

void ExpectReads(const std::string& text, const Array& expected) {
  const auto value = Read(text);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_TRUE(SameBits(*value, expected)) << value->ToString();
}

TEST(TensorProtoTest, ReadsWhatItWrites) {
  for (const Array& value :
       {Array::Scalar(1.5f), Array::Of<int64_t>({2}, {1, -2}), Array::Of<bool>({2}, {true, false}),
        Array::Of<std::string>({2}, {"a", ""}), Array(DType::kFloat32, {0, 3}),
        Array::Scalar<uint8_t>(200), Array::Of<float>({2}, {1, 2}).Cast(DType::kBfloat16)}) {
    proto::TensorProto proto;
    WriteTensorProto(value, /*contents=*/true, &proto);
    const auto read = ReadTensorProto(proto, 1000);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(SameBits(*read, value)) << value.TypeString();
  }
}

TEST(TensorProtoTest, TheLastValueStandsForThoseThatFollow) {
  ExpectReads("dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: [1, 2]",
              Array::Of<float>({3}, {1, 2, 2}));
  ExpectReads("dtype: DT_INT16 tensor_shape { dim { size: 2 } } int_val: -7",
              Array::Of<int16_t>({2}, {-7, -7}));
  ExpectReads("dtype: DT_INT32 tensor_shape { dim { size: 2 } }", Array::Of<int32_t>({2}, {0, 0}));
  ExpectReads("dtype: DT_HALF tensor_shape { dim { size: 2 } } half_val: 15360",
              Array::Of<float>({2}, {1, 1}).Cast(DType::kFloat16));
}

TEST(TensorProtoTest, BytesOfBoolsAreZeroOrOne) {
  ExpectReads("dtype: DT_BOOL tensor_shape { dim { size: 2 } } tensor_content: '\\003\\000'",
              Array::Of<bool>({2}, {true, false}));
}

TEST(TensorProtoTest, RefusesWhatDoesNotFit) {
  const auto error = [](const std::string& text) {
    return std::string(Read(text).status().message());
  };
  EXPECT_THAT(error("dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: 'abcd'"),
              HasSubstr("has 4 bytes, expected 8"));
  EXPECT_THAT(error("dtype: DT_FLOAT float_val: [1, 2]"), HasSubstr("has 2 values"));
  EXPECT_THAT(error("dtype: DT_FLOAT tensor_shape { dim { size: 251 } }"),
              HasSubstr("larger than 1000 bytes"));
  EXPECT_THAT(error("dtype: DT_FLOAT tensor_shape { dim { size: -1 } }"),
              HasSubstr("without a shape"));
  EXPECT_THAT(error("dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: "
                    "4 } }"),
              HasSubstr("after 4611686018427387904 elements"));
  EXPECT_EQ(Read("dtype: DT_COMPLEX64").status().code(), absl::StatusCode::kUnimplemented);
}

TEST(TensorProtoTest, KnowsReferencesAndDTypesThatWeHaveNot) {
  EXPECT_EQ(ReadDType(proto::DT_FLOAT_REF), DType::kFloat32);
  EXPECT_EQ(ReadDType(proto::DT_STRING), DType::kString);
  EXPECT_EQ(ReadDType(proto::DT_RESOURCE), DType::kInvalid);
}

}  // namespace
}  // namespace estimator
