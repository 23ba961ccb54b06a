// @vitest-environment node
import { expect, test } from "vitest";
import { describeDevice } from "./device";

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
    "Safari on iOS",
  ],
  ["gpuaas-cli (laptop)", "gpuaas command on laptop"],
  ["gpuaas-python", "Python library"],
  ["python-httpx/0.28", "python-httpx/0.28"],
  ["", "Not told"],
])("%s is shown as %s", (agent, shown) => {
  expect(describeDevice(agent)).toBe(shown);
});
