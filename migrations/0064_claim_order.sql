-- Each replica estimates the database's time, and a create may wait for the release that frees its slot. Both could
-- date a claim before the end of the one before it, which reads as a double sale. So the claims of one slot follow each
-- other by the order in which they were committed, whatever the writer's time says.
create index claims_slot_ends on claims (slot_id, released_at);

create function claim_in_order() returns trigger
    language plpgsql security definer set search_path = public as $$
begin
    if tg_op = 'UPDATE' then
        new.released_at := greatest(new.released_at, old.claimed_at);
        return new;
    end if;
    -- The release of this slot may be about to commit: wait for its time, as the unique index would wait for its end.
    perform from claims where slot_id = new.slot_id and released_at is null for share;
    select greatest(new.claimed_at, max(released_at)) into new.claimed_at from claims where slot_id = new.slot_id;
    return new;
end $$;
create trigger claim_in_order before insert on claims for each row when (new.slot_id is not null)
    execute function claim_in_order();
create trigger claim_ends_in_order before update of released_at on claims for each row
    when (new.released_at is not null) execute function claim_in_order();
revoke execute on function claim_in_order() from public;
