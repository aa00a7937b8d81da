import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A modal dialog: the browser keeps the focus inside and closes it on Escape. */
export function Dialog({ title, wide, onClose, footer, children }: {
  title: string; wide?: boolean; onClose: () => void; footer?: ComponentChildren; children: ComponentChildren;
}): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      class={`dialog${wide ? " wide" : ""}`}
      ref={element}
      aria-label={title}
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <header>
        <h2 class="grow">{title}</h2>
        <button type="button" class="button plain" aria-label="Close" onClick={onClose}>✕</button>
      </header>
      <div class="body">{children}</div>
      {footer && <footer>{footer}</footer>}
    </dialog>
  );
}
