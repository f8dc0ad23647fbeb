#include "tools/checkpoint/companion_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/input_file.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "estimator/proto/meta_graph.pb.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

proto::MetaGraphDef Graph() {
  proto::MetaGraphDef meta_graph;
  proto::NodeDef* const a = meta_graph.mutable_graph_def()->add_node();
  a->set_name("a");
  proto::NodeDef* const b = meta_graph.mutable_graph_def()->add_node();
  b->set_name("b");
  b->add_input("a:1");
  b->add_input("^a");
  meta_graph.mutable_saver_def()->set_restore_op_name("b");
  return meta_graph;
}

class ExtrasTest : public ::testing::Test {
 protected:
  void WriteInput(const std::string& bytes) {
    EST_ASSERT_OK(WriteFileAtomically(InputStatePath(prefix_), bytes));
  }
  void WriteGraph(const std::string& bytes) {
    EST_ASSERT_OK(WriteFileAtomically(MetaGraphPath(prefix_), bytes));
  }
  std::vector<std::string> Damage() { return VerifyCompanionFiles(prefix_)->damage; }

  const TempDir dir_;
  const std::string prefix_ = dir_.File("model.ckpt-3");
};

TEST_F(ExtrasTest, ThatAreNotThereAreNoDamageAndWholeOnesAreNamed) {
  EXPECT_THAT(VerifyCompanionFiles(prefix_)->verified, IsEmpty());
  EXPECT_THAT(Damage(), IsEmpty());
  WriteInput(SealState("Range", "xy"));
  WriteGraph(Graph().SerializeAsString());
  EXPECT_THAT(VerifyCompanionFiles(prefix_)->verified,
              ElementsAre(InputStatePath(prefix_), MetaGraphPath(prefix_)));
  EXPECT_THAT(Damage(), IsEmpty());
}

TEST_F(ExtrasTest, APositionIsHeldAgainstItsCrcByteForByte) {
  const std::string whole = SealState("Range", "xy");
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    WriteInput(bytes);
    EXPECT_THAT(Damage(), ElementsAre(AllOf(StartsWith(InputStatePath(prefix_) + ": "),
                                            HasSubstr("Delete it to continue training"))))
        << i;
  }
  WriteInput("");
  EXPECT_THAT(Damage(), ElementsAre(HasSubstr("0 bytes are too few, or do not begin with ")));
}

TEST_F(ExtrasTest, AGraphThatDoesNotParseOrHangTogetherIsDamage) {
  const std::string whole = Graph().SerializeAsString();
  WriteGraph(whole.substr(0, whole.size() - 1));
  EXPECT_THAT(Damage(), ElementsAre(AllOf(
                            StartsWith(MetaGraphPath(prefix_) + ": its "),
                            HasSubstr("are not a MetaGraphDef. The variables are not affected"))));
  WriteGraph("");
  EXPECT_THAT(Damage(), ElementsAre(HasSubstr("0 bytes are not a MetaGraphDef with a graph")));
  proto::MetaGraphDef graph = Graph();
  graph.mutable_graph_def()->mutable_node(1)->set_input(0, "c:1");
  WriteGraph(graph.SerializeAsString());
  EXPECT_THAT(Damage(), ElementsAre(HasSubstr("its node b reads c:1, but there is no node c")));
  graph = Graph();
  graph.mutable_saver_def()->set_save_tensor_name("save:0");
  WriteGraph(graph.SerializeAsString());
  EXPECT_THAT(Damage(), ElementsAre(HasSubstr("its saver uses save:0, but there is no node save")));
  graph = Graph();
  graph.mutable_graph_def()->add_node()->set_name("a");
  WriteGraph(graph.SerializeAsString());
  EXPECT_THAT(Damage(), ElementsAre(HasSubstr("two of its nodes are named a")));
}

// Fixed bug: a flipped byte in the value of an attribute was not found.
TEST_F(ExtrasTest, AFlippedByteInAGraphIsFoundByTheChecksumBesideIt) {
  proto::MetaGraphDef graph = Graph();
  graph.mutable_graph_def()->mutable_node(0)->set_op("NoOp");
  const std::string whole = graph.SerializeAsString();
  WriteInput(
      EncodeInputFile({.state = SealState("Range", "xy"), .meta_graph = FileChecksum::Of(whole)}));
  WriteGraph(whole);
  EXPECT_THAT(VerifyCompanionFiles(prefix_)->verified,
              ElementsAre(InputStatePath(prefix_), MetaGraphPath(prefix_)));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    WriteGraph(bytes);
    EXPECT_THAT(Damage(), ElementsAre(AllOf(StartsWith(MetaGraphPath(prefix_) + ": "),
                                            HasSubstr("The variables are not affected"))))
        << i;
  }
  WriteGraph(whole + "x");
  EXPECT_THAT(Damage(), ElementsAre(StartsWith(MetaGraphPath(prefix_))));
}

TEST_F(ExtrasTest, ADamagedChecksumOfTheGraphIsDamageOfTheInputPosition) {
  std::string bytes =
      EncodeInputFile({.state = SealState("Range", "xy"), .meta_graph = FileChecksum::Of("graph")});
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  WriteInput(bytes);
  EXPECT_THAT(Damage(), ElementsAre(StartsWith(InputStatePath(prefix_))));
}

}  // namespace
}  // namespace estimator
