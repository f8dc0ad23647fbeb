#include "estimator/export/saved_model/assets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class AssetsTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& folder, const std::string& contents) {
    EST_EXPECT_OK(CreateDirectories(dir_.File(folder)));
    const std::string path = JoinPath(dir_.File(folder), "words.txt");
    EST_EXPECT_OK(WriteFileAtomically(path, contents));
    return path;
  }
  static std::vector<std::string> Names(const std::vector<std::string>& files) {
    const auto assets = NameAssets(files);
    EST_EXPECT_OK(assets);
    std::vector<std::string> names;
    for (const Asset& asset : *assets) names.push_back(asset.name);
    return names;
  }
  const TempDir dir_;
};

TEST_F(AssetsTest, FilesOfOneNameGetANumberUnlessTheyAreTheSame) {
  const std::string a = Write("a", "1"), b = Write("b", "2"), c = Write("c", "3"),
                    same = Write("d", "1");
  EXPECT_THAT(Names({a, b, a, c, same}),
              ElementsAre("words.txt", "words.txt_1", "words.txt", "words.txt_2", "words.txt"));
  EST_ASSERT_OK(CopyAssets(dir_.File("model"), *NameAssets({a, b, same})));
  EXPECT_EQ(*ReadFile(dir_.File("model/assets/words.txt")), "1");
  EXPECT_EQ(*ReadFile(dir_.File("model/assets/words.txt_1")), "2");
}

TEST_F(AssetsTest, AllFilesThatAreNotThereAreNamed) {
  const std::string a = Write("a", "1");
  const absl::Status status = NameAssets({dir_.File("gone"), a, dir_.File("a")}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr(dir_.File("gone") + ", " + dir_.File("a"))));
  EXPECT_THAT(status, ErrorIs(Not(HasSubstr("words.txt"))));
}

TEST_F(AssetsTest, EachStandsInTheGraphWithAConstantOfItsOwn) {
  proto::MetaGraphDef graph;
  AddAssets({{"x/v", "v"}, {"y/v", "v_1"}}, &graph);
  ASSERT_EQ(graph.asset_file_def_size(), 2);
  EXPECT_EQ(graph.asset_file_def(1).filename(), "v_1");
  EXPECT_EQ(graph.asset_file_def(1).tensor_info().name(), "asset_path_1:0");
  EXPECT_EQ(graph.graph_def().node(1).attr().at("value").tensor().string_val(0), "v_1");
}

}  // namespace
}  // namespace estimator
