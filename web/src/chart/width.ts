import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** How many pixels wide an element is, now and after it has changed; 0 before it is there. */
export function useWidth<T extends Element>(): [{ current: T | null }, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const one = element.current;
    if (!one) return;
    setWidth(one.clientWidth);
    const watch = new ResizeObserver(() => setWidth(one.clientWidth));
    watch.observe(one);
    return () => watch.disconnect();
  }, []);
  return [element, width];
}
