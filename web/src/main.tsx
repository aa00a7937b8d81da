import { render } from "preact";
import { App } from "~/shell/app";
import "~/style/index.css";

render(<App />, document.getElementById("app")!);
