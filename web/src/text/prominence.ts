/** Which of many metrics people look at first. Pure. */

const RESULTS = /loss|acc|error|perplex|reward|return|score|(^|[^a-z])(ppl|f1|auc|auroc|map|miou|iou|bleu|rouge|wer|cer|mse|rmse|mae|nll|elbo|fid|psnr|ssim|r2|em)([^a-z]|$)/i;

/** A loss or a score, not the norm of some layer. What stands in braces only says of which part it is. */
export const isResult = (metric: string): boolean => RESULTS.test(metric.replace(/\{.*$/, "").split("/").at(-1) ?? "");

/** What many runs have before what few have, results before the rest; else as they came. */
export function prominent<T extends { name: string; runs: number }>(metrics: readonly T[]): T[] {
  const most = Math.max(0, ...metrics.map((one) => one.runs));
  const rank = (one: T): number => (2 * one.runs >= most ? 0 : 2) + (isResult(one.name) ? 0 : 1);
  return [...metrics].sort((one, other) => rank(one) - rank(other));
}
