import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** A .gz beside each file of the bundle, so that the server compresses nothing. From the disk: other plugins still change
 * the code while the bundle is generated. */
export function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    writeBundle({ dir }) {
      const assets = join(dir!, "assets");
      for (const name of readdirSync(assets)) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        writeFileSync(join(assets, `${name}.gz`), gzipSync(readFileSync(join(assets, name)), { level: 9 }));
      }
    },
  };
}
