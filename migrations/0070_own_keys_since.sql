-- When the own key file of an allocation was allowed. It is shown with the person who allowed it.
set role gpuaas_owner;

alter table allocation_keysets add column admits_own_since timestamptz;
update allocation_keysets k set admits_own_since = (
    select max(e.at) from timeline_entries e
    where e.subject_kind = 'allocation' and e.subject_id = k.allocation_id and e.phase = 'own_keys_allowed')
where k.admits_own;
