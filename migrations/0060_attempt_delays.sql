-- Growing delays after failed attempts, per (account, source) and per source: an attacker delays only their own source.
set role gpuaas_owner;
create table attempt_delays (
    bucket text primary key,
    failures int not null,
    last_at timestamptz not null,
    next_at timestamptz not null
);
alter table attempt_delays enable row level security;
create policy worker on attempt_delays to gpuaas_worker using (true);
grant select, insert, update, delete on attempt_delays to gpuaas_worker;
create index attempt_delays_last on attempt_delays (last_at);
