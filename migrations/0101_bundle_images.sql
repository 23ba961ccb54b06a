-- A bundle fits allocations whose base image has the distribution and Python of the image in which it was built.
set role gpuaas_owner;
alter table node_bundles add column distribution text not null default ''; -- '': staged before it was recorded

-- The image that a node reports is newer than what its agent found when it started.
create or replace function runtime_facts(node text) returns jsonb
    language sql stable security definer set search_path = public as $$
    select jsonb_build_object(
        'engine', engine,
        'gpu_families', (select coalesce(jsonb_agg(distinct gpu -> 'family'), '[]')
            from jsonb_array_elements(coalesce(facts -> 'gpus', '[]')) gpu),
        'simulated', simulated,
        'runtimes', coalesce(image ->> 'python', facts #>> '{facts,runtimes,value}'),
        'distribution', coalesce(image ->> 'distribution', facts #>> '{facts,distribution,value}'),
        'nvidia_driver', facts #>> '{facts,nvidia_driver,value}',
        'amd_driver', facts #>> '{facts,amd_driver,value}')
    from nodes where id = node
$$;
