#include "estimator/nn/metrics/text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"

namespace estimator::metrics {
namespace {

using Tokens = std::vector<int64_t>;
using NGramCounts = std::map<Tokens, int64_t>;

// The tokens of row i of [N, L], up to the first end.
Tokens Sentence(const Array& rows, int64_t i, const std::vector<int64_t>& end_ids) {
  const int64_t length = rows.shape().dim(1);
  Tokens tokens;
  for (int64_t k = 0; k < length; ++k) {
    const auto token = static_cast<int64_t>(rows.AsDouble(i * length + k));
    if (std::find(end_ids.begin(), end_ids.end(), token) != end_ids.end()) break;
    tokens.push_back(token);
  }
  return tokens;
}

NGramCounts NGrams(const Tokens& tokens, int64_t n) {
  NGramCounts counts;
  for (int64_t begin = 0; begin + n <= std::ssize(tokens); ++begin)
    ++counts[Tokens(tokens.begin() + begin, tokens.begin() + begin + n)];
  return counts;
}

// The n-grams that both have.
int64_t Matches(const NGramCounts& a, const NGramCounts& b) {
  int64_t matches = 0;
  for (const auto& [n_gram, count] : a) {
    const auto found = b.find(n_gram);
    if (found != b.end()) matches += std::min(count, found->second);
  }
  return matches;
}

int64_t NumNGrams(const Tokens& tokens, int64_t n) {
  return std::max<int64_t>(0, std::ssize(tokens) - n + 1);
}

double F1(int64_t matches, int64_t num_labels, int64_t num_predictions) {
  return matches == 0
             ? 0
             : 2 * static_cast<double>(matches) / static_cast<double>(num_labels + num_predictions);
}

int64_t LongestCommonSubsequence(const Tokens& a, const Tokens& b) {
  std::vector<int64_t> row(b.size() + 1, 0);
  for (const int64_t token : a) {
    int64_t diagonal = 0;
    for (size_t k = 0; k < b.size(); ++k) {
      const int64_t above = row[k + 1];
      row[k + 1] = token == b[k] ? diagonal + 1 : std::max(above, row[k]);
      diagonal = above;
    }
  }
  return row.back();
}

// A metric of pairs of sentences. `end_ids` and all that fn refers to is copied.
Metric OfSentences(const char* name, const Tensor& labels, const Tensor& predictions,
                   const std::vector<int64_t>& end_ids,
                   const std::function<double(const std::vector<std::pair<Tokens, Tokens>>&)>& fn) {
  for (const Tensor& tensor : {labels, predictions}) {
    if (tensor.valid() && tensor.rank() == 2 &&
        (tensor.dtype() == DType::kInt32 || tensor.dtype() == DType::kInt64))
      continue;
    return InvalidMetric(GraphFor({labels, predictions})
                             .Fail(InvalidArgument(name, ": labels are ", labels.spec().ToString(),
                                                   ", predictions ", predictions.spec().ToString(),
                                                   "; both must be tokens, i32 or i64 of rank 2")));
  }
  return OnHost(
      [end_ids, fn](const std::vector<Array>& all) -> HostValue {
        std::vector<std::pair<Tokens, Tokens>> pairs;
        for (int64_t i = 0; i < all[0].shape().dim(0); ++i)
          pairs.emplace_back(Sentence(all[0], i, end_ids), Sentence(all[1], i, end_ids));
        return fn(pairs);
      },
      {labels, predictions});
}

// Source: compute_bleu of tensorflow/nmt.
double CorpusBleu(const std::vector<std::pair<Tokens, Tokens>>& pairs, int64_t max_order,
                  bool smooth) {
  int64_t label_length = 0, length = 0;
  std::vector<int64_t> matches(static_cast<size_t>(max_order), 0), possible = matches;
  for (const auto& [label, prediction] : pairs) {
    label_length += std::ssize(label);
    length += std::ssize(prediction);
    for (int64_t n = 1; n <= max_order; ++n) {
      const auto order = static_cast<size_t>(n - 1);
      matches[order] += Matches(NGrams(label, n), NGrams(prediction, n));
      possible[order] += NumNGrams(prediction, n);
    }
  }
  double sum_of_logs = 0;
  for (size_t order = 0; order < matches.size(); ++order) {
    const double one = smooth ? 1 : 0;
    const double precision =
        (static_cast<double>(matches[order]) + one) / (static_cast<double>(possible[order]) + one);
    if (!(precision > 0)) return 0;  // also for 0 / 0
    sum_of_logs += std::log(precision);
  }
  if (length == 0) return 0;
  const double ratio = static_cast<double>(length) / static_cast<double>(label_length);
  const double brevity = ratio > 1 ? 1 : std::exp(1 - 1 / ratio);
  return std::exp(sum_of_logs / static_cast<double>(max_order)) * brevity;
}

// The mean over examples of F1(matches, ...).
double MeanF1(const std::vector<std::pair<Tokens, Tokens>>& pairs,
              const std::function<double(const Tokens&, const Tokens&)>& f1) {
  double sum = 0;
  for (const auto& [label, prediction] : pairs) sum += f1(label, prediction);
  return pairs.empty() ? 0 : sum / static_cast<double>(pairs.size());
}

}  // namespace

Metric Bleu(const Tensor& labels, const Tensor& predictions, const BleuOptions& options) {
  if (options.max_order < 1) {
    return InvalidMetric(
        GraphFor({labels, predictions})
            .Fail(InvalidArgument("bleu: max_order must be 1 or more, got ", options.max_order)));
  }
  return OfSentences("bleu", labels, predictions, options.end_ids,
                     [max_order = options.max_order, smooth = options.smooth](const auto& pairs) {
                       return CorpusBleu(pairs, max_order, smooth);
                     });
}

Metric RougeN(const Tensor& labels, const Tensor& predictions, int64_t n,
              const RougeOptions& options) {
  if (n < 1) {
    return InvalidMetric(GraphFor({labels, predictions})
                             .Fail(InvalidArgument("rouge_n: n must be 1 or more, got ", n)));
  }
  return OfSentences("rouge_n", labels, predictions, options.end_ids, [n](const auto& pairs) {
    return MeanF1(pairs, [n](const Tokens& label, const Tokens& prediction) {
      return F1(Matches(NGrams(label, n), NGrams(prediction, n)), NumNGrams(label, n),
                NumNGrams(prediction, n));
    });
  });
}

Metric RougeL(const Tensor& labels, const Tensor& predictions, const RougeOptions& options) {
  return OfSentences("rouge_l", labels, predictions, options.end_ids, [](const auto& pairs) {
    return MeanF1(pairs, [](const Tokens& label, const Tokens& prediction) {
      return F1(LongestCommonSubsequence(label, prediction), std::ssize(label),
                std::ssize(prediction));
    });
  });
}

}  // namespace estimator::metrics
