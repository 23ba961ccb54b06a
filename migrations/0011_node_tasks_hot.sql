-- A task that is sent changes no column that an index looks at, so its new row version stays on its page and no index
-- is written (PostgreSQL's "HOT"): that needs room on the page, and indexes that ask whether a task ended, not its status.
-- Of one that is open, `ended_at` is null, and of no other.
set role gpuaas_owner;

alter table node_tasks set (fillfactor = 50);
drop index node_tasks_open;
create index node_tasks_open on node_tasks (node_id, id) where ended_at is null;
drop index node_tasks_ended;
create index node_tasks_ended on node_tasks (ended_at) where ended_at is not null and kind <> 'environment.remove';
