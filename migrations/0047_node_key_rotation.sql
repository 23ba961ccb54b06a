-- A node's key is changed by the node itself: it shows a token of an operator's and proves that it has both keys.
set role gpuaas_owner;

alter table enrolment_tokens add column purpose text not null default 'enrol' check (purpose in ('enrol', 'rotate_key'));
alter table nodes add column key_changed_at timestamptz;
grant delete on links to gpuaas_operator;
