-- Keys of a machine's own ~/.ssh/authorized_keys: they enter only where the holder allows it, and are shown as what they
-- are, unknown to the platform. What was found there is the fingerprints alone, as the node last told them.
set role gpuaas_owner;

alter table allocation_keysets
    add column admits_own boolean not null default false,
    add column own_keys text[] not null default '{}',
    add column own_keys_at timestamptz;
