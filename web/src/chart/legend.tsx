import type { JSX } from "preact";

export interface Entry {
  key: string;
  label: string;
  color: string;
  dash?: readonly number[];
}

/** What is what; pointing at an entry brings its line forward. */
export function Legend({ entries, onFocus, onPick }: { entries: readonly Entry[]; onFocus?: (key: string) => void; onPick?: (key: string) => void }): JSX.Element {
  return (
    <div class="legend">
      {entries.map((entry) => (
        <button
          type="button"
          key={entry.key}
          onPointerEnter={() => onFocus?.(entry.key)}
          onPointerLeave={() => onFocus?.("")}
          onFocus={() => onFocus?.(entry.key)}
          onBlur={() => onFocus?.("")}
          onClick={() => onPick?.(entry.key)}
        >
          <svg width="18" height="6" aria-hidden="true">
            <line x1="0" x2="18" y1="3" y2="3" stroke={entry.color} stroke-width="2.5" stroke-dasharray={entry.dash?.length ? entry.dash.join(" ") : undefined} />
          </svg>
          <span class="cut">{entry.label}</span>
        </button>
      ))}
    </div>
  );
}
