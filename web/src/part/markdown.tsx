import { Fragment, type JSX } from "preact";
import "~/style/markdown.css";
import { parse, type Inline, type Part } from "~/text/markdown";

/** Prose, as nodes: what the writer typed is only ever text. */
export function Markdown({ text }: { text: string }): JSX.Element {
  return <div class="prose"><Parts parts={parse(text)} /></div>;
}

function Parts({ parts }: { parts: readonly Part[] }): JSX.Element {
  return <>{parts.map((part, at) => <One key={at} part={part} />)}</>;
}

function One({ part }: { part: Part }): JSX.Element {
  switch (part.kind) {
    case "heading": {
      const Level = `h${Math.min(6, part.level + 1)}` as "h2";
      return <Level><Words all={part.inside} /></Level>;
    }
    case "code":
      return <pre><code>{part.text}</code></pre>;
    case "quote":
      return <blockquote><Parts parts={part.inside} /></blockquote>;
    case "list": {
      const List = part.ordered ? "ol" : "ul";
      return <List>{part.items.map((item, at) => <li key={at}>{item.length === 1 && item[0]!.kind === "paragraph" ? <Words all={item[0]!.inside} /> : <Parts parts={item} />}</li>)}</List>;
    }
    case "table":
      return (
        <table>
          <thead><tr>{part.head.map((cell, at) => <th key={at} class={part.right[at] ? "number" : ""}><Words all={cell} /></th>)}</tr></thead>
          <tbody>{part.rows.map((row, at) => <tr key={at}>{row.map((cell, column) => <td key={column} class={part.right[column] ? "number" : ""}><Words all={cell} /></td>)}</tr>)}</tbody>
        </table>
      );
    case "rule":
      return <hr />;
    default:
      return <p><Words all={part.inside} /></p>;
  }
}

function Words({ all }: { all: readonly Inline[] }): JSX.Element {
  return <>{all.map((one, at) => <Fragment key={at}>{word(one)}</Fragment>)}</>;
}

function word(one: Inline): JSX.Element | string {
  switch (one.kind) {
    case "text":
      return one.text;
    case "code":
      return <code>{one.text}</code>;
    case "strong":
      return <strong><Words all={one.inside} /></strong>;
    case "em":
      return <em><Words all={one.inside} /></em>;
    case "del":
      return <del><Words all={one.inside} /></del>;
    case "link":
      return one.href.startsWith("/") || one.href.startsWith("#") ? <a href={one.href}><Words all={one.inside} /></a> : <a href={one.href} target="_blank" rel="noopener noreferrer"><Words all={one.inside} /></a>;
  }
}
