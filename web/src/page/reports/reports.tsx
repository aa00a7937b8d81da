import type { JSX } from "preact";
import { Empty } from "~/part/parts";

export default function Reports(): JSX.Element {
  return <Empty title="No reports yet" command="paddock serve --link">Save a comparison to begin one.</Empty>;
}
