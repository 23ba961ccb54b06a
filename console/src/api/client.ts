import createClient, { type Middleware } from "openapi-fetch";
import { connection } from "./connection";
import { Problem, unreachable } from "./problem";
import type { paths } from "./schema";

const ownPage: Middleware = {
  onRequest({ request }) {
    if (request.method !== "GET") request.headers.set("X-GPUaaS-Request", "console");
  },
  onResponse({ response }) {
    if (response.status !== 503) connection.answered();
  },
  onError() {
    connection.lost();
    return unreachable();
  },
};

const AGAIN_MS = 150;

/**
 * Once more what may be asked twice: a browser drops what it is loading when a network interface of its machine comes
 * or goes, and where the server's machine is also a node, every machine that starts brings one.
 */
export async function twice(request: Request): Promise<Response> {
  const again = request.clone();
  try {
    return await fetch(request);
  } catch (error) {
    if (request.method !== "GET" && !request.headers.has("X-Idempotency-Key")) throw error;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    return await fetch(again);
  }
}

export const client = createClient<paths>({
  baseUrl: window.location.origin,
  credentials: "same-origin",
  fetch: twice,
});
client.use(ownPage);

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** What the server said, or a thrown Problem. */
export async function answer<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  const seconds = Number(response.headers.get("Retry-After"));
  throw new Problem(isDocument(error) ? error : { status: response.status }, seconds > 0 ? seconds : null);
}

function isDocument(error: unknown): error is { detail: string; code: string } {
  return typeof error === "object" && error !== null && "code" in error && "detail" in error;
}

interface Page<T> {
  items: T[];
  next_cursor?: string | null;
}

const ROWS = 200; // as many as the server gives at once
const MOST_PAGES = 50;

interface PageQuery {
  limit: number;
  cursor?: string;
}

/** How to ask for the page that begins there; without a cursor, for the first. */
export function pageFrom(cursor?: string | null): PageQuery {
  return cursor ? { limit: ROWS, cursor } : { limit: ROWS };
}

/** A list to its end; lists of the console are filtered and sorted in the browser. */
export async function everyPage<T>(read: (page: PageQuery) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let page = pageFrom();
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const { items: more, next_cursor } = await read(page);
    items.push(...more);
    if (!next_cursor) break;
    page = pageFrom(next_cursor);
  }
  return items;
}

/** The header by which a change is asked for: under one key it is done once, however often it is sent. */
export function keyed(key = newId()) {
  return { "X-Idempotency-Key": key };
}

/** A name that nothing else has. */
export function newId(): string {
  // Not crypto.randomUUID: a page that came over plain HTTP from another machine has none.
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(16).padStart(8, "0")).join("");
}
