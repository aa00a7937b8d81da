import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** A button with a panel below it, which closes on Escape and on a click elsewhere. */
export function Menu({ label, title, end, children, disabled }: {
  label: ComponentChildren; title?: string; end?: boolean; disabled?: boolean; children: (close: () => void) => ComponentChildren;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    const key = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      setOpen(false);
      button.current?.focus();
    };
    // An element that comes later than the page is not focused by its attribute alone.
    root.current?.querySelector<HTMLElement>(".panel [autofocus]")?.focus();
    addEventListener("pointerdown", outside);
    addEventListener("keydown", key, true);
    return () => {
      removeEventListener("pointerdown", outside);
      removeEventListener("keydown", key, true);
    };
  }, [open]);
  return (
    <span class={`menu${end ? " end" : ""}`} ref={root}>
      <button ref={button} type="button" class="button" title={title} disabled={disabled} aria-expanded={open} aria-haspopup="dialog" onClick={() => setOpen(!open)}>
        {label}
      </button>
      {open && <div class="panel">{children(() => { setOpen(false); button.current?.focus(); })}</div>}
    </span>
  );
}
