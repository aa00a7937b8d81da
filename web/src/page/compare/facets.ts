/** Which team of runs is drawn where, in which colour and with which dash. Pure. */
import { distinct, identity, brief, type Property, type Team } from "~/page/compare/properties";

export interface Facets {
  row: string;
  col: string;
  hue: string;
  dash: string;
}

export interface Panel {
  row: string;
  col: string;
  teams: Placed[];
}

export interface Placed {
  team: Team;
  hue: number;
  dash: number;
}

export interface Layout {
  rows: string[];
  cols: string[];
  /** By rows, then by columns. */
  panels: Panel[];
  /** What the colours and the dashes mean; empty when each line has a colour of its own. */
  hues: string[];
  dashes: string[];
}

export function layout(all: readonly Team[], properties: readonly Property[], facets: Facets): Layout {
  const of = new Map(properties.map((one) => [one.key, one]));
  const sides = (["row", "col", "hue", "dash"] as const).map((side) => {
    const property = of.get(facets[side]);
    const values = property ? distinct(all.map((team) => property.values[team.members[0]!])) : [];
    return { property, values: values.map(identity), names: brief(values).map((text) => `${property!.title} = ${text}`) };
  });
  const [row, col, hue, dash] = sides as [Side, Side, Side, Side];
  const at = (side: Side, team: Team): number => (side.property ? side.values.indexOf(identity(side.property.values[team.members[0]!])) : 0);
  const panels: Panel[] = [];
  for (let down = 0; down < Math.max(1, row.names.length); down += 1) {
    for (let across = 0; across < Math.max(1, col.names.length); across += 1) {
      const inside = all.flatMap((team, number) => (at(row, team) === down && at(col, team) === across ? [{ team, hue: hue.property ? at(hue, team) : number, dash: at(dash, team) }] : []));
      panels.push({ row: row.names[down] ?? "", col: col.names[across] ?? "", teams: inside });
    }
  }
  return { rows: row.names, cols: col.names, panels, hues: hue.names, dashes: dash.names };
}

interface Side {
  property: Property | undefined;
  values: string[];
  names: string[];
}
