import { defineConfig } from "vite";
import { fileURLToPath } from "node:url";
import { precompress } from "./precompress.ts";

// `npm run dev` serves the sources and asks a running `paddock serve` for the rest.
const SERVER = "http://127.0.0.1:8642";

export default defineConfig({
  resolve: { alias: { "~": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "../src/paddock/monitor/board/static",
    emptyOutDir: true,
    target: "es2022",
    // The content security policy allows no data: scripts or styles, and nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": SERVER, "/login": SERVER } },
  plugins: [precompress()],
});
