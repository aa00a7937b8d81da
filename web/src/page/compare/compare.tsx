import type { JSX } from "preact";
import { Empty } from "~/part/parts";

export default function Compare(): JSX.Element {
  return <Empty title="Nothing to compare yet" command="paddock ls">Select runs in the list and press c.</Empty>;
}
