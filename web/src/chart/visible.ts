import { useEffect, useRef, useState } from "preact/hooks";

/** Whether an element is, or soon will be, on the screen; charts that are not fetch nothing. Once seen it stays seen. */
export function useVisible<T extends Element>(): [{ current: T | null }, boolean] {
  const element = useRef<T>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (seen || !element.current) return;
    const watch = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true), { rootMargin: "200px" });
    watch.observe(element.current);
    return () => watch.disconnect();
  }, [seen]);
  return [element, seen];
}
