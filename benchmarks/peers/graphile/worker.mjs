// Drains no-op jobs with graphile-worker on its documented fast path, and says how long that took.
// usage: node worker.mjs JOBS batched|default   (PGHOST, PGUSER and PGDATABASE say where)
import { makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const jobs = Number(process.argv[2]);
const batched = process.argv[3] === "batched";
const pgPool = new pg.Pool({ max: 25 });
const worker = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  ...(batched ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {}),
};
const logger = { scope: () => logger, debug() {}, info() {}, warn() {}, error: console.error };

const utils = await makeWorkerUtils({ pgPool });
await utils.migrate();
await pgPool.query(
  `select count(*) from graphile_worker.add_jobs(array(
     select json_populate_record(null::graphile_worker.job_spec, '{"identifier": "noop", "payload": {}}')
     from generate_series(1, $1::int)))`,
  [jobs],
);

let done = 0;
let finish;
const all = new Promise((resolve) => (finish = resolve));
const noop = async () => {
  done += 1;
  if (done === jobs) finish();
};
const began = process.hrtime.bigint();
const runner = await run({ pgPool, preset: { worker }, taskList: { noop }, noHandleSignals: true });
await all;
await runner.stop(); // completions that wait in a batch are written
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
const left = await pgPool.query("select count(*)::int as left from graphile_worker._private_jobs");
await utils.release();
await pgPool.end();
console.log(JSON.stringify({ jobs, seconds, left: left.rows[0].left }));
