-- The check of usage intervals at commit runs only where a change of an allocation may start or end usage.
set role gpuaas_owner;

drop trigger usage_follows_update on allocations;
create constraint trigger usage_follows_update after update on allocations deferrable initially deferred for each row
    when ((old.status in ('active', 'restarting')) <> (new.status in ('active', 'restarting'))
        or old.billing_stopped_at is distinct from new.billing_stopped_at
        or old.price_id <> new.price_id or old.gpu_count <> new.gpu_count)
    execute function follow_usage();
