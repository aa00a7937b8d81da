import type { Picture } from "~/page/run/about/pictures";
import { askedAll, set } from "~/route/router";

/** Which of the pictures (or tables) of one name is seen: that which the address names, else the last one, which another
 * follows when it comes. */
export function useShown(pictures: readonly Picture[]): [index: number, show: (index: number) => void] {
  const named = askedAll("shown");
  const found = pictures.findIndex((one) => named.includes(one.file.id));
  const last = pictures.length - 1;
  const show = (index: number): void => {
    const others = named.filter((id) => !pictures.some((one) => one.file.id === id));
    set({ shown: index === last ? others : [...others, pictures[index]!.file.id] });
  };
  return [found < 0 ? last : found, show];
}
