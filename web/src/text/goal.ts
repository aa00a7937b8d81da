/** What is better of a metric that nobody has defined: the same words as in `paddock compare`, which a test holds to it. Pure. */
const LOWER = new Set(
  ("loss losses error errors err perplexity ppl mse rmse mae mape nll nlpd wer cer ter fid kid lpips bpc bpb bpd eer kl elapsed time seconds " +
  "latency duration ms memory cost regret divergence entropy ece brier hamming").split(" "),
);
const PARTS = ["loss", "perplexity", "error"];

export function isLower(metric: string): boolean {
  const words = metric.replace(/\{.*$/s, "").match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
  return words.map((word) => word.toLowerCase()).some((word) => LOWER.has(word) || PARTS.some((part) => word.includes(part)));
}
