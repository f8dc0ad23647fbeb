// Runs the program on folders as runs leave them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/summary/event_file_writer.h"
#include "models/mnist/small_mnist.h"

namespace estimator {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What a stranger may put into a name.
constexpr char kHostile[] = "</script><script>alert(1)</script>\xFF";

class ReportTest : public ::testing::Test {
 protected:
  ProgramRun Report(const std::string& arguments,
                    const std::vector<ProgramSignal>& signals = {}) const {
    return RunProgram(absl::StrCat("tools/report/report ", arguments), signals);
  }
  // The data of the page of these folders.
  json DataOf(const std::string& dirs) {
    const ProgramRun run = Report(absl::StrCat(dirs, " --output=", dir_.File("r.html")));
    EXPECT_EQ(run.exit_code, 0) << run.output;
    page_ = ReadFile(dir_.File("r.html")).value();
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const size_t from = page_.find(begin) + begin.size();
    return json::parse(page_.substr(from, page_.find("</script>", from) - from));
  }
  // A folder with scalars, a history, a checkpoint, flags and two examples.
  std::string WriteRun(const std::string& name, double loss) {
    const std::string run = dir_.File(name);
    const auto write = [&](const std::string& folder, double value) {
      const auto writer = EventFileWriter::Open(folder).value();
      for (int64_t step = 0; step < 5000; ++step)
        EST_EXPECT_OK(writer->AddScalar("loss", static_cast<float>(value), step));
    };
    write(run, loss);
    write(JoinPath(run, "eval"), 2 * loss);
    EST_EXPECT_OK(WriteFileAtomically(
        JoinPath(run, "history.jsonl"),
        R"({"epoch":0,"step":9,"loss":0.5,"lr":0.1,"val_loss":null,"seconds":2})"
        "\n{\"epoch\":1,"));
    EST_EXPECT_OK(WriteFileAtomically(
        JoinPath(run, "run.jsonl"), json{{"step", 0}, {"flags", {{"rate", "0.1"}}}}.dump() + "\n"));
    const std::string hostile = json(kHostile).dump(-1, ' ', true, json::error_handler_t::replace);
    EST_EXPECT_OK(WriteFileAtomically(
        JoinPath(run, "examples.jsonl"),
        absl::StrCat("{\"checkpoint\":\"model.ckpt-9\",\"classes\":[", hostile,
                     ",\"b\"],\"multi_label\":false}\n"
                     "{\"label\":[0],\"scores\":[0.123456,0.876544],\"title\":\"b [incorrect, ",
                     "should be a]\",\"sure\":0.123456,\"png\":\"aaaa\"}\n",
                     "{\"label\":[1],\"scores\":[0,1],\"title\":\"b [correct]\",\"sure\":1}\n")));
    EST_EXPECT_OK(SaveVariables(JoinPath(run, "model.ckpt-9"),
                                {{"dense/kernel", Array::Of<float>({2, 2}, {-1, 0, 0.5f, 1})},
                                 {"dense/kernel/Momentum", Array::Of<float>({2}, {1, 2})},
                                 {kHostile, Array::Of<float>({2}, {1, 1})},
                                 {"global_step", Array::Scalar<int64_t>(9)}}));
    EST_EXPECT_OK(WriteCheckpointState(run, {.model_checkpoint_path = "model.ckpt-9"}));
    return run;
  }
  TempDir dir_;
  std::string page_;
};

TEST_F(ReportTest, ThePageHasTheDataOfTheRunAndNoScriptOfIt) {
  const json data = DataOf(WriteRun("a", 0.5));
  ASSERT_EQ(data["runs"].size(), 1u);
  const json& run = data["runs"][0];
  EXPECT_EQ(run["name"], "a");
  EXPECT_EQ(run["notes"].size(), 0u) << run["notes"];
  EXPECT_EQ(
      run["history"],
      json::parse(R"([{"epoch":0,"step":9,"loss":0.5,"lr":0.1,"val_loss":null,"seconds":2}])"));
  ASSERT_EQ(run["scalars"].size(), 2u);
  EXPECT_EQ(run["scalars"][1]["folder"], "eval");
  EXPECT_EQ(run["scalars"][1]["tag"], "loss");
  const json& points = run["scalars"][1]["points"];
  EXPECT_LE(points.size(), 1001u);
  EXPECT_EQ(points.back()[0], 4999);
  EXPECT_EQ(points.back()[2], 1);
  EXPECT_EQ(run["starts"][0]["flags"]["rate"], "0.1");
  // Shortened examples: four digits, and a title where there is a picture.
  EXPECT_EQ(run["examples"][1]["scores"], json::parse("[0.1235,0.8765]"));
  EXPECT_EQ(run["examples"][1]["ok"], 0);
  EXPECT_EQ(run["examples"][2], json::parse(R"({"label":[1],"scores":[0.0,1.0],"ok":1})"));
  const json& weights = run["weights"];
  EXPECT_EQ(weights["checkpoint"], "model.ckpt-9");
  ASSERT_EQ(weights["variables"].size(), 2u) << "slots and the step are left out";
  const json& kernel = weights["variables"][1];
  EXPECT_EQ(kernel["name"], "dense/kernel");
  EXPECT_EQ(kernel["shape"], "[2,2]");
  EXPECT_EQ(kernel["counts"].size(), 40u);
  EXPECT_EQ(kernel["counts"][0], 1);
  EXPECT_EQ(kernel["counts"][20], 1);
  EXPECT_EQ(kernel["counts"][30], 1);
  EXPECT_EQ(kernel["counts"][39], 1);
  EXPECT_EQ(kernel["mean"], 0.125);
  EXPECT_THAT(page_, AllOf(Not(HasSubstr("<script>alert")), HasSubstr("Chart.js v3.9.1"),
                           HasSubstr("Permission is hereby granted"),
                           HasSubstr("\\u003cscript>alert"), Not(HasSubstr("@DATA@"))));
  EXPECT_THAT(page_, Not(HasSubstr("src=\"http")));
  EXPECT_LT(page_.size(), 400'000u);
}

TEST_F(ReportTest, SeveralRunsHaveDifferentNames) {
  const std::string a = WriteRun("a", 0.5), b = WriteRun("other/a", 0.25), c = WriteRun("c", 1);
  const json data = DataOf(absl::StrCat(a, " ", b, " ", c));
  EXPECT_EQ(data["runs"][0]["name"], a);
  EXPECT_EQ(data["runs"][1]["name"], b);
  EXPECT_EQ(data["runs"][2]["name"], "c");
}

TEST_F(ReportTest, WhatIsMissingOrDamagedIsSaidInThePage) {
  EST_ASSERT_OK(CreateDirectories(dir_.File("m")));
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("m/history.jsonl"), "not JSON\n"));
  const std::string text = DataOf(dir_.File("m"))["runs"][0]["notes"].dump();
  for (const char* note : {"There is no history", "There is no curve", "--record_run",
                           "There is no confusion matrix", "There is no histogram of weights"})
    EXPECT_THAT(text, HasSubstr(note));
  EST_ASSERT_OK(
      WriteFileAtomically(dir_.File("m/checkpoint"), "model_checkpoint_path: \"model.ckpt-1\"\n"));
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("m/model.ckpt-1.index"), "damaged"));
  EXPECT_THAT(DataOf(dir_.File("m"))["runs"][0]["notes"].dump(), HasSubstr("model.ckpt-1"));
}

