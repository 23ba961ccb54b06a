-- Whether somebody else may have the node's link: it replaced a live link of another agent process moments ago, or two
-- live processes were seen to use the node's key.
set role gpuaas_owner;

create function is_link_in_doubt(node text, at timestamptz) returns boolean
    language sql stable security definer set search_path = public as $$
    select exists (select from nodes n where n.id = node and (n.contested_at is not null or n.link_disputed_until > at))
$$;
revoke execute on function is_link_in_doubt(text, timestamptz) from public;
grant execute on function is_link_in_doubt(text, timestamptz) to gpuaas_api, gpuaas_operator, gpuaas_worker;
