#include "estimator/graphdef/import_variables.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "estimator/array/compare.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import/flat_graph.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParseShapeAndSliceTest, ReadsWhatSaversWrite) {
  CheckpointSlice slice;
  EST_ASSERT_OK(ParseShapeAndSlice("6 4 2,3:-", slice));
  EXPECT_THAT(slice.full_shape, ElementsAre(6, 4));
  EXPECT_THAT(slice.begin, ElementsAre(2, 0));
  EXPECT_THAT(slice.size, ElementsAre(3, 4));
  CheckpointSlice whole;
  EST_ASSERT_OK(ParseShapeAndSlice("", whole));
  EXPECT_THAT(whole.begin, IsEmpty());
}

TEST(ParseShapeAndSliceTest, RefusesWhatIsNone) {
  for (const char* text : {"6", "6 4 2,3", "6 4 2,3:-:-", "6 4 x,3:-", "6 4 5,3:-", "-6 4 0,1:-",
                           "6 4 9223372036854775807,9223372036854775807:-", " "}) {
    CheckpointSlice slice;
    EXPECT_FALSE(ParseShapeAndSlice(text, slice).ok()) << text;
  }
}

TEST(FindCheckpointSlicesTest, FollowsTheRestoreOpToTheVariables) {
  proto::GraphDef def;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(node { name: "w" op: "VariableV2" } node { name: "v" op: "VarHandleOp" }
         node { name: "names" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING
                tensor_shape { dim { size: 2 } } string_val: "part" string_val: "whole/v" } } } }
         node { name: "slices" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING
                tensor_shape { dim { size: 2 } } string_val: "5 0,2" string_val: "" } } } }
         node { name: "file" op: "Const" }
         node { name: "restore" op: "RestoreV2" input: "file" input: "names" input: "slices" }
         node { name: "a" op: "Assign" input: "w" input: "restore" }
         node { name: "copy" op: "Identity" input: "restore:1" }
         node { name: "b" op: "AssignVariableOp" input: "v" input: "copy" }
         node { name: "shard" op: "NoOp" input: "^a" input: "^b" }
         node { name: "all" op: "NoOp" input: "^shard" })",
      &def));
  const auto flat = FlatGraph::Create(def);
  EST_ASSERT_OK(flat);
  const auto slices = FindCheckpointSlices({.restore_op_name = "all"}, **flat);
  EST_ASSERT_OK(slices);
  ASSERT_EQ(slices->size(), 2u);
  const CheckpointSlice& w = slices->at((*flat)->Find("w")->node);
  EXPECT_EQ(w.name, "part");
  EXPECT_THAT(w.size, ElementsAre(2));
  EXPECT_EQ(slices->at((*flat)->Find("v")->node).name, "whole/v");
  EXPECT_THAT(FindCheckpointSlices({.restore_op_name = "none"}, **flat),
              ErrorHas("the graph has no op 'none'"));
}

class ReadVariableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string prefix = JoinPath(dir_.path(), "ckpt");
    auto writer = BundleWriter::Open(prefix);
    EST_ASSERT_OK(writer);
    EST_ASSERT_OK((*writer)->Add("w", Array::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})));
    EST_ASSERT_OK((*writer)->Finish());
    auto reader = BundleReader::Open(prefix);
    EST_ASSERT_OK(reader);
    reader_ = *std::move(reader);
  }
  absl::StatusOr<Array> Read(const Shape& shape, CheckpointSlice source) {
    const Tensor variable =
        graph_.AddOp("VariableV2", {}, {{"dtype", DType::kFloat32}, {"shape", shape}}, "w");
    return ReadVariable({variable, std::move(source)}, *reader_);
  }

  TempDir dir_;
  Graph graph_;
  std::unique_ptr<BundleReader> reader_;
};

TEST_F(ReadVariableTest, TakesTheWholeOrAPart) {
  EXPECT_TRUE(SameBits(*Read({3, 2}, {.name = "w"}), Array::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})));
  EXPECT_TRUE(
      SameBits(*Read({2, 2}, {.name = "w", .full_shape = {3, 2}, .begin = {1, 0}, .size = {2, 2}}),
               Array::Of<float>({2, 2}, {3, 4, 5, 6})));
  EXPECT_TRUE(
      SameBits(*Read({3, 1}, {.name = "w", .full_shape = {3, 2}, .begin = {0, 1}, .size = {3, 1}}),
               Array::Of<float>({3, 1}, {2, 4, 6})));
}

TEST_F(ReadVariableTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(Read({2, 3}, {.name = "w"}), ErrorHas("is f32 [2,3], but the checkpoint"));
  EXPECT_THAT(Read({2, 2}, {.name = "w", .full_shape = {4, 2}, .begin = {0, 0}, .size = {2, 2}}),
              ErrorHas("of which the graph takes the part [2,2] of [4,2]"));
  EXPECT_THAT(Read({3, 2}, {.name = "v"}), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace estimator
