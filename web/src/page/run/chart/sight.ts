import { useEffect, useRef, useState } from "preact/hooks";

/** Whether an element is on the screen, or nearly; told again when it goes. Charts that nobody sees hold no canvas. */
export function useSight<T extends Element>(margin = 300): [{ current: T | null }, boolean] {
  const element = useRef<T>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const watch = new IntersectionObserver((entries) => setSeen(entries.at(-1)!.isIntersecting), { rootMargin: `${margin}px` });
    watch.observe(element.current);
    return () => watch.disconnect();
  }, []);
  return [element, seen];
}
