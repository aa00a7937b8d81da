import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** A .gz beside each file of the bundle, so that the server compresses nothing. */
export function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const body = file.type === "chunk" ? file.code : file.source;
        this.emitFile({ type: "asset", fileName: `${name}.gz`, source: gzipSync(body, { level: 9 }) });
      }
    },
  };
}
