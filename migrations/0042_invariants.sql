-- What the invariant worker finds on the running system, and when it last looked.
set role gpuaas_owner;

create table invariant_looks (
    kind text primary key,
    looked_at timestamptz not null,
    seconds float8 not null
);

-- Present while the violation is; `looks` counts how often in a row it was seen.
create table invariant_violations (
    kind text not null,
    subject text not null,
    detail text not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    looks int not null default 1,
    primary key (kind, subject)
);

do $$
declare name text;
begin
    foreach name in array array['invariant_looks', 'invariant_violations'] loop
        execute format('alter table %I enable row level security', name);
        execute format('create policy operator on %I to gpuaas_operator using (fence_is_operator())', name);
        execute format('create policy worker on %I to gpuaas_worker using (true)', name);
        execute format('grant select on %I to gpuaas_operator', name);
        execute format('grant select, insert, update, delete on %I to gpuaas_worker', name);
    end loop;
end $$;
