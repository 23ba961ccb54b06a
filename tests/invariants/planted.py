"""A planted violation of each invariant, for a database with one allocation released, one active and a node."""

CLAIM = "insert into claims (allocation_id, tenant_id, node_id, slot_id, kind, claimed_at, released_at)"
TERMINAL = """
    insert into terminals (id, tenant_id, project_id, allocation_id, node_id, boot, user_id, credential_id, source,
        recorded, created_at)
    select 'term_1', tenant_id, project_id, id, node_id, boot, holder_id, '', '', false, now()
    from allocations where status = 'released' limit 1
"""
RESIZE = "insert into resizes select id, tenant_id, 2, size, 1, 1, price_id, 1, '{}' from allocations"
PLANTED = {
    "claim_leaked": f"""
        {CLAIM} select a.id, a.tenant_id, a.node_id, s.id, 'slot', now(), null from allocations a, slots s
        where a.status = 'released' and s.id not in (select slot_id from claims where released_at is null) limit 1
    """,
    "claim_overlap": f"""
        {CLAIM} select a.id, a.tenant_id, a.node_id, c.slot_id, 'slot', c.claimed_at - interval '1 hour', now()
        from allocations a, claims c where a.status = 'released' and c.released_at is null limit 1
    """,
    "claim_ended_early": "update claims set released_at = now() where released_at is null",
    "slots_missing": "update claims set released_at = now() where released_at is null",
    "cleanup_unproven": "update cleanup_proofs set ok = false",
    "billing_continues": "update allocations set billing_stopped_at = null",
    "hold_orphan": "insert into holds select id, 'volume', 'att_none' from allocations where status = 'active'",
    "hold_missing": """
        insert into volumes (id, tenant_id, project_id, name, size_gib, backend, write_policy, durability, status,
            status_since, operation_id, created_at, created_by)
        select 'vol_1', tenant_id, project_id, 'planted', 1, 'shared', 'single_writer', 'shared', 'available', now(),
            'op_1', now(), holder_id
        from allocations where status = 'active' limit 1;
        insert into storage_attachments (id, tenant_id, project_id, allocation_id, volume_id, write_policy, mount_path,
            access_mode, operation_id, created_at, created_by, status, status_since)
        select 'att_1', tenant_id, project_id, id, 'vol_1', 'single_writer', '/planted', 'read_only', 'op_1', now(),
            holder_id, 'attaching', now()
        from allocations where status = 'active' limit 1
    """,
    "operation_orphan": "update operations set status = 'running', ended_at = null where kind = 'create'",
    "task_orphan": """
        update node_tasks t set status = 'sent', ended_at = null from allocations a
        where a.id = t.allocation_id and a.status = 'released'
    """,
    "keyset_missing": """
        delete from allocation_keysets k using allocations a where a.id = k.allocation_id and a.status = 'active'
    """,
    "keyset_outsider": """
        update project_members set role = 'viewer'; update tenant_members set role = 'viewer'
    """,
    "keyset_unobserved": "update allocation_keysets set generation = generation + 1",
    "environment_unobserved": "update allocations set boot = boot + 1 where status = 'active'",
    "environment_unknown": "update nodes set unknown_environments = '{alloc_unknown}'",
    "volume_unknown": """
        insert into unknown_volumes (id, place, volume_id, backend, seen, first_seen_at, last_seen_at)
        values ('unknown_1', 'shared', 'vol_unknown', 'shared', '{}', now(), now())
    """,
    "device_sold_twice": """
        insert into device_holds (slot_id, environment_id, node_id, since)
        select slot_id, 'alloc_unknown', node_id, now() from claims where released_at is null and kind = 'slot'
    """,
    "resize_orphan": f"{RESIZE} where status = 'active' limit 1",
    "terminal_orphan": TERMINAL,
}
