/** A colour that can be read on a background: as it is where that is enough, else nearer to black or white. Pure. */

const ENOUGH = 4.6;

type Rgb = [number, number, number];

export function readable(color: string, background: string): string {
  const [own, under] = [rgb(color), rgb(background)];
  if (!own || !under || contrast(own, under) >= ENOUGH) return color;
  const towards = luminance(under) > 0.35 ? 0 : 255;
  for (let share = 0.1; share < 1; share += 0.1) {
    const mixed = own.map((part) => Math.round(part + (towards - part) * share)) as Rgb;
    if (contrast(mixed, under) >= ENOUGH) return hex(mixed);
  }
  return hex([towards, towards, towards]);
}

function rgb(color: string): Rgb | undefined {
  const found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color);
  return found ? [parseInt(found[1]!, 16), parseInt(found[2]!, 16), parseInt(found[3]!, 16)] : undefined;
}

const hex = (parts: Rgb): string => `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;

function luminance(parts: Rgb): number {
  const [r, g, b] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}
