import type { JSX } from "preact";
import { Empty } from "~/part/parts";

export default function QueuePage(): JSX.Element {
  return <Empty title="Nothing is queued" command="paddock submit -- python train.py">A task that is submitted waits here for a worker.</Empty>;
}
