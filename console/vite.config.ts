import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { build, type Plugin } from "vite";
import { defineConfig } from "vitest/config";

const OUT = "../src/gpuaas/console";
const SMALLEST = 1_024;

/** Our theme as a style sheet: made here, for the maker weighs more than all of React. */
function themed(): Plugin {
  const name = "virtual:theme.css";
  return {
    name: "themed",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    async load(id) {
      if (id !== `\0${name}`) return undefined;
      const made = await build({
        configFile: false,
        logLevel: "silent",
        build: { ssr: "./theme.ts", write: false },
        ssr: { noExternal: true },
      });
      if (!("output" in made)) throw new Error("theme.ts did not become one module");
      const code = Buffer.from(made.output[0].code).toString("base64");
      const { sheet } = (await import(`data:text/javascript;base64,${code}`)) as { sheet: string };
      return sheet;
    },
  };
}

const BUILD = "gpuaas-build";

/** The page names its build, and `/build.json` the one that the server serves: a page of another build knows it is old. */
function named(): Plugin {
  return {
    name: "named",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        const files = Object.keys(bundle ?? {}).sort();
        const build = createHash("sha256").update(files.join("\n")).digest("hex").slice(0, 16);
        return { html, tags: [{ tag: "meta", attrs: { name: BUILD, content: build }, injectTo: "head" }] };
      },
    },
    closeBundle() {
      const build = new RegExp(`name="${BUILD}" content="(\\w+)"`).exec(
        readFileSync(join(OUT, "index.html"), "utf8"),
      )?.[1];
      if (build === undefined) throw new Error("index.html does not name its build");
      writeFileSync(join(OUT, "build.json"), JSON.stringify({ build }));
    },
  };
}

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
  plugins: [react(), themed(), named(), pack()],
  resolve: { alias: { "intl-messageformat": fileURLToPath(new URL("messageformat.ts", import.meta.url)) } },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: "es2023",
    chunkSizeWarningLimit: 1_000, // kB, of what is 190 kB when sent
    // A page is a few files and not a hundred: what five parts share is one file, and loaded once.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "common", minShareCount: 5 }] } } },
  },
  test: { environment: "node", isolate: false },
});
