import type { JSX } from "preact";
import { Empty } from "~/part/parts";

export default function ReportPage(): JSX.Element {
  return <Empty title="Report" command="paddock ls">This page is being built.</Empty>;
}
