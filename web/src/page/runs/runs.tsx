import type { JSX } from "preact";
import { Empty } from "~/part/parts";

export default function Runs(): JSX.Element {
  return <Empty title="No runs yet" command="python train.py">A script that calls paddock.init() and run.log() shows up here while it runs.</Empty>;
}
