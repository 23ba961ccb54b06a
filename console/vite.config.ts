import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const OUT = "../src/gpuaas/console";
const SMALLEST = 1_024;

/** Packed once here, so that the server only sends. */
function pack(): Plugin {
  return {
    name: "pack",
    apply: "build",
    closeBundle() {
      const files = readdirSync(OUT, { recursive: true, encoding: "utf8" });
      for (const file of files.filter((name) => /\.(js|css|html|svg)$/.test(name)).map((name) => join(OUT, name))) {
        const body = readFileSync(file);
        if (body.length < SMALLEST) continue;
        writeFileSync(`${file}.br`, brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
        writeFileSync(`${file}.gz`, gzipSync(body, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), pack()],
  build: { outDir: OUT, emptyOutDir: true, assetsInlineLimit: 0, target: "es2023" },
});
