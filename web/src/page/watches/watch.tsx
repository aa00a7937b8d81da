import type { JSX } from "preact";
import { Empty } from "~/part/parts";

export default function WatchPage(): JSX.Element {
  return <Empty title="Watch" command="paddock watch ls">This page is being built.</Empty>;
}
