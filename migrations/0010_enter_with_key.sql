-- A key's answer is written once, with the answer in it: until then its users are kept apart by a lock. Volatile, so that
-- who waited for the lock sees what was committed meanwhile. As the caller, so behind their fence.
create function kept_answer(caller_id text, asked_route text, asked_key text) returns table (
    kept_request_hash bytea, kept_status int, kept_body bytea, kept_sealed boolean
) language plpgsql volatile rows 1 as $$
begin
    perform pg_advisory_xact_lock(hashtextextended(concat_ws(' ', caller_id, asked_route, asked_key), 0));
    return query select i.request_hash, i.status, i.body, i.sealed from idempotency i
        where i.caller = caller_id and i.route = asked_route and i.key = asked_key and i.expires_at >= clock_timestamp();
end $$;
revoke execute on function kept_answer(text, text, text) from public;
grant execute on function kept_answer(text, text, text) to gpuaas_api, gpuaas_operator, gpuaas_worker;
alter function enter(bytea) rows 1; -- the planner believes in a thousand otherwise, and what is joined to them is planned so