TEST_F(ReportTest, ALineThatCannotBeReadIsToldInThePageAndOnStderr) {
  const std::string run = WriteRun("a", 0.5);
  EST_ASSERT_OK(WriteFileAtomically(JoinPath(run, "run.jsonl"),
                                    "{\"step\":0,\"flags\":{}}\n{\"step\":\n3\n"));
  const std::string note = "2 lines of " + run +
                           "/run.jsonl cannot be read and are left out: "
                           "line 2 first is not a JSON object.";
  EXPECT_THAT(Report(absl::StrCat(run, " --output=", dir_.File("r.html"))).output, HasSubstr(note));
  const json data = DataOf(run);
  EXPECT_EQ(data["runs"][0]["notes"], json::array({note}));
  EXPECT_EQ(data["runs"][0]["starts"].size(), 1u);
}

TEST_F(ReportTest, WhatIsNoRunIsRefused) {
  const std::string output = absl::StrCat(" --output=", dir_.File("none.html"));
  const ProgramRun none = Report(output);
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.output, HasSubstr("give the folders of runs"));
  const ProgramRun absent = Report(dir_.File("absent") + output);
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.output, HasSubstr("absent is no folder"));
  const ProgramRun empty = Report(dir_.path() + output);
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.output, HasSubstr("is no model_dir"));
  EXPECT_FALSE(FileExists(dir_.File("none.html")));
  const ProgramRun unwritable =
      Report(absl::StrCat(WriteRun("a", 1), " --output=", dir_.File("no/folder/r.html")));
  EXPECT_EQ(unwritable.exit_code, 1);
  EXPECT_THAT(unwritable.output, HasSubstr("no/folder"));
}

