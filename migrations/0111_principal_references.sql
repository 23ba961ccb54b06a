-- no transaction
-- Holder, requester, caller and membership refer to principals instead of users. A reference is added without a look at the
-- rows, under locks that are given up after 100 ms rather than make requests wait; the rows are checked afterwards, beside
-- running requests.

set role gpuaas_owner

-- Actors of rows from before principals that are neither a user nor a node.
insert into principals (id, kind, name, created_at)
select id, 'system', id, clock_timestamp() from (
    select actor as id from audit union select actor from timeline_entries
    union select caller from idempotency union select requested_by from operations
) found on conflict do nothing

create or replace procedure refer_to_principals(referring text, referrer text) language plpgsql as $$
declare tries int := 0;
begin
    perform set_config('lock_timeout', '100ms', true);
    loop
        begin
            execute format('lock table users, %I in access exclusive mode', referring);
            execute format('alter table %I drop constraint if exists %I, drop constraint if exists %I, add constraint %I
                foreign key (%I) references principals not valid', referring, referring || '_' || referrer || '_fkey',
                referring || '_' || referrer || '_principal', referring || '_' || referrer || '_principal', referrer);
            return;
        exception when lock_not_available then
            tries := tries + 1;
            if tries = 300 then raise; end if;
            perform pg_sleep(0.1);
        end;
    end loop;
end $$

call refer_to_principals('tenant_members', 'user_id')

alter table tenant_members validate constraint tenant_members_user_id_principal

call refer_to_principals('project_members', 'user_id')

alter table project_members validate constraint project_members_user_id_principal

call refer_to_principals('tokens', 'user_id')

alter table tokens validate constraint tokens_user_id_principal

call refer_to_principals('allocations', 'requested_by')

alter table allocations validate constraint allocations_requested_by_principal

call refer_to_principals('allocations', 'holder_id')

alter table allocations validate constraint allocations_holder_id_principal

call refer_to_principals('allocation_groups', 'created_by')

alter table allocation_groups validate constraint allocation_groups_created_by_principal

call refer_to_principals('access_grants', 'created_by')

alter table access_grants validate constraint access_grants_created_by_principal

call refer_to_principals('volumes', 'created_by')

alter table volumes validate constraint volumes_created_by_principal

call refer_to_principals('volume_snapshots', 'created_by')

alter table volume_snapshots validate constraint volume_snapshots_created_by_principal

call refer_to_principals('operations', 'requested_by')

alter table operations validate constraint operations_requested_by_principal

call refer_to_principals('idempotency', 'caller')

alter table idempotency validate constraint idempotency_caller_principal

drop procedure refer_to_principals(text, text)
