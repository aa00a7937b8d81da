import type { JSX } from "preact";
import { Empty } from "~/part/parts";

export default function RunPage(): JSX.Element {
  return <Empty title="Run" command="paddock ls">This page is being built.</Empty>;
}
