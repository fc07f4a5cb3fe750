// A name is exported because another module, or a test, imports it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const CLIENT = fileURLToPath(new URL("../../../viz/components/client/", import.meta.url));
const TESTS = fileURLToPath(new URL("../", import.meta.url));
const EXPORT = /^export (?:async )?(?:function|class|const) (\w+)/gm;
const IMPORT = /(?:import|const) \{([^{}]+)\} (?:from|= await import)/g;

function texts(folder, ending) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(ending));
  return names.filter((name) => !name.startsWith("vendor")).map((name) => [name, readFileSync(folder + name, "utf8")]);
}

/** The names that some modules export and none of the others imports. */
function unusedExports(modules, others) {
  const lists = [...modules, ...others].flatMap(([, text]) => Array.from(text.matchAll(IMPORT), ([, names]) => names));
  const imported = new Set(lists.flatMap((names) => names.split(",").map((name) => name.trim().split(/ as |:/)[0])));
  return modules.flatMap(([module, text]) =>
    Array.from(text.matchAll(EXPORT), ([, name]) => name)
      .filter((name) => !imported.has(name))
      .map((name) => `${module}: ${name}`),
  );
}

test("every name that the client exports is imported", () => {
  const modules = texts(CLIENT, ".js"),
    others = [...texts(TESTS, ".mjs"), ...texts(TESTS, "test_client.py")];
  assert.ok(modules.length > 100);
  assert.deepEqual(unusedExports(modules, others), []);
  const dead = ["a.js", "export const LENGTH = 3;\nexport function cut() {}\n"];
  const user = ["b.js", 'import { cut } from "./a.js";\n'];
  assert.deepEqual(unusedExports([dead], [user]), ["a.js: LENGTH"]);
});
