import type { JSX } from "preact";
import { Empty } from "~/part/parts";

export default function Now(): JSX.Element {
  return <Empty title="Nothing runs this minute" command="python train.py">What runs, on which host, and how long it will take.</Empty>;
}
