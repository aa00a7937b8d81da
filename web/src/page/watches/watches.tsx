import type { JSX } from "preact";
import { Empty } from "~/part/parts";

export default function Watches(): JSX.Element {
  return <Empty title="Nothing is watched" command="paddock watch out --evaluator evaluate.py:accuracy">Each checkpoint below a watched directory is evaluated once it is complete.</Empty>;
}
