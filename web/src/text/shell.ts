/** A word as a shell reads it: commands are shown to be copied. Pure. */
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The words of a command in one line; what a shell was given stands as it was written, as `paddock show` has it. */
export function commandLine(words: readonly string[]): string {
  const [shell, flag, text] = words;
  return words.length === 3 && shell === "/bin/sh" && flag === "-c" ? text! : words.map(quoted).join(" ");
}
