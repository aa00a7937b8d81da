/** Colours of lines: told apart in light and dark, by people who do not see all of them, and on paper. */
const LIGHT = ["#0f6fc6", "#d1495b", "#1b8a5a", "#8b5cc7", "#c77700", "#0e8f9c", "#b5367f", "#5f6b1f", "#3d4db8", "#8a4b2f", "#4b7f8c", "#a03b3b"];
const DARK = ["#62aef5", "#f0808e", "#58c896", "#b993ef", "#efb04a", "#4fcbd6", "#ec7fbb", "#b3c25a", "#929ff5", "#d49a7c", "#8fc0cb", "#e49494"];
export const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 2, 1, 2, 1, 2]];

export function color(index: number, dark: boolean): string {
  const all = dark ? DARK : LIGHT;
  return all[((index % all.length) + all.length) % all.length]!;
}

/** The same for an id wherever it is shown. */
export function colorOf(id: string, dark: boolean): string {
  let found = 2166136261;
  for (let at = 0; at < id.length; at += 1) found = Math.imul(found ^ id.charCodeAt(at), 16777619);
  return color((found >>> 0) % LIGHT.length, dark);
}

/** From few to much, for a value that is a number: parallel coordinates and the like. */
export function shade(share: number, dark: boolean): string {
  const at = Math.max(0, Math.min(1, share));
  return `hsl(${Math.round(250 - 205 * at)} ${dark ? 75 : 70}% ${dark ? Math.round(52 + 14 * at) : Math.round(48 - 4 * at)}%)`;
}