// A run of mnist, recorded: its page has all that a report can show.
TEST_F(ReportTest, ARecordedRunHasEverything) {
  const std::string data = dir_.File("data"), model_dir = dir_.File("m");
  EST_ASSERT_OK(CreateDirectories(data));
  EST_ASSERT_OK(mnist::WriteSmallMnist(data));
  const ProgramRun run = RunProgram(absl::StrCat(
      "models/mnist/mnist --record_run --batch_size=32 --train_steps=60 --data_dir=", data,
      " --model_dir=", model_dir));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const json report = DataOf(model_dir)["runs"][0];
  EXPECT_EQ(report["notes"].size(), 1u) << report["notes"];  // Train has no history by epoch
  std::map<std::string, json> points;
  for (const json& scalar : report["scalars"])
    points[absl::StrCat(scalar["folder"].get<std::string>(), "/",
                        scalar["tag"].get<std::string>())] = scalar["points"];
  for (const char* tag : {"/loss", "eval/loss", "eval/accuracy", "/learning_rate",
                          "/seconds/compute", "/seconds/all"})
    EXPECT_EQ(points.count(tag), 1u) << tag;
  EXPECT_EQ(points["/learning_rate"].size(), 3u);  // steps 20, 40 and 60
  EXPECT_NEAR(points["/learning_rate"][0][2].get<double>(), 0.05, 1e-4);
  EXPECT_GE(points["/seconds/all"][2][2].get<double>(),
            points["/seconds/compute"][2][2].get<double>());
  const json& start = report["starts"][0];
  EXPECT_EQ(start["flags"]["batch_size"], "32");
  EXPECT_EQ(start["defaults"]["learning_rate"], "0.05");
  EXPECT_EQ(start["steps_per_epoch"], 300.0 / 32);
  EXPECT_FALSE(start["defaults"].contains("stderrthreshold")) << "a flag of glog";
  EXPECT_EQ(report["examples"].size(), 51u);
  EXPECT_EQ(report["examples"][0]["checkpoint"], "model.ckpt-60");
  EXPECT_EQ(report["weights"]["variables"].size(), 8u);
  EXPECT_TRUE(FileExists(JoinPath(model_dir, "examples.png")));
  EXPECT_LT(page_.size(), 2'000'000u);
}

TEST_F(ReportTest, ServesUntilCtrlC) {
  const ProgramRun run = Report(absl::StrCat(WriteRun("a", 1), " --serve --port=0"),
                                {{.when = "shows the runs until Ctrl-C", .signal = SIGINT}});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("http://127.0.0.1:"));
}

}  // namespace
}  // namespace estimator
