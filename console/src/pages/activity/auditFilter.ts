import type { AuditFilter, AuditResult } from "../../api/queries/audit";

const TEXTS = ["actor", "action", "target"] as const;
const MOMENTS = ["since", "until"] as const;

/** The filter is in the address, so that what was found can be shown to somebody else. */
export function readFilter(params: URLSearchParams): AuditFilter {
  const filter: AuditFilter = {};
  for (const name of TEXTS) {
    const value = params.get(name);
    if (value) filter[name] = value;
  }
  for (const name of MOMENTS) {
    const value = params.get(name);
    if (value && !Number.isNaN(Date.parse(value))) filter[name] = new Date(value).toISOString();
  }
  const result = params.get("result");
  if (isResult(result)) filter.result = result;
  return filter;
}

export function writeFilter(filter: AuditFilter): URLSearchParams {
  const params = new URLSearchParams();
  for (const name of [...TEXTS, "result", ...MOMENTS] as const) {
    const value = filter[name];
    if (value) params.set(name, value);
  }
  return params;
}

function isResult(text: string | null): text is AuditResult {
  return text === "done" || text === "denied";
}
