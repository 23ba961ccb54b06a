-- Lanes: tasks of one allocation that supersede each other only within their own. What is laid over a machine (keys, volumes, a
-- runtime) has a lane each; the environment itself is the first.
set role gpuaas_owner;

alter table node_tasks add column lane text not null default 'environment';
create index node_tasks_lane on node_tasks (allocation_id, lane, seq);

-- Which generation of the keys the machine was last seen to admit.
alter table allocation_keysets add column observed_generation int not null default 0;
