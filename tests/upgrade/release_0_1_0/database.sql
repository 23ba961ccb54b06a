--
-- PostgreSQL database dump
--

\restrict pVxtWfBnaB9JSqKIUggOlENw44Bnmj9Hpu894JriyiqZ17C9csznKBugdjlLgnL

-- Dumped from database version 18.4
-- Dumped by pg_dump version 18.4

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: invitations; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.invitations (
    id text NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    invited_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    withdrawn_at timestamp with time zone,
    project_slug text DEFAULT ''::text NOT NULL,
    tenant_slug text DEFAULT ''::text NOT NULL,
    invited_by_email text DEFAULT ''::text NOT NULL,
    CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
);


ALTER TABLE public.invitations OWNER TO gpuaas_owner;

--
-- Name: answer_invitation(text, boolean, timestamp with time zone); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.answer_invitation(invitation text, accepts boolean, at timestamp with time zone) RETURNS SETOF public.invitations
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
declare asked invitations;
begin
    select i.* into asked from invitations i join users u on u.id = fence_user() and lower(u.email) = lower(i.email)
    where i.id = invitation and i.accepted_at is null and i.withdrawn_at is null and i.expires_at > at
    for update of i;
    if not found then return; end if;
    if accepts then
        insert into tenant_members (tenant_id, user_id, role) values (asked.tenant_id, fence_user(), 'member')
            on conflict do nothing;
        insert into project_members (project_id, tenant_id, user_id, role)
            values (asked.project_id, asked.tenant_id, fence_user(), asked.role) on conflict do nothing;
        perform set_config('app.tenants', array_append(fence_tenants(), asked.tenant_id)::text, true);
    end if;
    return query update invitations i set accepted_at = case when accepts then at end,
        withdrawn_at = case when not accepts then at end where i.id = invitation returning i.*;
end $$;


ALTER FUNCTION public.answer_invitation(invitation text, accepts boolean, at timestamp with time zone) OWNER TO gpuaas_owner;

--
-- Name: claimable(text, text[], text, boolean); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.claimable(node text, wanted text[], family text, whole boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
declare ready boolean;
begin
    if whole then
        select intent = 'active' and offline_since is null into ready from nodes where id = node for update;
        if exists (select from slots where node_id = node and approved_at is not null and id <> all (wanted)) then
            return false;
        end if;
    else
        select intent = 'active' and offline_since is null into ready from nodes where id = node for share;
    end if;
    return coalesce(ready, false)
        and not exists (select from claims where node_id = node and kind = 'node_exclusive' and released_at is null)
        and cardinality(wanted) = (select count(*) from slots where node_id = node and id = any (wanted)
            and gpu_family = family and approved_at is not null and disabled_at is null
            and cleanup_blocked_at is null and fabric_vf is not null);
end $$;


ALTER FUNCTION public.claimable(node text, wanted text[], family text, whole boolean) OWNER TO gpuaas_owner;

--
-- Name: enter(bytea); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.enter(hash bytea) RETURNS TABLE(caller_user_id text, caller_email text, caller_platform_role text, caller_credential_id text, caller_scopes text[], caller_expires_at timestamp with time zone, caller_tenant_ids text[], caller_tenant_roles text[], caller_project_ids text[], caller_project_roles text[])
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path TO 'public'
    AS $$
begin
    select u.id, u.email, u.platform_role, c.id, c.scopes, c.expires_at
    into caller_user_id, caller_email, caller_platform_role, caller_credential_id, caller_scopes, caller_expires_at
    from (
        select s.id, s.user_id, array['read', 'write', 'admin'] as scopes, s.expires_at
        from sessions s where s.token_hash = hash and s.revoked_at is null
        union all
        select t.id, t.user_id, t.scopes, t.expires_at
        from tokens t where t.token_hash = hash and t.revoked_at is null
    ) c join users u on u.id = c.user_id;
    if not found then return; end if;
    if not 'admin' = any (caller_scopes) then caller_platform_role := null; end if;
    select coalesce(array_agg(m.tenant_id), '{}'), coalesce(array_agg(m.role), '{}')
    into caller_tenant_ids, caller_tenant_roles from tenant_members m where m.user_id = caller_user_id;
    select coalesce(array_agg(m.project_id), '{}'), coalesce(array_agg(m.role), '{}')
    into caller_project_ids, caller_project_roles from project_members m where m.user_id = caller_user_id;
    if caller_expires_at > clock_timestamp() then
        perform set_config('app.user', caller_user_id, true), set_config('app.tenants', caller_tenant_ids::text, true),
            set_config('app.platform_role', coalesce(caller_platform_role, ''), true);
    end if;
    return next;
end $$;


ALTER FUNCTION public.enter(hash bytea) OWNER TO gpuaas_owner;

--
-- Name: fence_is_operator(); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.fence_is_operator() RETURNS boolean
    LANGUAGE sql STABLE
    AS $$ select coalesce(current_setting('app.platform_role', true), '') <> '' $$;


ALTER FUNCTION public.fence_is_operator() OWNER TO gpuaas_owner;

--
-- Name: fence_tenants(); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.fence_tenants() RETURNS text[]
    LANGUAGE sql STABLE
    AS $$ select coalesce(nullif(current_setting('app.tenants', true), ''), '{}')::text[] $$;


ALTER FUNCTION public.fence_tenants() OWNER TO gpuaas_owner;

--
-- Name: fence_user(); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.fence_user() RETURNS text
    LANGUAGE sql STABLE
    AS $$ select coalesce(current_setting('app.user', true), '') $$;


ALTER FUNCTION public.fence_user() OWNER TO gpuaas_owner;

--
-- Name: kept_answer(text, text, text); Type: FUNCTION; Schema: public; Owner: gpuaas
--

CREATE FUNCTION public.kept_answer(caller_id text, asked_route text, asked_key text) RETURNS TABLE(kept_request_hash bytea, kept_status integer, kept_body bytea, kept_sealed boolean)
    LANGUAGE plpgsql ROWS 1
    AS $$
begin
    perform pg_advisory_xact_lock(hashtextextended(concat_ws(' ', caller_id, asked_route, asked_key), 0));
    return query select i.request_hash, i.status, i.body, i.sealed from idempotency i
        where i.caller = caller_id and i.route = asked_route and i.key = asked_key and i.expires_at >= clock_timestamp();
end $$;


ALTER FUNCTION public.kept_answer(caller_id text, asked_route text, asked_key text) OWNER TO gpuaas;

--
-- Name: key_fingerprint(text, text); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.key_fingerprint(key text, person text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public'
    AS $$ select k.fingerprint from ssh_keys k where k.id = key and k.user_id = person $$;


ALTER FUNCTION public.key_fingerprint(key text, person text) OWNER TO gpuaas_owner;

--
-- Name: render_keyset(text); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.render_keyset(allocation text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
declare rendered jsonb;
begin
    perform from allocation_keysets k where k.allocation_id = allocation for update;
    with machine as (
        select a.id, a.project_id, a.tenant_id from allocations a where a.id = allocation
    ), wanted as (
        select c.ssh_key_id as key_id, false as granted, null::timestamptz as ends_at
        from allocation_keys c where c.allocation_id = allocation
        union all
        select g.ssh_key_id, true, g.expires_at from access_grants g
        where g.allocation_id = allocation and g.status = 'active'
    ), once as (
        select distinct on (k.blob) k.*, w.granted, w.ends_at
        from wanted w join ssh_keys k on k.id = w.key_id join machine m on true
        where exists (select from project_members p where p.project_id = m.project_id and p.user_id = k.user_id
                and p.role <> 'viewer')
            or exists (select from tenant_members t where t.tenant_id = m.tenant_id and t.user_id = k.user_id
                and t.role in ('owner', 'admin'))
        order by k.blob, w.granted, w.ends_at desc nulls first, k.id
    )
    select coalesce(jsonb_agg(jsonb_build_object('type', type, 'blob', blob, 'fingerprint', fingerprint,
        'user_id', user_id, 'granted', granted, 'ends_at', ends_at) order by granted, id), '[]')
    into rendered from once;
    update allocation_keysets k set body = rendered, generation = generation + 1
    where k.allocation_id = allocation and k.body <> rendered;
end $$;


ALTER FUNCTION public.render_keyset(allocation text) OWNER TO gpuaas_owner;

--
-- Name: runtime_facts(text); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.runtime_facts(node text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    select jsonb_build_object(
        'engine', engine,
        'gpu_families', (select coalesce(jsonb_agg(distinct gpu -> 'family'), '[]')
            from jsonb_array_elements(coalesce(facts -> 'gpus', '[]')) gpu),
        'simulated', simulated,
        'runtimes', facts #>> '{facts,runtimes,value}',
        'nvidia_driver', facts #>> '{facts,nvidia_driver,value}',
        'amd_driver', facts #>> '{facts,amd_driver,value}')
    from nodes where id = node
$$;


ALTER FUNCTION public.runtime_facts(node text) OWNER TO gpuaas_owner;

--
-- Name: terminal_objection(text, integer, text, text); Type: FUNCTION; Schema: public; Owner: gpuaas_owner
--

CREATE FUNCTION public.terminal_objection(allocation text, at_boot integer, person text, credential text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
    select case
        when a.status = 'restarting' or a.boot <> at_boot then 'the machine restarted'
        when a.status in ('releasing', 'release_failed', 'released') then 'the allocation was released'
        when a.status <> 'active' then 'the machine is ' || replace(a.status, '_', ' ')
        when not exists (select from sessions s where s.id = credential and s.revoked_at is null
                and s.expires_at > clock_timestamp())
            and not exists (select from tokens k where k.id = credential and k.revoked_at is null
                and k.expires_at > clock_timestamp()) then 'you signed out'
        when not exists (select from project_members m where m.project_id = a.project_id and m.user_id = person)
            and not exists (select from tenant_members m where m.tenant_id = a.tenant_id and m.user_id = person
                and m.role in ('owner', 'admin')) then 'you are no longer a member of the project'
        when a.holder_id <> person and not exists (select from access_grants g where g.allocation_id = a.id
                and g.user_id = person and g.status = 'active'
                and coalesce(g.expires_at, 'infinity') > clock_timestamp()) then 'your access was withdrawn'
    end
    from allocations a where a.id = allocation
$$;


ALTER FUNCTION public.terminal_objection(allocation text, at_boot integer, person text, credential text) OWNER TO gpuaas_owner;

--
-- Name: access_grants; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.access_grants (
    id text NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    allocation_id text NOT NULL,
    user_id text NOT NULL,
    ssh_key_id text,
    key_fingerprint text,
    status text NOT NULL,
    status_since timestamp with time zone NOT NULL,
    status_reason text DEFAULT ''::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT access_grants_check CHECK (((status <> 'active'::text) OR (ssh_key_id IS NOT NULL))),
    CONSTRAINT access_grants_status_check CHECK ((status = ANY (ARRAY['asked'::text, 'awaiting_key'::text, 'active'::text, 'revoked'::text, 'ended'::text])))
);


ALTER TABLE public.access_grants OWNER TO gpuaas_owner;

--
-- Name: activity; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.activity (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    kind text NOT NULL,
    last_at timestamp with time zone NOT NULL
);


ALTER TABLE public.activity OWNER TO gpuaas_owner;

--
-- Name: allocation_groups; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.allocation_groups (
    id text NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL
);


ALTER TABLE public.allocation_groups OWNER TO gpuaas_owner;

--
-- Name: allocation_keys; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.allocation_keys (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    ssh_key_id text NOT NULL
);


ALTER TABLE public.allocation_keys OWNER TO gpuaas_owner;

--
-- Name: allocation_keysets; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.allocation_keysets (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    generation integer NOT NULL,
    body jsonb NOT NULL,
    observed_generation integer DEFAULT 0 NOT NULL,
    admits_own boolean DEFAULT false NOT NULL,
    own_keys text[] DEFAULT '{}'::text[] NOT NULL,
    own_keys_at timestamp with time zone
);


ALTER TABLE public.allocation_keysets OWNER TO gpuaas_owner;

--
-- Name: allocation_runtimes; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.allocation_runtimes (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    bundle_id text,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    operation_id text NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    wants_check boolean DEFAULT false NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    observed_bundle_id text,
    previous_bundle_id text,
    observed_boot integer DEFAULT 0 NOT NULL,
    last_applied_at timestamp with time zone,
    CONSTRAINT allocation_runtimes_check CHECK (((bundle_id IS NOT NULL) OR (state = ANY (ARRAY['clearing'::text, 'cleared'::text])))),
    CONSTRAINT allocation_runtimes_state_check CHECK ((state = ANY (ARRAY['applying'::text, 'applied'::text, 'failed'::text, 'clearing'::text, 'cleared'::text])))
);


ALTER TABLE public.allocation_runtimes OWNER TO gpuaas_owner;

--
-- Name: allocation_sessions; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.allocation_sessions (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    observed_at timestamp with time zone NOT NULL,
    body jsonb NOT NULL
);


ALTER TABLE public.allocation_sessions OWNER TO gpuaas_owner;

--
-- Name: allocations; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.allocations (
    id text NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    group_id text,
    name text NOT NULL,
    sku text NOT NULL,
    shape text NOT NULL,
    gpu_count integer NOT NULL,
    size text NOT NULL,
    vcpus integer NOT NULL,
    memory_mib integer NOT NULL,
    simulated boolean NOT NULL,
    node_id text NOT NULL,
    region text NOT NULL,
    price_id text NOT NULL,
    price_minor_per_hour bigint NOT NULL,
    currency text NOT NULL,
    requested_by text NOT NULL,
    holder_id text NOT NULL,
    status text NOT NULL,
    status_since timestamp with time zone NOT NULL,
    status_reason text DEFAULT ''::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    operation_id text NOT NULL,
    boot integer DEFAULT 1 NOT NULL,
    observed_boot integer DEFAULT 0 NOT NULL,
    username text NOT NULL,
    ssh_host text,
    port integer,
    host_key text,
    isolation jsonb,
    created_at timestamp with time zone NOT NULL,
    active_at timestamp with time zone,
    released_at timestamp with time zone,
    last_progress_at timestamp with time zone NOT NULL,
    billing_stopped_at timestamp with time zone,
    cleanup_proven_at timestamp with time zone,
    network_id text,
    network_policy_id text,
    project_network_id text,
    expires_at timestamp with time zone,
    expiry_warned_at timestamp with time zone,
    idle_minutes integer,
    idle_warned_at timestamp with time zone,
    extended_at timestamp with time zone,
    CONSTRAINT allocations_idle_minutes_check CHECK ((idle_minutes > 0)),
    CONSTRAINT allocations_status_check CHECK ((status = ANY (ARRAY['requested'::text, 'provisioning'::text, 'active'::text, 'restarting'::text, 'restart_failed'::text, 'releasing'::text, 'release_failed'::text, 'released'::text, 'failed'::text])))
);


ALTER TABLE public.allocations OWNER TO gpuaas_owner;

--
-- Name: audit; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.audit (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    tenant_id text,
    project_id text,
    actor text NOT NULL,
    acted_as text NOT NULL,
    action text NOT NULL,
    target_kind text NOT NULL,
    target_id text NOT NULL,
    result text NOT NULL,
    repeats integer DEFAULT 1 NOT NULL,
    correlation_id text NOT NULL,
    facts jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT audit_result_check CHECK ((result = ANY (ARRAY['done'::text, 'denied'::text])))
);


ALTER TABLE public.audit OWNER TO gpuaas_owner;

--
-- Name: audit_id_seq; Type: SEQUENCE; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: claims; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.claims (
    id bigint NOT NULL,
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    node_id text NOT NULL,
    slot_id text,
    kind text NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    released_at timestamp with time zone,
    CONSTRAINT claims_check CHECK (((kind = 'slot'::text) = (slot_id IS NOT NULL))),
    CONSTRAINT claims_kind_check CHECK ((kind = ANY (ARRAY['slot'::text, 'node_exclusive'::text])))
);


ALTER TABLE public.claims OWNER TO gpuaas_owner;

--
-- Name: claims_id_seq; Type: SEQUENCE; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.claims ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.claims_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: cleanup_proofs; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.cleanup_proofs (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    item text NOT NULL,
    ok boolean NOT NULL,
    evidence text NOT NULL,
    at timestamp with time zone NOT NULL
);


ALTER TABLE public.cleanup_proofs OWNER TO gpuaas_owner;

--
-- Name: enrolment_tokens; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.enrolment_tokens (
    token_hash bytea NOT NULL,
    node_id text NOT NULL,
    created_by text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);


ALTER TABLE public.enrolment_tokens OWNER TO gpuaas_owner;

--
-- Name: health_findings; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.health_findings (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    source text NOT NULL,
    code text NOT NULL,
    words text NOT NULL,
    next_step text NOT NULL,
    since timestamp with time zone NOT NULL
);


ALTER TABLE public.health_findings OWNER TO gpuaas_owner;

--
-- Name: holds; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.holds (
    allocation_id text NOT NULL,
    kind text NOT NULL,
    ref text NOT NULL
);


ALTER TABLE public.holds OWNER TO gpuaas_owner;

--
-- Name: idempotency; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.idempotency (
    caller text NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    request_hash bytea NOT NULL,
    status integer,
    body bytea,
    sealed boolean DEFAULT false NOT NULL,
    expires_at timestamp with time zone NOT NULL
);


ALTER TABLE public.idempotency OWNER TO gpuaas_owner;

--
-- Name: identities; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id text NOT NULL,
    secret_hash text
);


ALTER TABLE public.identities OWNER TO gpuaas_owner;

--
-- Name: link_epochs; Type: SEQUENCE; Schema: public; Owner: gpuaas_owner
--

CREATE SEQUENCE public.link_epochs
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER SEQUENCE public.link_epochs OWNER TO gpuaas_owner;

--
-- Name: links; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.links (
    node_id text NOT NULL,
    replica_id text NOT NULL,
    epoch bigint NOT NULL,
    since timestamp with time zone NOT NULL
);


ALTER TABLE public.links OWNER TO gpuaas_owner;

--
-- Name: managed_runtime_bundles; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.managed_runtime_bundles (
    id text NOT NULL,
    slug text NOT NULL,
    version text NOT NULL,
    product_name text NOT NULL,
    vendor text NOT NULL,
    runtime_family text NOT NULL,
    gpu_families text[] NOT NULL,
    driver_min text,
    driver_max text,
    support_level text NOT NULL,
    state text NOT NULL,
    state_since timestamp with time zone NOT NULL,
    digest text NOT NULL,
    recipe jsonb NOT NULL,
    published_at timestamp with time zone NOT NULL,
    published_by text NOT NULL,
    CONSTRAINT managed_runtime_bundles_runtime_family_check CHECK ((runtime_family = ANY (ARRAY['cuda'::text, 'rocm'::text, 'cpu'::text]))),
    CONSTRAINT managed_runtime_bundles_state_check CHECK ((state = ANY (ARRAY['published'::text, 'deprecated'::text, 'retired'::text]))),
    CONSTRAINT managed_runtime_bundles_support_level_check CHECK ((support_level = ANY (ARRAY['supported'::text, 'preview'::text])))
);


ALTER TABLE public.managed_runtime_bundles OWNER TO gpuaas_owner;

--
-- Name: newest_samples; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.newest_samples (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    node_id text NOT NULL,
    boot integer NOT NULL,
    at timestamp with time zone NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    readings jsonb NOT NULL,
    cpu double precision,
    cpu_active_at timestamp with time zone,
    gpu_active_at timestamp with time zone,
    ssh_active_at timestamp with time zone
)
WITH (fillfactor='80');


ALTER TABLE public.newest_samples OWNER TO gpuaas_owner;

--
-- Name: node_bundles; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.node_bundles (
    id text NOT NULL,
    node_id text NOT NULL,
    bundle_id text NOT NULL,
    status text NOT NULL,
    status_since timestamp with time zone NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    operation_id text NOT NULL,
    manifest text DEFAULT ''::text NOT NULL,
    health text DEFAULT ''::text NOT NULL,
    files integer DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    drift text[] DEFAULT '{}'::text[] NOT NULL,
    staged_at timestamp with time zone,
    checked_at timestamp with time zone,
    proofs jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT node_bundles_status_check CHECK ((status = ANY (ARRAY['staging'::text, 'staged'::text, 'failed'::text, 'removing'::text, 'removed'::text])))
);


ALTER TABLE public.node_bundles OWNER TO gpuaas_owner;

--
-- Name: node_tasks; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.node_tasks (
    id text NOT NULL,
    node_id text NOT NULL,
    allocation_id text,
    operation_id text,
    seq integer NOT NULL,
    boot integer NOT NULL,
    kind text NOT NULL,
    wants jsonb NOT NULL,
    status text NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    ended_at timestamp with time zone,
    reason text DEFAULT ''::text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    result jsonb,
    lane text DEFAULT 'environment'::text NOT NULL,
    CONSTRAINT node_tasks_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'sent'::text, 'done'::text, 'failed'::text, 'expired'::text, 'superseded'::text, 'refused'::text])))
)
WITH (fillfactor='50');


ALTER TABLE public.node_tasks OWNER TO gpuaas_owner;

--
-- Name: nodes; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.nodes (
    id text NOT NULL,
    name text NOT NULL,
    region text NOT NULL,
    intent text NOT NULL,
    intent_since timestamp with time zone NOT NULL,
    intent_reason text DEFAULT ''::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    offline_since timestamp with time zone,
    last_seen_at timestamp with time zone,
    public_key bytea,
    engine text DEFAULT ''::text NOT NULL,
    simulated boolean DEFAULT false NOT NULL,
    agent_version text DEFAULT ''::text NOT NULL,
    ssh_host text DEFAULT ''::text NOT NULL,
    boot_id text DEFAULT ''::text NOT NULL,
    facts jsonb,
    unknown_environments text[] DEFAULT '{}'::text[] NOT NULL,
    offline_for interval DEFAULT '00:00:00'::interval NOT NULL,
    offline_counted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT nodes_intent_check CHECK ((intent = ANY (ARRAY['enrolling'::text, 'active'::text, 'draining'::text, 'quarantined'::text, 'retired'::text])))
);


ALTER TABLE public.nodes OWNER TO gpuaas_owner;

--
-- Name: operations; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.operations (
    id text NOT NULL,
    tenant_id text,
    project_id text,
    kind text NOT NULL,
    subject_kind text NOT NULL,
    subject_id text NOT NULL,
    status text NOT NULL,
    requested_by text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    last_progress_at timestamp with time zone NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    correlation_id text NOT NULL,
    CONSTRAINT operations_status_check CHECK ((status = ANY (ARRAY['running'::text, 'succeeded'::text, 'failed'::text])))
);


ALTER TABLE public.operations OWNER TO gpuaas_owner;

--
-- Name: outbox; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.outbox (
    id bigint NOT NULL,
    topic text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    delivered_at timestamp with time zone
);


ALTER TABLE public.outbox OWNER TO gpuaas_owner;

--
-- Name: outbox_id_seq; Type: SEQUENCE; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: platform; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.platform (
    key text NOT NULL,
    value text NOT NULL
);


ALTER TABLE public.platform OWNER TO gpuaas_owner;

--
-- Name: prices; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.prices (
    id text NOT NULL,
    sku_key integer NOT NULL,
    amount_minor bigint NOT NULL,
    currency text NOT NULL,
    valid tstzrange NOT NULL,
    CONSTRAINT prices_amount_minor_check CHECK ((amount_minor >= 0))
);


ALTER TABLE public.prices OWNER TO gpuaas_owner;

--
-- Name: project_members; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.project_members (
    project_id text NOT NULL,
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    role text NOT NULL,
    CONSTRAINT project_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
);


ALTER TABLE public.project_members OWNER TO gpuaas_owner;

--
-- Name: projects; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.projects (
    id text NOT NULL,
    tenant_id text NOT NULL,
    slug text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    record_terminals boolean DEFAULT false NOT NULL
);


ALTER TABLE public.projects OWNER TO gpuaas_owner;

--
-- Name: rate_limits; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.rate_limits (
    bucket text NOT NULL,
    window_started_at timestamp with time zone NOT NULL,
    used integer NOT NULL
);


ALTER TABLE public.rate_limits OWNER TO gpuaas_owner;

--
-- Name: recording_chunks; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.recording_chunks (
    id bigint NOT NULL,
    terminal_id text NOT NULL,
    tenant_id text NOT NULL,
    first_byte bigint NOT NULL,
    length integer NOT NULL,
    body bytea NOT NULL
);


ALTER TABLE public.recording_chunks OWNER TO gpuaas_owner;

--
-- Name: recording_chunks_id_seq; Type: SEQUENCE; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.recording_chunks ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.recording_chunks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: regions; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.regions (
    name text NOT NULL
);


ALTER TABLE public.regions OWNER TO gpuaas_owner;

--
-- Name: replicas; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.replicas (
    id text NOT NULL,
    url text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL
);


ALTER TABLE public.replicas OWNER TO gpuaas_owner;

--
-- Name: resizes; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.resizes (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    gpu_count integer NOT NULL,
    size text NOT NULL,
    vcpus integer NOT NULL,
    memory_mib integer NOT NULL,
    price_id text NOT NULL,
    price_minor_per_hour bigint NOT NULL,
    slot_ids text[] NOT NULL
);


ALTER TABLE public.resizes OWNER TO gpuaas_owner;

--
-- Name: sample_minutes; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.sample_minutes (
    slot integer NOT NULL,
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    boot integer NOT NULL,
    numbers jsonb NOT NULL,
    CONSTRAINT sample_minutes_slot_check CHECK (((slot >= 0) AND (slot <= 1439)))
)
WITH (fillfactor='80');


ALTER TABLE public.sample_minutes OWNER TO gpuaas_owner;

--
-- Name: samples; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.samples (
    slot integer NOT NULL,
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    boot integer NOT NULL,
    numbers jsonb NOT NULL,
    CONSTRAINT samples_slot_check CHECK (((slot >= 0) AND (slot <= 359)))
)
WITH (fillfactor='80');


ALTER TABLE public.samples OWNER TO gpuaas_owner;

--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: gpuaas
--

CREATE TABLE public.schema_migrations (
    name text NOT NULL,
    digest text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


ALTER TABLE public.schema_migrations OWNER TO gpuaas;

--
-- Name: session_ends; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.session_ends (
    allocation_id text NOT NULL,
    tenant_id text NOT NULL,
    session_id text NOT NULL,
    operation_id text NOT NULL,
    reason text NOT NULL,
    requested_at timestamp with time zone NOT NULL
);


ALTER TABLE public.session_ends OWNER TO gpuaas_owner;

--
-- Name: sessions; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.sessions (
    id text NOT NULL,
    token_hash bytea NOT NULL,
    user_id text NOT NULL,
    device text NOT NULL,
    address text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone
);


ALTER TABLE public.sessions OWNER TO gpuaas_owner;

--
-- Name: sku_sizes; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.sku_sizes (
    sku text NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    gpu_count integer NOT NULL,
    vcpus integer NOT NULL,
    memory_mib integer NOT NULL
);


ALTER TABLE public.sku_sizes OWNER TO gpuaas_owner;

--
-- Name: skus; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.skus (
    sku text NOT NULL,
    key integer NOT NULL,
    title text NOT NULL,
    shape text NOT NULL,
    gpu_family text NOT NULL,
    allowed_counts integer[] NOT NULL,
    simulated boolean NOT NULL,
    active boolean DEFAULT true NOT NULL,
    CONSTRAINT skus_shape_check CHECK ((shape = ANY (ARRAY['baremetal'::text, 'gpu_slice'::text])))
);


ALTER TABLE public.skus OWNER TO gpuaas_owner;

--
-- Name: skus_key_seq; Type: SEQUENCE; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.skus ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.skus_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: slots; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.slots (
    id text NOT NULL,
    node_id text NOT NULL,
    index integer NOT NULL,
    gpu_family text NOT NULL,
    gpu_pci text NOT NULL,
    gpu_uuid text NOT NULL,
    fabric_vf text,
    nvme text,
    mac text,
    address text,
    numa integer,
    vcpus integer NOT NULL,
    memory_mib integer NOT NULL,
    wipe_policy text DEFAULT 'scrub'::text NOT NULL,
    approved_at timestamp with time zone,
    approved_by text,
    disabled_at timestamp with time zone,
    disabled_reason text DEFAULT ''::text NOT NULL,
    cleanup_blocked_at timestamp with time zone
);


ALTER TABLE public.slots OWNER TO gpuaas_owner;

--
-- Name: ssh_keys; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.ssh_keys (
    id text NOT NULL,
    user_id text NOT NULL,
    title text NOT NULL,
    type text NOT NULL,
    blob text NOT NULL,
    fingerprint text NOT NULL,
    created_at timestamp with time zone NOT NULL
);


ALTER TABLE public.ssh_keys OWNER TO gpuaas_owner;

--
-- Name: storage_attachments; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.storage_attachments (
    id text NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    allocation_id text NOT NULL,
    volume_id text NOT NULL,
    write_policy text NOT NULL,
    mount_path text NOT NULL,
    access_mode text NOT NULL,
    status text NOT NULL,
    status_since timestamp with time zone NOT NULL,
    status_reason text DEFAULT ''::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    operation_id text NOT NULL,
    forced boolean DEFAULT false NOT NULL,
    observed_boot integer DEFAULT 0 NOT NULL,
    observed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    CONSTRAINT storage_attachments_access_mode_check CHECK ((access_mode = ANY (ARRAY['read_only'::text, 'read_write'::text]))),
    CONSTRAINT storage_attachments_mount_path_check CHECK (((mount_path ~ '^/'::text) AND (mount_path !~ '//|/\.|/$'::text))),
    CONSTRAINT storage_attachments_status_check CHECK ((status = ANY (ARRAY['attaching'::text, 'attached'::text, 'detaching'::text, 'detach_failed'::text, 'detached'::text, 'failed'::text])))
);


ALTER TABLE public.storage_attachments OWNER TO gpuaas_owner;

--
-- Name: storage_backends; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.storage_backends (
    backend text NOT NULL,
    title text NOT NULL,
    durability text NOT NULL,
    capabilities text[] NOT NULL,
    CONSTRAINT storage_backends_durability_check CHECK ((durability = ANY (ARRAY['shared'::text, 'node_bound'::text])))
);


ALTER TABLE public.storage_backends OWNER TO gpuaas_owner;

--
-- Name: storage_conformance_runs; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.storage_conformance_runs (
    id text NOT NULL,
    backend text NOT NULL,
    node_id text NOT NULL,
    requested_by text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    passed boolean,
    reason text DEFAULT ''::text NOT NULL,
    checks jsonb DEFAULT '[]'::jsonb NOT NULL
);


ALTER TABLE public.storage_conformance_runs OWNER TO gpuaas_owner;

--
-- Name: stream_requests; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.stream_requests (
    id text NOT NULL,
    node_id text NOT NULL,
    allocation_id text NOT NULL,
    kind text NOT NULL,
    target jsonb NOT NULL,
    url text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone
);


ALTER TABLE public.stream_requests OWNER TO gpuaas_owner;

--
-- Name: task_logs; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.task_logs (
    operation_id text NOT NULL,
    tenant_id text,
    task_id text NOT NULL,
    seq integer NOT NULL,
    at timestamp with time zone NOT NULL,
    line text NOT NULL,
    id bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    allocation_id text
);


ALTER TABLE public.task_logs OWNER TO gpuaas_owner;

--
-- Name: task_logs_id_seq; Type: SEQUENCE; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.task_logs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.task_logs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: tenant_members; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.tenant_members (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    role text NOT NULL,
    CONSTRAINT tenant_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
);


ALTER TABLE public.tenant_members OWNER TO gpuaas_owner;

--
-- Name: tenants; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.tenants (
    id text NOT NULL,
    type text NOT NULL,
    slug text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT tenants_type_check CHECK ((type = ANY (ARRAY['personal'::text, 'enterprise'::text])))
);


ALTER TABLE public.tenants OWNER TO gpuaas_owner;

--
-- Name: terminal_tickets; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.terminal_tickets (
    hash bytea NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    allocation_id text NOT NULL,
    user_id text NOT NULL,
    credential_id text NOT NULL,
    terminal_id text,
    recorded boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);


ALTER TABLE public.terminal_tickets OWNER TO gpuaas_owner;

--
-- Name: terminals; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.terminals (
    id text NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    allocation_id text NOT NULL,
    node_id text NOT NULL,
    boot integer NOT NULL,
    user_id text NOT NULL,
    credential_id text NOT NULL,
    source text NOT NULL,
    recorded boolean NOT NULL,
    recorded_bytes bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    opened_at timestamp with time zone,
    attached boolean DEFAULT false NOT NULL,
    closed_at timestamp with time zone,
    reason text DEFAULT ''::text NOT NULL,
    exit_code integer,
    ended_at timestamp with time zone
);


ALTER TABLE public.terminals OWNER TO gpuaas_owner;

--
-- Name: timeline_entries; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.timeline_entries (
    id bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    tenant_id text,
    project_id text,
    subject_kind text NOT NULL,
    subject_id text NOT NULL,
    operation_id text,
    phase text NOT NULL,
    outcome text NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    evidence jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT timeline_entries_outcome_check CHECK ((outcome = ANY (ARRAY['began'::text, 'done'::text, 'failed'::text])))
);


ALTER TABLE public.timeline_entries OWNER TO gpuaas_owner;

--
-- Name: timeline_entries_id_seq; Type: SEQUENCE; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.timeline_entries ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.timeline_entries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.tokens (
    id text NOT NULL,
    token_hash bytea NOT NULL,
    user_id text NOT NULL,
    title text NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone
);


ALTER TABLE public.tokens OWNER TO gpuaas_owner;

--
-- Name: users; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.users (
    id text NOT NULL,
    email text NOT NULL,
    platform_role text,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT users_platform_role_check CHECK ((platform_role = ANY (ARRAY['admin'::text, 'ops'::text])))
);


ALTER TABLE public.users OWNER TO gpuaas_owner;

--
-- Name: volume_snapshots; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.volume_snapshots (
    id text NOT NULL,
    volume_id text NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    status_since timestamp with time zone NOT NULL,
    status_reason text DEFAULT ''::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    operation_id text NOT NULL,
    size_bytes bigint,
    consistency text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    CONSTRAINT volume_snapshots_status_check CHECK ((status = ANY (ARRAY['creating'::text, 'ready'::text, 'failed'::text, 'deleting'::text, 'deleted'::text])))
);


ALTER TABLE public.volume_snapshots OWNER TO gpuaas_owner;

--
-- Name: volumes; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.volumes (
    id text NOT NULL,
    tenant_id text NOT NULL,
    project_id text NOT NULL,
    name text NOT NULL,
    size_gib integer NOT NULL,
    backend text NOT NULL,
    write_policy text NOT NULL,
    durability text NOT NULL,
    node_id text,
    status text NOT NULL,
    status_since timestamp with time zone NOT NULL,
    status_reason text DEFAULT ''::text NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    operation_id text NOT NULL,
    protected boolean DEFAULT false NOT NULL,
    quota text DEFAULT 'measured'::text NOT NULL,
    used_bytes bigint,
    used_at timestamp with time zone,
    snapshot_id text,
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    deleted_at timestamp with time zone,
    deletion_proofs jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT volumes_check CHECK (((durability = 'node_bound'::text) = (node_id IS NOT NULL))),
    CONSTRAINT volumes_durability_check CHECK ((durability = ANY (ARRAY['shared'::text, 'node_bound'::text]))),
    CONSTRAINT volumes_quota_check CHECK ((quota = ANY (ARRAY['enforced'::text, 'measured'::text]))),
    CONSTRAINT volumes_size_gib_check CHECK ((size_gib > 0)),
    CONSTRAINT volumes_status_check CHECK ((status = ANY (ARRAY['creating'::text, 'available'::text, 'failed'::text, 'deleting'::text, 'delete_failed'::text, 'deleted'::text]))),
    CONSTRAINT volumes_write_policy_check CHECK ((write_policy = ANY (ARRAY['single_writer'::text, 'multi_writer'::text])))
);


ALTER TABLE public.volumes OWNER TO gpuaas_owner;

--
-- Name: work; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.work (
    worker text NOT NULL,
    row_id text NOT NULL,
    token text,
    until timestamp with time zone,
    next_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text
);


ALTER TABLE public.work OWNER TO gpuaas_owner;

--
-- Name: worker_switches; Type: TABLE; Schema: public; Owner: gpuaas_owner
--

CREATE TABLE public.worker_switches (
    worker text NOT NULL,
    disabled_at timestamp with time zone NOT NULL,
    disabled_by text NOT NULL,
    reason text NOT NULL
);


ALTER TABLE public.worker_switches OWNER TO gpuaas_owner;

--
-- Data for Name: access_grants; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.access_grants (id, tenant_id, project_id, allocation_id, user_id, ssh_key_id, key_fingerprint, status, status_since, status_reason, version, created_by, created_at, expires_at) FROM stdin;
grant_01m7v1bgjqf50sbk2m1n2ykmnd	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	alloc_01m7v1bggsfsmr3xab4b06fkwf	user_01m7v1bg9mfbytbq0pfyj2waw1	key_01m7v1bg9ye0cr5av4n2pjx0v8	SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU	active	2026-11-19 23:13:03.574457+00		1	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.574457+00	\N
\.


--
-- Data for Name: activity; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.activity (allocation_id, tenant_id, kind, last_at) FROM stdin;
\.


--
-- Data for Name: allocation_groups; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.allocation_groups (id, tenant_id, project_id, created_by, created_at) FROM stdin;
\.


--
-- Data for Name: allocation_keys; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.allocation_keys (allocation_id, tenant_id, ssh_key_id) FROM stdin;
alloc_01m7v1bgcmf52875m1wkejg9ej	ten_01m7v1bg98fhztmhjvmraspyq2	key_01m7v1bg9hfjd8ek8des3bjxhc
alloc_01m7v1bgdae4sv6ytwabztdjm4	ten_01m7v1bg98fhztmhjvmraspyq2	key_01m7v1bg9hfjd8ek8des3bjxhc
alloc_01m7v1bgezfwmv1evedmtha9s4	ten_01m7v1bg98fhztmhjvmraspyq2	key_01m7v1bg9hfjd8ek8des3bjxhc
alloc_01m7v1bgg4ftka2x2dmgf4m6ge	ten_01m7v1bg98fhztmhjvmraspyq2	key_01m7v1bg9hfjd8ek8des3bjxhc
alloc_01m7v1bggsfsmr3xab4b06fkwf	ten_01m7v1bg98fhztmhjvmraspyq2	key_01m7v1bg9hfjd8ek8des3bjxhc
alloc_01m7v1bgm0ewataazps4cw1s78	ten_01m7v1bg98fhztmhjvmraspyq2	key_01m7v1bg9hfjd8ek8des3bjxhc
alloc_01m7v1bgmse4rs34qp8ttw3kq3	ten_01m7v1bg98fhztmhjvmraspyq2	key_01m7v1bg9hfjd8ek8des3bjxhc
alloc_01m7v1bgn5ff7rkaxtz7sn4g70	ten_01m7v1bg98fhztmhjvmraspyq2	key_01m7v1bg9hfjd8ek8des3bjxhc
\.


--
-- Data for Name: allocation_keysets; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.allocation_keysets (allocation_id, tenant_id, generation, body, observed_generation, admits_own, own_keys, own_keys_at) FROM stdin;
alloc_01m7v1bgcmf52875m1wkejg9ej	ten_01m7v1bg98fhztmhjvmraspyq2	1	[{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}]	0	f	{}	\N
alloc_01m7v1bgdae4sv6ytwabztdjm4	ten_01m7v1bg98fhztmhjvmraspyq2	1	[{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}]	1	f	{}	\N
alloc_01m7v1bgezfwmv1evedmtha9s4	ten_01m7v1bg98fhztmhjvmraspyq2	1	[{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}]	1	f	{}	\N
alloc_01m7v1bgg4ftka2x2dmgf4m6ge	ten_01m7v1bg98fhztmhjvmraspyq2	1	[{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}]	1	f	{}	\N
alloc_01m7v1bggsfsmr3xab4b06fkwf	ten_01m7v1bg98fhztmhjvmraspyq2	1	[{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}]	1	f	{}	\N
alloc_01m7v1bgm0ewataazps4cw1s78	ten_01m7v1bg98fhztmhjvmraspyq2	1	[{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}]	1	f	{}	\N
alloc_01m7v1bgmse4rs34qp8ttw3kq3	ten_01m7v1bg98fhztmhjvmraspyq2	1	[{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}]	0	f	{}	\N
alloc_01m7v1bgn5ff7rkaxtz7sn4g70	ten_01m7v1bg98fhztmhjvmraspyq2	1	[{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}]	0	f	{}	\N
\.


--
-- Data for Name: allocation_runtimes; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.allocation_runtimes (allocation_id, tenant_id, project_id, bundle_id, state, reason, operation_id, asked_at, wants_check, version, observed_bundle_id, previous_bundle_id, observed_boot, last_applied_at) FROM stdin;
\.


--
-- Data for Name: allocation_sessions; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.allocation_sessions (allocation_id, tenant_id, observed_at, body) FROM stdin;
\.


--
-- Data for Name: allocations; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.allocations (id, tenant_id, project_id, group_id, name, sku, shape, gpu_count, size, vcpus, memory_mib, simulated, node_id, region, price_id, price_minor_per_hour, currency, requested_by, holder_id, status, status_since, status_reason, version, operation_id, boot, observed_boot, username, ssh_host, port, host_key, isolation, created_at, active_at, released_at, last_progress_at, billing_stopped_at, cleanup_proven_at, network_id, network_policy_id, project_network_id, expires_at, expiry_warned_at, idle_minutes, idle_warned_at, extended_at) FROM stdin;
alloc_01m7v1bgcmf52875m1wkejg9ej	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	\N	is-failed	sim-h200-slice	gpu_slice	1	sim_1g	1	1024	t	node_01m7v1bga2f5ha95qt53vgys8r	local	price_01m7v1bg8mefst44vcz19e5k5q	450	USD	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	failed	2026-11-19 23:13:03.387457+00	the disk is full	3	op_01m7v1bgcne5csg0sr552141sy	1	0	gpu	\N	\N	\N	\N	2026-11-19 23:13:03.378457+00	\N	\N	2026-11-19 23:13:03.387457+00	2026-11-19 23:13:03.387457+00	\N	\N	\N	\N	\N	\N	\N	\N	\N
alloc_01m7v1bgdae4sv6ytwabztdjm4	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	\N	is-release-failed	sim-h200-slice	gpu_slice	1	sim_1g	1	1024	t	node_01m7v1bga2f5ha95qt53vgys8r	local	price_01m7v1bg8mefst44vcz19e5k5q	450	USD	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	release_failed	2026-11-19 23:13:03.447457+00	Still on the node: mounts.	5	op_01m7v1bgdxfevrm3a71w5fwaqn	1	1	gpu	127.0.0.1	20001	ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICsJElLMdsMzfQhQPEwDa1Pyi70blS9bKrwWXNTl6Z3q	{"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}	2026-11-19 23:13:03.400457+00	2026-11-19 23:13:03.415457+00	\N	2026-11-19 23:13:03.447457+00	2026-11-19 23:13:03.420457+00	\N	\N	\N	\N	\N	\N	\N	\N	\N
alloc_01m7v1bgezfwmv1evedmtha9s4	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	\N	is-released	sim-h200-slice	gpu_slice	1	sim_1g	1	1024	t	node_01m7v1bga2f5ha95qt53vgys8r	local	price_01m7v1bg8mefst44vcz19e5k5q	450	USD	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	released	2026-11-19 23:13:03.484457+00	nothing is left	5	op_01m7v1bgfje6bvqjd1yc3jm5m2	1	1	gpu	127.0.0.1	20002	ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1/lh4hAuLz2TUoD4YCPvrQLSVG//ZtSD6aUlkB0F5c	{"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}	2026-11-19 23:13:03.453457+00	2026-11-19 23:13:03.468457+00	2026-11-19 23:13:03.484457+00	2026-11-19 23:13:03.484457+00	2026-11-19 23:13:03.473457+00	2026-11-19 23:13:03.484457+00	\N	\N	\N	\N	\N	\N	\N	\N
alloc_01m7v1bgg4ftka2x2dmgf4m6ge	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	\N	is-active	sim-h200-slice	gpu_slice	1	sim_1g	1	1024	t	node_01m7v1bga2f5ha95qt53vgys8r	local	price_01m7v1bg8mefst44vcz19e5k5q	450	USD	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	active	2026-11-19 23:13:03.505457+00	the machine is ready	3	op_01m7v1bgg5fa7835ttpecrk9q3	1	1	gpu	127.0.0.1	20003	ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB4qFxLdVrjmzOXK3Y3K0+YKOmqT+UFwKD50gdX/vFNu	{"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}	2026-11-19 23:13:03.490457+00	2026-11-19 23:13:03.505457+00	\N	2026-11-19 23:13:03.505457+00	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
alloc_01m7v1bggsfsmr3xab4b06fkwf	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	\N	used	sim-h200-slice	gpu_slice	1	sim_1g	1	1024	t	node_01m7v1bga2f5ha95qt53vgys8r	local	price_01m7v1bg8mefst44vcz19e5k5q	450	USD	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	active	2026-11-19 23:13:03.597457+00	the machine is ready	5	op_01m7v1bgjkfd59cyac7frcczke	2	2	gpu	127.0.0.1	20004	ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEwH/PeZtuaikSNH9Zomrxawom1lci4AMEW/EHQoOeMP	{"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}	2026-11-19 23:13:03.511457+00	2026-11-19 23:13:03.526457+00	\N	2026-11-19 23:13:03.597457+00	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
alloc_01m7v1bgm0ewataazps4cw1s78	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	\N	is-releasing	sim-h200-slice	gpu_slice	1	sim_1g	1	1024	t	node_01m7v1bga2f5ha95qt53vgys8r	local	price_01m7v1bg8mefst44vcz19e5k5q	450	USD	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	releasing	2026-11-19 23:13:03.634457+00	released on request	4	op_01m7v1bgmkejdbs1hrh3syka0e	1	1	gpu	127.0.0.1	20005	ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIErFxywZYBObovM3zM08X+WCV6OzgA6HICAwLZZRDYKV	{"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}	2026-11-19 23:13:03.614457+00	2026-11-19 23:13:03.629457+00	\N	2026-11-19 23:13:03.634457+00	2026-11-19 23:13:03.634457+00	\N	\N	\N	\N	\N	\N	\N	\N	\N
alloc_01m7v1bgmse4rs34qp8ttw3kq3	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	\N	is-provisioning	sim-h200-slice	gpu_slice	1	sim_1g	1	1024	t	node_01m7v1bga2f5ha95qt53vgys8r	local	price_01m7v1bg8mefst44vcz19e5k5q	450	USD	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	provisioning	2026-11-19 23:13:03.646457+00		2	op_01m7v1bgmtevwb6m4202j2jfcd	1	0	gpu	\N	\N	\N	\N	2026-11-19 23:13:03.639457+00	\N	\N	2026-11-19 23:13:03.646457+00	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
alloc_01m7v1bgn5ff7rkaxtz7sn4g70	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	\N	is-requested	sim-h200-slice	gpu_slice	1	sim_1g	1	1024	t	node_01m7v1bga2f5ha95qt53vgys8r	local	price_01m7v1bg8mefst44vcz19e5k5q	450	USD	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	requested	2026-11-19 23:13:03.651457+00		1	op_01m7v1bgn6fcsbf11edc1n931w	1	0	gpu	\N	\N	\N	\N	2026-11-19 23:13:03.651457+00	\N	\N	2026-11-19 23:13:03.651457+00	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: audit; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.audit (id, at, tenant_id, project_id, actor, acted_as, action, target_kind, target_id, result, repeats, correlation_id, facts) FROM stdin;
1	2026-11-19 23:13:03.260457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	user.login	user	user_01m7v1bg8pfkts4n8rtge4rg26	done	1	req_01m7v1bg8ve0da4dd5d3nh893b	{}
2	2026-11-19 23:13:03.267457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	ssh_key.add	ssh_key	key_01m7v1bg94eqtvc7j8rpd7ejg5	done	1	req_01m7v1bg91f7db8akqh9s2md6c	{"fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}
3	2026-11-19 23:13:03.270457+00	\N	\N	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	user.sign_up	user	user_01m7v1bg97epnb6gt3wj382z4w	done	1	req_01m7v1bg95eve9pre4f6n2hbtc	{}
4	2026-11-19 23:13:03.280457+00	\N	\N	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	ssh_key.add	ssh_key	key_01m7v1bg9hfjd8ek8des3bjxhc	done	1	req_01m7v1bg9efkmapfq62g0h8rr0	{"fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}
5	2026-11-19 23:13:03.283457+00	\N	\N	user_01m7v1bg9mfbytbq0pfyj2waw1	user_01m7v1bg9mfbytbq0pfyj2waw1	user.sign_up	user	user_01m7v1bg9mfbytbq0pfyj2waw1	done	1	req_01m7v1bg9jf11t73b5xrs8wh9k	{}
6	2026-11-19 23:13:03.293457+00	\N	\N	user_01m7v1bg9mfbytbq0pfyj2waw1	user_01m7v1bg9mfbytbq0pfyj2waw1	ssh_key.add	ssh_key	key_01m7v1bg9ye0cr5av4n2pjx0v8	done	1	req_01m7v1bg9vewjbsvzrgqebjwqe	{"fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}
7	2026-11-19 23:13:03.297457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.enrolment_token	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bg9zehe9p205npm4pf8c	{}
8	2026-11-19 23:13:03.300457+00	\N	\N	node_01m7v1bga2f5ha95qt53vgys8r	node_01m7v1bga2f5ha95qt53vgys8r	node.active	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bga3fgmrg8bp51ym7ppz	{"reason": "enrolled"}
9	2026-11-19 23:13:03.311457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bgadfhps424898v4w0eh	{"index": 0, "reason": ""}
10	2026-11-19 23:13:03.314457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bgagfx6rd2x9d9z2stea	{"index": 1, "reason": ""}
11	2026-11-19 23:13:03.317457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bgakfhga0xbpw5pyjtrw	{"index": 2, "reason": ""}
12	2026-11-19 23:13:03.320457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bgapfx7apkyhdyfewfv4	{"index": 3, "reason": ""}
13	2026-11-19 23:13:03.323457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bgaseydrfgywa7449vjq	{"index": 4, "reason": ""}
14	2026-11-19 23:13:03.326457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bgaweak9nn5sz3rmtkr1	{"index": 5, "reason": ""}
15	2026-11-19 23:13:03.329457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bgazefg8xfm6v059ppcj	{"index": 6, "reason": ""}
16	2026-11-19 23:13:03.332457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bga2f5ha95qt53vgys8r	done	1	req_01m7v1bgb2et18378f9s18t6pq	{"index": 7, "reason": ""}
17	2026-11-19 23:13:03.337457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.enrolment_token	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgb7fztts3mft08121bc	{}
18	2026-11-19 23:13:03.340457+00	\N	\N	node_01m7v1bgbaevqtzx6jpn9wmsqb	node_01m7v1bgbaevqtzx6jpn9wmsqb	node.active	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgbbfzkv41hpa08z39sn	{"reason": "enrolled"}
19	2026-11-19 23:13:03.351457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgbnfbm8mat669hzdsf5	{"index": 0, "reason": ""}
20	2026-11-19 23:13:03.354457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgbre6690jjg3azmdj3k	{"index": 1, "reason": ""}
21	2026-11-19 23:13:03.357457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgbve5cbk84064q42bcn	{"index": 2, "reason": ""}
22	2026-11-19 23:13:03.360457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgbyeknah4w4hgjjgp1y	{"index": 3, "reason": ""}
23	2026-11-19 23:13:03.363457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgc1f6qtf6371xy861be	{"index": 4, "reason": ""}
24	2026-11-19 23:13:03.366457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgc4fk2aexkynsm19gnh	{"index": 5, "reason": ""}
25	2026-11-19 23:13:03.369457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgc7feptdk2cvmjykcf1	{"index": 6, "reason": ""}
26	2026-11-19 23:13:03.372457+00	\N	\N	user_01m7v1bg8pfkts4n8rtge4rg26	user_01m7v1bg8pfkts4n8rtge4rg26	node.slot.approve	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	done	1	req_01m7v1bgcaf5e8e4hfx7xs3sbs	{"index": 7, "reason": ""}
27	2026-11-19 23:13:03.378457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.create	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	done	1	req_01m7v1bgcgfd783ev37cchjbv7	{}
28	2026-11-19 23:13:03.382457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.provisioning	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	done	1		{"note": ""}
29	2026-11-19 23:13:03.387457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.failed	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	done	1		{"note": "the disk is full"}
30	2026-11-19 23:13:03.400457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.create	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	done	1	req_01m7v1bgd6eqrr6ey2pz9x10jf	{}
31	2026-11-19 23:13:03.405457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.provisioning	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	done	1		{"note": ""}
32	2026-11-19 23:13:03.415457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.active	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	done	1		{"note": "the machine is ready"}
34	2026-11-19 23:13:03.447457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.release_failed	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	done	1		{"note": "Still on the node: mounts."}
33	2026-11-19 23:13:03.420457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.releasing	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	done	1	req_01m7v1bgdtfz68327qd9kpv14f	{"note": "released on request"}
35	2026-11-19 23:13:03.453457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.create	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	done	1	req_01m7v1bgevfmbr3spfphx6rm56	{}
38	2026-11-19 23:13:03.473457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.releasing	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	done	1	req_01m7v1bgfff9e9weayv9rgbh2g	{"note": "released on request"}
40	2026-11-19 23:13:03.490457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.create	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	done	1	req_01m7v1bgg0fmy94sfwjgwv78h5	{}
43	2026-11-19 23:13:03.511457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.create	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	done	1	req_01m7v1bggneeqag6v0evhg6p8a	{}
46	2026-11-19 23:13:03.531457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	volume.create	volume	vol_01m7v1bghcf5h9hnf01mm85hqc	done	1	req_01m7v1bgh9edfb6vnpa8hgffjd	{"backend": "shared", "size_gib": 1}
47	2026-11-19 23:13:03.547457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	volume.attach	volume	vol_01m7v1bghcf5h9hnf01mm85hqc	done	1	req_01m7v1bghse3gs3pr0ymtq1fz5	{"volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc", "mount_path": "/data", "attachment_id": "att_01m7v1bghwfhrv0z6ejm44k2c4"}
48	2026-11-19 23:13:03.565457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	snapshot.create	volume	vol_01m7v1bghcf5h9hnf01mm85hqc	done	1	req_01m7v1bgjbe4s979jbvesda5wm	{"snapshot_id": "snap_01m7v1bgjeevvapr48t2zr8g8z"}
49	2026-11-19 23:13:03.570457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.restarting	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	done	1	req_01m7v1bgjge28adykhng5yd3jz	{"note": "driver"}
50	2026-11-19 23:13:03.574457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	access_grant.active	access_grant	grant_01m7v1bgjqf50sbk2m1n2ykmnd	done	1	req_01m7v1bgjmesrvf9hdq2kk5219	{"key": "key_01m7v1bg9ye0cr5av4n2pjx0v8", "note": "", "user": "user_01m7v1bg9mfbytbq0pfyj2waw1", "allocation": "alloc_01m7v1bggsfsmr3xab4b06fkwf", "expires_at": null, "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}
51	2026-11-19 23:13:03.578457+00	\N	\N	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	token.create	token	tok_01m7v1bgjvefms43517hjvvvs6	done	1	req_01m7v1bgjreq7th3kpnhfjsj72	{"scopes": ["read"], "expires_at": "2026-12-19T23:13:03.578457Z"}
53	2026-11-19 23:13:03.614457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.create	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	done	1	req_01m7v1bgkwe45rzm2psjxpdcw6	{}
56	2026-11-19 23:13:03.634457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.releasing	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	done	1	req_01m7v1bgmgenjax764kevcxf3z	{"note": "released on request"}
57	2026-11-19 23:13:03.639457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.create	allocation	alloc_01m7v1bgmse4rs34qp8ttw3kq3	done	1	req_01m7v1bgmnfhjtnp341fxcpn7f	{}
59	2026-11-19 23:13:03.651457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	user_01m7v1bg97epnb6gt3wj382z4w	user_01m7v1bg97epnb6gt3wj382z4w	allocation.create	allocation	alloc_01m7v1bgn5ff7rkaxtz7sn4g70	done	1	req_01m7v1bgn1f5zrjbca2xxb8kcn	{}
36	2026-11-19 23:13:03.458457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.provisioning	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	done	1		{"note": ""}
37	2026-11-19 23:13:03.468457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.active	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	done	1		{"note": "the machine is ready"}
39	2026-11-19 23:13:03.484457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.released	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	done	1		{"note": "nothing is left"}
41	2026-11-19 23:13:03.495457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.provisioning	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	done	1		{"note": ""}
42	2026-11-19 23:13:03.505457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.active	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	done	1		{"note": "the machine is ready"}
44	2026-11-19 23:13:03.516457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.provisioning	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	done	1		{"note": ""}
45	2026-11-19 23:13:03.526457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.active	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	done	1		{"note": "the machine is ready"}
52	2026-11-19 23:13:03.597457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.active	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	done	1		{"note": "the machine is ready"}
54	2026-11-19 23:13:03.619457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.provisioning	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	done	1		{"note": ""}
55	2026-11-19 23:13:03.629457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.active	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	done	1		{"note": "the machine is ready"}
58	2026-11-19 23:13:03.646457+00	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	system	system	allocation.provisioning	allocation	alloc_01m7v1bgmse4rs34qp8ttw3kq3	done	1		{"note": ""}
\.


--
-- Data for Name: claims; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.claims (id, allocation_id, tenant_id, node_id, slot_id, kind, claimed_at, released_at) FROM stdin;
1	alloc_01m7v1bgcmf52875m1wkejg9ej	ten_01m7v1bg98fhztmhjvmraspyq2	node_01m7v1bga2f5ha95qt53vgys8r	slot_01m7v1bga5ff5vk8p1svwpqwzz	slot	2026-11-19 23:13:03.378457+00	\N
2	alloc_01m7v1bgdae4sv6ytwabztdjm4	ten_01m7v1bg98fhztmhjvmraspyq2	node_01m7v1bga2f5ha95qt53vgys8r	slot_01m7v1bga6efm8na3ky5e6z01t	slot	2026-11-19 23:13:03.400457+00	\N
3	alloc_01m7v1bgezfwmv1evedmtha9s4	ten_01m7v1bg98fhztmhjvmraspyq2	node_01m7v1bga2f5ha95qt53vgys8r	slot_01m7v1bga7eb4rw1zyp7r5xqaw	slot	2026-11-19 23:13:03.453457+00	2026-11-19 23:13:03.484457+00
4	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	ten_01m7v1bg98fhztmhjvmraspyq2	node_01m7v1bga2f5ha95qt53vgys8r	slot_01m7v1bga7eb4rw1zyp7r5xqaw	slot	2026-11-19 23:13:03.490457+00	\N
5	alloc_01m7v1bggsfsmr3xab4b06fkwf	ten_01m7v1bg98fhztmhjvmraspyq2	node_01m7v1bga2f5ha95qt53vgys8r	slot_01m7v1bga8ftgtmx8y3ac5dzj9	slot	2026-11-19 23:13:03.511457+00	\N
6	alloc_01m7v1bgm0ewataazps4cw1s78	ten_01m7v1bg98fhztmhjvmraspyq2	node_01m7v1bga2f5ha95qt53vgys8r	slot_01m7v1bga9f1qvqd95jbpmcvt2	slot	2026-11-19 23:13:03.614457+00	\N
7	alloc_01m7v1bgmse4rs34qp8ttw3kq3	ten_01m7v1bg98fhztmhjvmraspyq2	node_01m7v1bga2f5ha95qt53vgys8r	slot_01m7v1bgaafyz8g3z4ypxmyqpy	slot	2026-11-19 23:13:03.639457+00	\N
8	alloc_01m7v1bgn5ff7rkaxtz7sn4g70	ten_01m7v1bg98fhztmhjvmraspyq2	node_01m7v1bga2f5ha95qt53vgys8r	slot_01m7v1bgabf71byxzc3nspj9mt	slot	2026-11-19 23:13:03.651457+00	\N
\.


--
-- Data for Name: cleanup_proofs; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.cleanup_proofs (allocation_id, tenant_id, item, ok, evidence, at) FROM stdin;
alloc_01m7v1bgcmf52875m1wkejg9ej	ten_01m7v1bg98fhztmhjvmraspyq2	processes	t	looked for in memory	2026-11-19 23:13:03.395457+00
alloc_01m7v1bgcmf52875m1wkejg9ej	ten_01m7v1bg98fhztmhjvmraspyq2	mounts	f	planted	2026-11-19 23:13:03.395457+00
alloc_01m7v1bgcmf52875m1wkejg9ej	ten_01m7v1bg98fhztmhjvmraspyq2	files	t	looked for in memory	2026-11-19 23:13:03.395457+00
alloc_01m7v1bgcmf52875m1wkejg9ej	ten_01m7v1bg98fhztmhjvmraspyq2	port	t	looked for in memory	2026-11-19 23:13:03.395457+00
alloc_01m7v1bgcmf52875m1wkejg9ej	ten_01m7v1bg98fhztmhjvmraspyq2	network	t	looked for in memory	2026-11-19 23:13:03.395457+00
alloc_01m7v1bgdae4sv6ytwabztdjm4	ten_01m7v1bg98fhztmhjvmraspyq2	processes	t	looked for in memory	2026-11-19 23:13:03.447457+00
alloc_01m7v1bgdae4sv6ytwabztdjm4	ten_01m7v1bg98fhztmhjvmraspyq2	mounts	f	planted	2026-11-19 23:13:03.447457+00
alloc_01m7v1bgdae4sv6ytwabztdjm4	ten_01m7v1bg98fhztmhjvmraspyq2	files	t	looked for in memory	2026-11-19 23:13:03.447457+00
alloc_01m7v1bgdae4sv6ytwabztdjm4	ten_01m7v1bg98fhztmhjvmraspyq2	port	t	looked for in memory	2026-11-19 23:13:03.447457+00
alloc_01m7v1bgdae4sv6ytwabztdjm4	ten_01m7v1bg98fhztmhjvmraspyq2	network	t	looked for in memory	2026-11-19 23:13:03.447457+00
alloc_01m7v1bgezfwmv1evedmtha9s4	ten_01m7v1bg98fhztmhjvmraspyq2	processes	t	looked for in memory	2026-11-19 23:13:03.484457+00
alloc_01m7v1bgezfwmv1evedmtha9s4	ten_01m7v1bg98fhztmhjvmraspyq2	mounts	t	looked for in memory	2026-11-19 23:13:03.484457+00
alloc_01m7v1bgezfwmv1evedmtha9s4	ten_01m7v1bg98fhztmhjvmraspyq2	files	t	looked for in memory	2026-11-19 23:13:03.484457+00
alloc_01m7v1bgezfwmv1evedmtha9s4	ten_01m7v1bg98fhztmhjvmraspyq2	port	t	looked for in memory	2026-11-19 23:13:03.484457+00
alloc_01m7v1bgezfwmv1evedmtha9s4	ten_01m7v1bg98fhztmhjvmraspyq2	network	t	looked for in memory	2026-11-19 23:13:03.484457+00
\.


--
-- Data for Name: enrolment_tokens; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.enrolment_tokens (token_hash, node_id, created_by, expires_at, used_at) FROM stdin;
\\x792602bcce0cd37f07910da47ff01df1096f354c1a60b998fe1a8f2b62e95411	node_01m7v1bga2f5ha95qt53vgys8r	user_01m7v1bg8pfkts4n8rtge4rg26	2026-11-19 23:18:03.297457+00	2026-11-19 23:14:04.682638+00
\\x319b3512203614184f49e7f85c11f7c0ae5c7b3606b8606ea1e609dfa2d38769	node_01m7v1bgbaevqtzx6jpn9wmsqb	user_01m7v1bg8pfkts4n8rtge4rg26	2026-11-19 23:18:03.337457+00	2026-11-19 23:14:04.875808+00
\.


--
-- Data for Name: health_findings; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.health_findings (allocation_id, tenant_id, source, code, words, next_step, since) FROM stdin;
\.


--
-- Data for Name: holds; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.holds (allocation_id, kind, ref) FROM stdin;
alloc_01m7v1bggsfsmr3xab4b06fkwf	volume	att_01m7v1bghwfhrv0z6ejm44k2c4
\.


--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.idempotency (caller, route, key, request_hash, status, body, sealed, expires_at) FROM stdin;
user_01m7v1bg97epnb6gt3wj382z4w	POST /api/v1/allocations	idem_01m7v1bgcfe1rbqat8r5bfndv4	\\x18c71bcaa13cf2a387086a8114b09e236c90a1e9b6fb95e73cc2914031019320	202	\\x7b22616c6c6f636174696f6e73223a5b7b226964223a22616c6c6f635f30316d3776316267636d6635323837356d31776b656a6739656a222c227265736f757263655f6e616d65223a226770756161733a6c6f63616c3a74656e5f30316d3776316267393866687a746d686a766d726173707971323a70726f6a5f30316d37763162673939667939737974623768743836656e74793a616c6c6f636174696f6e3a616c6c6f635f30316d3776316267636d6635323837356d31776b656a6739656a222c2270726f6a6563745f6964223a2270726f6a5f30316d37763162673939667939737974623768743836656e7479222c2267726f75705f6964223a6e756c6c2c226e616d65223a2269732d6661696c6564222c22737461747573223a22726571756573746564222c227374617475735f73696e6365223a22323032362d31312d31395432333a31333a30332e3337383435375a222c227374617475735f726561736f6e223a22222c226865616c7468223a22756e6b6e6f776e222c22736b75223a2273696d2d683230302d736c696365222c226770755f636f756e74223a312c2273697a65223a2273696d5f3167222c227368617065223a226770755f736c696365222c226e6f6465223a7b226964223a226e6f64655f30316d3776316267613266356861393571743533766779733872222c22726567696f6e223a226c6f63616c227d2c22736c6f7473223a5b5d2c22636f6e6e656374696f6e223a6e756c6c2c22626f6f74223a312c2270726963655f7065725f686f7572223a7b22616d6f756e745f6d696e6f72223a3435302c2263757272656e6379223a22555344227d2c22637265617465645f6174223a22323032362d31312d31395432333a31333a30332e3337383435375a222c226163746976655f6174223a6e756c6c2c2272656c65617365645f6174223a6e756c6c2c226c6173745f70726f67726573735f6174223a22323032362d31312d31395432333a31333a30332e3337383435375a222c227265717565737465645f6279223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c22686f6c646572223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c2262696c6c696e67223a7b227374617465223a226e6f745f73746172746564222c22737461727465645f6174223a6e756c6c2c2273746f707065645f6174223a6e756c6c7d2c22636c65616e75705f70726f76656e223a66616c73652c2273696d756c61746564223a747275652c226f7065726174696f6e5f6964223a226f705f30316d3776316267636e65356373673073723535323134317379222c2269736f6c6174696f6e223a6e756c6c2c226174746163686d656e7473223a5b5d2c226865616c74685f726561736f6e73223a5b5d2c22726573697a65223a6e756c6c2c226c696d697473223a7b22657870697265735f6174223a6e756c6c2c226578706972795f7761726e65645f6174223a6e756c6c2c2269646c655f6d696e75746573223a6e756c6c2c2269646c655f7761726e65645f6174223a6e756c6c7d2c2272756e74696d65223a6e756c6c2c227265747279223a6e756c6c7d5d2c2267726f75705f6964223a6e756c6c2c226f7065726174696f6e5f6964223a226f705f30316d3776316267636e65356373673073723535323134317379227d	f	2026-11-20 23:14:05.097257+00
user_01m7v1bg97epnb6gt3wj382z4w	POST /api/v1/allocations	idem_01m7v1bgd5eaastrqdkn19d07q	\\xbcbe5b4a25a8c6c73686b7cebe12791332e72977acea9c15def9f191ddd9c834	202	\\x7b22616c6c6f636174696f6e73223a5b7b226964223a22616c6c6f635f30316d37763162676461653473763679747761627a74646a6d34222c227265736f757263655f6e616d65223a226770756161733a6c6f63616c3a74656e5f30316d3776316267393866687a746d686a766d726173707971323a70726f6a5f30316d37763162673939667939737974623768743836656e74793a616c6c6f636174696f6e3a616c6c6f635f30316d37763162676461653473763679747761627a74646a6d34222c2270726f6a6563745f6964223a2270726f6a5f30316d37763162673939667939737974623768743836656e7479222c2267726f75705f6964223a6e756c6c2c226e616d65223a2269732d72656c656173652d6661696c6564222c22737461747573223a22726571756573746564222c227374617475735f73696e6365223a22323032362d31312d31395432333a31333a30332e3430303435375a222c227374617475735f726561736f6e223a22222c226865616c7468223a22756e6b6e6f776e222c22736b75223a2273696d2d683230302d736c696365222c226770755f636f756e74223a312c2273697a65223a2273696d5f3167222c227368617065223a226770755f736c696365222c226e6f6465223a7b226964223a226e6f64655f30316d3776316267613266356861393571743533766779733872222c22726567696f6e223a226c6f63616c227d2c22736c6f7473223a5b5d2c22636f6e6e656374696f6e223a6e756c6c2c22626f6f74223a312c2270726963655f7065725f686f7572223a7b22616d6f756e745f6d696e6f72223a3435302c2263757272656e6379223a22555344227d2c22637265617465645f6174223a22323032362d31312d31395432333a31333a30332e3430303435375a222c226163746976655f6174223a6e756c6c2c2272656c65617365645f6174223a6e756c6c2c226c6173745f70726f67726573735f6174223a22323032362d31312d31395432333a31333a30332e3430303435375a222c227265717565737465645f6279223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c22686f6c646572223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c2262696c6c696e67223a7b227374617465223a226e6f745f73746172746564222c22737461727465645f6174223a6e756c6c2c2273746f707065645f6174223a6e756c6c7d2c22636c65616e75705f70726f76656e223a66616c73652c2273696d756c61746564223a747275652c226f7065726174696f6e5f6964223a226f705f30316d37763162676462666a676239377377656531336479376b222c2269736f6c6174696f6e223a6e756c6c2c226174746163686d656e7473223a5b5d2c226865616c74685f726561736f6e73223a5b5d2c22726573697a65223a6e756c6c2c226c696d697473223a7b22657870697265735f6174223a6e756c6c2c226578706972795f7761726e65645f6174223a6e756c6c2c2269646c655f6d696e75746573223a6e756c6c2c2269646c655f7761726e65645f6174223a6e756c6c7d2c2272756e74696d65223a6e756c6c2c227265747279223a6e756c6c7d5d2c2267726f75705f6964223a6e756c6c2c226f7065726174696f6e5f6964223a226f705f30316d37763162676462666a676239377377656531336479376b227d	f	2026-11-20 23:14:05.248967+00
user_01m7v1bg97epnb6gt3wj382z4w	POST /api/v1/allocations	idem_01m7v1bgeteqxtmagsn6a1hgy6	\\x429472ced6e1b23544d406f3f06d6212d11ff6c83e327199dc03d63305348d6f	202	\\x7b22616c6c6f636174696f6e73223a5b7b226964223a22616c6c6f635f30316d3776316267657a66776d7631657665646d746861397334222c227265736f757263655f6e616d65223a226770756161733a6c6f63616c3a74656e5f30316d3776316267393866687a746d686a766d726173707971323a70726f6a5f30316d37763162673939667939737974623768743836656e74793a616c6c6f636174696f6e3a616c6c6f635f30316d3776316267657a66776d7631657665646d746861397334222c2270726f6a6563745f6964223a2270726f6a5f30316d37763162673939667939737974623768743836656e7479222c2267726f75705f6964223a6e756c6c2c226e616d65223a2269732d72656c6561736564222c22737461747573223a22726571756573746564222c227374617475735f73696e6365223a22323032362d31312d31395432333a31333a30332e3435333435375a222c227374617475735f726561736f6e223a22222c226865616c7468223a22756e6b6e6f776e222c22736b75223a2273696d2d683230302d736c696365222c226770755f636f756e74223a312c2273697a65223a2273696d5f3167222c227368617065223a226770755f736c696365222c226e6f6465223a7b226964223a226e6f64655f30316d3776316267613266356861393571743533766779733872222c22726567696f6e223a226c6f63616c227d2c22736c6f7473223a5b5d2c22636f6e6e656374696f6e223a6e756c6c2c22626f6f74223a312c2270726963655f7065725f686f7572223a7b22616d6f756e745f6d696e6f72223a3435302c2263757272656e6379223a22555344227d2c22637265617465645f6174223a22323032362d31312d31395432333a31333a30332e3435333435375a222c226163746976655f6174223a6e756c6c2c2272656c65617365645f6174223a6e756c6c2c226c6173745f70726f67726573735f6174223a22323032362d31312d31395432333a31333a30332e3435333435375a222c227265717565737465645f6279223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c22686f6c646572223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c2262696c6c696e67223a7b227374617465223a226e6f745f73746172746564222c22737461727465645f6174223a6e756c6c2c2273746f707065645f6174223a6e756c6c7d2c22636c65616e75705f70726f76656e223a66616c73652c2273696d756c61746564223a747275652c226f7065726174696f6e5f6964223a226f705f30316d3776316267663066617a7265617831376562396874316a222c2269736f6c6174696f6e223a6e756c6c2c226174746163686d656e7473223a5b5d2c226865616c74685f726561736f6e73223a5b5d2c22726573697a65223a6e756c6c2c226c696d697473223a7b22657870697265735f6174223a6e756c6c2c226578706972795f7761726e65645f6174223a6e756c6c2c2269646c655f6d696e75746573223a6e756c6c2c2269646c655f7761726e65645f6174223a6e756c6c7d2c2272756e74696d65223a6e756c6c2c227265747279223a6e756c6c7d5d2c2267726f75705f6964223a6e756c6c2c226f7065726174696f6e5f6964223a226f705f30316d3776316267663066617a7265617831376562396874316a227d	f	2026-11-20 23:14:05.485029+00
user_01m7v1bg97epnb6gt3wj382z4w	POST /api/v1/allocations	idem_01m7v1bgfzfy2vtg09aqdj6jpj	\\xaf28e632a5f0dbdf472974709cc2bad783ef36b54d598b891dc63092a4bf3f8c	202	\\x7b22616c6c6f636174696f6e73223a5b7b226964223a22616c6c6f635f30316d3776316267673466746b61327832646d6766346d366765222c227265736f757263655f6e616d65223a226770756161733a6c6f63616c3a74656e5f30316d3776316267393866687a746d686a766d726173707971323a70726f6a5f30316d37763162673939667939737974623768743836656e74793a616c6c6f636174696f6e3a616c6c6f635f30316d3776316267673466746b61327832646d6766346d366765222c2270726f6a6563745f6964223a2270726f6a5f30316d37763162673939667939737974623768743836656e7479222c2267726f75705f6964223a6e756c6c2c226e616d65223a2269732d616374697665222c22737461747573223a22726571756573746564222c227374617475735f73696e6365223a22323032362d31312d31395432333a31333a30332e3439303435375a222c227374617475735f726561736f6e223a22222c226865616c7468223a22756e6b6e6f776e222c22736b75223a2273696d2d683230302d736c696365222c226770755f636f756e74223a312c2273697a65223a2273696d5f3167222c227368617065223a226770755f736c696365222c226e6f6465223a7b226964223a226e6f64655f30316d3776316267613266356861393571743533766779733872222c22726567696f6e223a226c6f63616c227d2c22736c6f7473223a5b5d2c22636f6e6e656374696f6e223a6e756c6c2c22626f6f74223a312c2270726963655f7065725f686f7572223a7b22616d6f756e745f6d696e6f72223a3435302c2263757272656e6379223a22555344227d2c22637265617465645f6174223a22323032362d31312d31395432333a31333a30332e3439303435375a222c226163746976655f6174223a6e756c6c2c2272656c65617365645f6174223a6e756c6c2c226c6173745f70726f67726573735f6174223a22323032362d31312d31395432333a31333a30332e3439303435375a222c227265717565737465645f6279223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c22686f6c646572223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c2262696c6c696e67223a7b227374617465223a226e6f745f73746172746564222c22737461727465645f6174223a6e756c6c2c2273746f707065645f6174223a6e756c6c7d2c22636c65616e75705f70726f76656e223a66616c73652c2273696d756c61746564223a747275652c226f7065726174696f6e5f6964223a226f705f30316d377631626767356661373833357474706563726b397133222c2269736f6c6174696f6e223a6e756c6c2c226174746163686d656e7473223a5b5d2c226865616c74685f726561736f6e73223a5b5d2c22726573697a65223a6e756c6c2c226c696d697473223a7b22657870697265735f6174223a6e756c6c2c226578706972795f7761726e65645f6174223a6e756c6c2c2269646c655f6d696e75746573223a6e756c6c2c2269646c655f7761726e65645f6174223a6e756c6c7d2c2272756e74696d65223a6e756c6c2c227265747279223a6e756c6c7d5d2c2267726f75705f6964223a6e756c6c2c226f7065726174696f6e5f6964223a226f705f30316d377631626767356661373833357474706563726b397133227d	f	2026-11-20 23:14:05.733581+00
user_01m7v1bg97epnb6gt3wj382z4w	POST /api/v1/allocations	idem_01m7v1bggmeck8f5epdek237m9	\\xf6053b9cb8042d3e08807eaaa18c31867e17b35d7cd248e56ba796bdbe1868be	202	\\x7b22616c6c6f636174696f6e73223a5b7b226964223a22616c6c6f635f30316d3776316267677366736d723378616234623036666b7766222c227265736f757263655f6e616d65223a226770756161733a6c6f63616c3a74656e5f30316d3776316267393866687a746d686a766d726173707971323a70726f6a5f30316d37763162673939667939737974623768743836656e74793a616c6c6f636174696f6e3a616c6c6f635f30316d3776316267677366736d723378616234623036666b7766222c2270726f6a6563745f6964223a2270726f6a5f30316d37763162673939667939737974623768743836656e7479222c2267726f75705f6964223a6e756c6c2c226e616d65223a2275736564222c22737461747573223a22726571756573746564222c227374617475735f73696e6365223a22323032362d31312d31395432333a31333a30332e3531313435375a222c227374617475735f726561736f6e223a22222c226865616c7468223a22756e6b6e6f776e222c22736b75223a2273696d2d683230302d736c696365222c226770755f636f756e74223a312c2273697a65223a2273696d5f3167222c227368617065223a226770755f736c696365222c226e6f6465223a7b226964223a226e6f64655f30316d3776316267613266356861393571743533766779733872222c22726567696f6e223a226c6f63616c227d2c22736c6f7473223a5b5d2c22636f6e6e656374696f6e223a6e756c6c2c22626f6f74223a312c2270726963655f7065725f686f7572223a7b22616d6f756e745f6d696e6f72223a3435302c2263757272656e6379223a22555344227d2c22637265617465645f6174223a22323032362d31312d31395432333a31333a30332e3531313435375a222c226163746976655f6174223a6e756c6c2c2272656c65617365645f6174223a6e756c6c2c226c6173745f70726f67726573735f6174223a22323032362d31312d31395432333a31333a30332e3531313435375a222c227265717565737465645f6279223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c22686f6c646572223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c2262696c6c696e67223a7b227374617465223a226e6f745f73746172746564222c22737461727465645f6174223a6e756c6c2c2273746f707065645f6174223a6e756c6c7d2c22636c65616e75705f70726f76656e223a66616c73652c2273696d756c61746564223a747275652c226f7065726174696f6e5f6964223a226f705f30316d377631626767746572637339326a327366797438643466222c2269736f6c6174696f6e223a6e756c6c2c226174746163686d656e7473223a5b5d2c226865616c74685f726561736f6e73223a5b5d2c22726573697a65223a6e756c6c2c226c696d697473223a7b22657870697265735f6174223a6e756c6c2c226578706972795f7761726e65645f6174223a6e756c6c2c2269646c655f6d696e75746573223a6e756c6c2c2269646c655f7761726e65645f6174223a6e756c6c7d2c2272756e74696d65223a6e756c6c2c227265747279223a6e756c6c7d5d2c2267726f75705f6964223a6e756c6c2c226f7065726174696f6e5f6964223a226f705f30316d377631626767746572637339326a327366797438643466227d	f	2026-11-20 23:14:05.841248+00
user_01m7v1bg97epnb6gt3wj382z4w	POST /api/v1/allocations	idem_01m7v1bgkvf6stx54r0dkfx27p	\\x91c59000c663a15213534cf9b550aaba008a22ee7e25e28bed154d93014d7bc3	202	\\x7b22616c6c6f636174696f6e73223a5b7b226964223a22616c6c6f635f30316d37763162676d306577617461617a707334637731733738222c227265736f757263655f6e616d65223a226770756161733a6c6f63616c3a74656e5f30316d3776316267393866687a746d686a766d726173707971323a70726f6a5f30316d37763162673939667939737974623768743836656e74793a616c6c6f636174696f6e3a616c6c6f635f30316d37763162676d306577617461617a707334637731733738222c2270726f6a6563745f6964223a2270726f6a5f30316d37763162673939667939737974623768743836656e7479222c2267726f75705f6964223a6e756c6c2c226e616d65223a2269732d72656c656173696e67222c22737461747573223a22726571756573746564222c227374617475735f73696e6365223a22323032362d31312d31395432333a31333a30332e3631343435375a222c227374617475735f726561736f6e223a22222c226865616c7468223a22756e6b6e6f776e222c22736b75223a2273696d2d683230302d736c696365222c226770755f636f756e74223a312c2273697a65223a2273696d5f3167222c227368617065223a226770755f736c696365222c226e6f6465223a7b226964223a226e6f64655f30316d3776316267613266356861393571743533766779733872222c22726567696f6e223a226c6f63616c227d2c22736c6f7473223a5b5d2c22636f6e6e656374696f6e223a6e756c6c2c22626f6f74223a312c2270726963655f7065725f686f7572223a7b22616d6f756e745f6d696e6f72223a3435302c2263757272656e6379223a22555344227d2c22637265617465645f6174223a22323032362d31312d31395432333a31333a30332e3631343435375a222c226163746976655f6174223a6e756c6c2c2272656c65617365645f6174223a6e756c6c2c226c6173745f70726f67726573735f6174223a22323032362d31312d31395432333a31333a30332e3631343435375a222c227265717565737465645f6279223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c22686f6c646572223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c2262696c6c696e67223a7b227374617465223a226e6f745f73746172746564222c22737461727465645f6174223a6e756c6c2c2273746f707065645f6174223a6e756c6c7d2c22636c65616e75705f70726f76656e223a66616c73652c2273696d756c61746564223a747275652c226f7065726174696f6e5f6964223a226f705f30316d37763162676d31657268767473656b35323563706e3136222c2269736f6c6174696f6e223a6e756c6c2c226174746163686d656e7473223a5b5d2c226865616c74685f726561736f6e73223a5b5d2c22726573697a65223a6e756c6c2c226c696d697473223a7b22657870697265735f6174223a6e756c6c2c226578706972795f7761726e65645f6174223a6e756c6c2c2269646c655f6d696e75746573223a6e756c6c2c2269646c655f7761726e65645f6174223a6e756c6c7d2c2272756e74696d65223a6e756c6c2c227265747279223a6e756c6c7d5d2c2267726f75705f6964223a6e756c6c2c226f7065726174696f6e5f6964223a226f705f30316d37763162676d31657268767473656b35323563706e3136227d	f	2026-11-20 23:14:06.433007+00
user_01m7v1bg97epnb6gt3wj382z4w	POST /api/v1/allocations	idem_01m7v1bgmmfj8tapvkcbr746cr	\\xe46c37f0f1b40162d0bd8b6b8b8093f18a1611e76a700c5bb737b5c7a112b193	202	\\x7b22616c6c6f636174696f6e73223a5b7b226964223a22616c6c6f635f30316d37763162676d73653472733334717038747477336b7133222c227265736f757263655f6e616d65223a226770756161733a6c6f63616c3a74656e5f30316d3776316267393866687a746d686a766d726173707971323a70726f6a5f30316d37763162673939667939737974623768743836656e74793a616c6c6f636174696f6e3a616c6c6f635f30316d37763162676d73653472733334717038747477336b7133222c2270726f6a6563745f6964223a2270726f6a5f30316d37763162673939667939737974623768743836656e7479222c2267726f75705f6964223a6e756c6c2c226e616d65223a2269732d70726f766973696f6e696e67222c22737461747573223a22726571756573746564222c227374617475735f73696e6365223a22323032362d31312d31395432333a31333a30332e3633393435375a222c227374617475735f726561736f6e223a22222c226865616c7468223a22756e6b6e6f776e222c22736b75223a2273696d2d683230302d736c696365222c226770755f636f756e74223a312c2273697a65223a2273696d5f3167222c227368617065223a226770755f736c696365222c226e6f6465223a7b226964223a226e6f64655f30316d3776316267613266356861393571743533766779733872222c22726567696f6e223a226c6f63616c227d2c22736c6f7473223a5b5d2c22636f6e6e656374696f6e223a6e756c6c2c22626f6f74223a312c2270726963655f7065725f686f7572223a7b22616d6f756e745f6d696e6f72223a3435302c2263757272656e6379223a22555344227d2c22637265617465645f6174223a22323032362d31312d31395432333a31333a30332e3633393435375a222c226163746976655f6174223a6e756c6c2c2272656c65617365645f6174223a6e756c6c2c226c6173745f70726f67726573735f6174223a22323032362d31312d31395432333a31333a30332e3633393435375a222c227265717565737465645f6279223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c22686f6c646572223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c2262696c6c696e67223a7b227374617465223a226e6f745f73746172746564222c22737461727465645f6174223a6e756c6c2c2273746f707065645f6174223a6e756c6c7d2c22636c65616e75705f70726f76656e223a66616c73652c2273696d756c61746564223a747275652c226f7065726174696f6e5f6964223a226f705f30316d37763162676d7465767762366d343230326a326a666364222c2269736f6c6174696f6e223a6e756c6c2c226174746163686d656e7473223a5b5d2c226865616c74685f726561736f6e73223a5b5d2c22726573697a65223a6e756c6c2c226c696d697473223a7b22657870697265735f6174223a6e756c6c2c226578706972795f7761726e65645f6174223a6e756c6c2c2269646c655f6d696e75746573223a6e756c6c2c2269646c655f7761726e65645f6174223a6e756c6c7d2c2272756e74696d65223a6e756c6c2c227265747279223a6e756c6c7d5d2c2267726f75705f6964223a6e756c6c2c226f7065726174696f6e5f6964223a226f705f30316d37763162676d7465767762366d343230326a326a666364227d	f	2026-11-20 23:14:06.525235+00
user_01m7v1bg97epnb6gt3wj382z4w	POST /api/v1/allocations	idem_01m7v1bgn0fspa8j3wa671n6p2	\\x28c89ec13de2fce38f8c42954fb01e7b9a14f5e33814877504b27314a848722e	202	\\x7b22616c6c6f636174696f6e73223a5b7b226964223a22616c6c6f635f30316d37763162676e35666637726b6178747a37736e34673730222c227265736f757263655f6e616d65223a226770756161733a6c6f63616c3a74656e5f30316d3776316267393866687a746d686a766d726173707971323a70726f6a5f30316d37763162673939667939737974623768743836656e74793a616c6c6f636174696f6e3a616c6c6f635f30316d37763162676e35666637726b6178747a37736e34673730222c2270726f6a6563745f6964223a2270726f6a5f30316d37763162673939667939737974623768743836656e7479222c2267726f75705f6964223a6e756c6c2c226e616d65223a2269732d726571756573746564222c22737461747573223a22726571756573746564222c227374617475735f73696e6365223a22323032362d31312d31395432333a31333a30332e3635313435375a222c227374617475735f726561736f6e223a22222c226865616c7468223a22756e6b6e6f776e222c22736b75223a2273696d2d683230302d736c696365222c226770755f636f756e74223a312c2273697a65223a2273696d5f3167222c227368617065223a226770755f736c696365222c226e6f6465223a7b226964223a226e6f64655f30316d3776316267613266356861393571743533766779733872222c22726567696f6e223a226c6f63616c227d2c22736c6f7473223a5b5d2c22636f6e6e656374696f6e223a6e756c6c2c22626f6f74223a312c2270726963655f7065725f686f7572223a7b22616d6f756e745f6d696e6f72223a3435302c2263757272656e6379223a22555344227d2c22637265617465645f6174223a22323032362d31312d31395432333a31333a30332e3635313435375a222c226163746976655f6174223a6e756c6c2c2272656c65617365645f6174223a6e756c6c2c226c6173745f70726f67726573735f6174223a22323032362d31312d31395432333a31333a30332e3635313435375a222c227265717565737465645f6279223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c22686f6c646572223a22757365725f30316d3776316267393765706e6236677433776a3338327a3477222c2262696c6c696e67223a7b227374617465223a226e6f745f73746172746564222c22737461727465645f6174223a6e756c6c2c2273746f707065645f6174223a6e756c6c7d2c22636c65616e75705f70726f76656e223a66616c73652c2273696d756c61746564223a747275652c226f7065726174696f6e5f6964223a226f705f30316d37763162676e3666637362663131656463316e39333177222c2269736f6c6174696f6e223a6e756c6c2c226174746163686d656e7473223a5b5d2c226865616c74685f726561736f6e73223a5b5d2c22726573697a65223a6e756c6c2c226c696d697473223a7b22657870697265735f6174223a6e756c6c2c226578706972795f7761726e65645f6174223a6e756c6c2c2269646c655f6d696e75746573223a6e756c6c2c2269646c655f7761726e65645f6174223a6e756c6c7d2c2272756e74696d65223a6e756c6c2c227265747279223a6e756c6c7d5d2c2267726f75705f6964223a6e756c6c2c226f7065726174696f6e5f6964223a226f705f30316d37763162676e3666637362663131656463316e39333177227d	f	2026-11-20 23:14:06.577546+00
\.


--
-- Data for Name: identities; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.identities (issuer, subject, user_id, secret_hash) FROM stdin;
password	operator@example.com	user_01m7v1bg8pfkts4n8rtge4rg26	$argon2id$v=19$m=8,t=1,p=1$xIa1asPwy1wiraWUZEYDUQ$+AXLRS44RuVcV0ix4ij8IpbfaWgt/8kBnGrSr6RbPwg
password	ada@example.com	user_01m7v1bg97epnb6gt3wj382z4w	$argon2id$v=19$m=8,t=1,p=1$CoClnLKhACf5+k8aXygeXQ$QzJouFQhCQl6i7WxwNkM7Pg3AIuSvqKu9j12v3RyYxM
password	bob@example.com	user_01m7v1bg9mfbytbq0pfyj2waw1	$argon2id$v=19$m=8,t=1,p=1$evnhEtZ+9f4kcza2/fi65A$geX9mKhvXu2PgVE3QSiyZlAzbXnbEsbynDRSjzp9RfE
\.


--
-- Data for Name: invitations; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.invitations (id, tenant_id, project_id, email, role, invited_by, created_at, expires_at, accepted_at, withdrawn_at, project_slug, tenant_slug, invited_by_email) FROM stdin;
\.


--
-- Data for Name: links; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.links (node_id, replica_id, epoch, since) FROM stdin;
\.


--
-- Data for Name: managed_runtime_bundles; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.managed_runtime_bundles (id, slug, version, product_name, vendor, runtime_family, gpu_families, driver_min, driver_max, support_level, state, state_since, digest, recipe, published_at, published_by) FROM stdin;
\.


--
-- Data for Name: newest_samples; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.newest_samples (allocation_id, tenant_id, node_id, boot, at, received_at, readings, cpu, cpu_active_at, gpu_active_at, ssh_active_at) FROM stdin;
\.


--
-- Data for Name: node_bundles; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.node_bundles (id, node_id, bundle_id, status, status_since, reason, operation_id, manifest, health, files, bytes, drift, staged_at, checked_at, proofs) FROM stdin;
\.


--
-- Data for Name: node_tasks; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.node_tasks (id, node_id, allocation_id, operation_id, seq, boot, kind, wants, status, attempt, created_at, sent_at, ended_at, reason, detail, result, lane) FROM stdin;
task_01m7v1bgcxfbermmx23se0g046	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	2	1	environment.remove	{"reason": "the disk is full"}	done	1	2026-11-19 23:13:03.388457+00	2026-11-19 23:14:05.205053+00	2026-11-19 23:13:03.394457+00	not cleaned: mounts		{"at": "2026-11-19T23:13:03.394457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.391457Z", "note": "", "type": "progress", "phase": "sessions_ended", "task_id": "task_01m7v1bgcxfbermmx23se0g046"}, {"at": "2026-11-19T23:13:03.392457Z", "note": "", "type": "progress", "phase": "environment_removed", "task_id": "task_01m7v1bgcxfbermmx23se0g046"}, {"at": "2026-11-19T23:13:03.393457Z", "note": "", "type": "progress", "phase": "cleaned", "task_id": "task_01m7v1bgcxfbermmx23se0g046"}], "proofs": [{"ok": true, "item": "processes", "evidence": "looked for in memory"}, {"ok": false, "item": "mounts", "evidence": "planted"}, {"ok": true, "item": "files", "evidence": "looked for in memory"}, {"ok": true, "item": "port", "evidence": "looked for in memory"}, {"ok": true, "item": "network", "evidence": "looked for in memory"}], "reason": "not cleaned: mounts", "status": "done", "volume": null, "task_id": "task_01m7v1bgcxfbermmx23se0g046", "environment": null}	environment
task_01m7v1bgcqfqb9my08x9x9v4fh	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	1	1	environment.ensure	{"spec": {"boot": 1, "keys": {"keys": [{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}], "admits_own": false, "generation": 1}, "facts": {"sku": "sim-h200-slice", "name": "is-failed", "size": "sim_1g", "project": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation": "alloc_01m7v1bgcmf52875m1wkejg9ej"}, "slots": [{"numa": 0, "index": 0, "gpu_pci": "0000:10:00.0", "gpu_uuid": "GPU-fake-0"}], "vcpus": 1, "hostname": "is-failed", "username": "gpu", "simulated": true, "memory_mib": 1024, "allocation_id": "alloc_01m7v1bgcmf52875m1wkejg9ej"}}	failed	1	2026-11-19 23:13:03.382457+00	2026-11-19 23:14:05.179883+00	2026-11-19 23:13:03.386457+00	the disk is full	planted at booting	{"at": "2026-11-19T23:13:03.386457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "planted at booting", "phases": [{"at": "2026-11-19T23:13:03.385457Z", "note": "making its disk", "type": "progress", "phase": "preparing", "task_id": "task_01m7v1bgcqfqb9my08x9x9v4fh"}], "proofs": [], "reason": "the disk is full", "status": "failed", "volume": null, "task_id": "task_01m7v1bgcqfqb9my08x9x9v4fh", "environment": null}	environment
task_01m7v1bgegfc2s5a3k32t8zxhb	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	4	1	environment.remove	{"reason": "released on request"}	done	1	2026-11-19 23:13:03.439457+00	2026-11-19 23:14:05.419753+00	2026-11-19 23:13:03.445457+00	not cleaned: mounts		{"at": "2026-11-19T23:13:03.445457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.442457Z", "note": "", "type": "progress", "phase": "sessions_ended", "task_id": "task_01m7v1bgegfc2s5a3k32t8zxhb"}, {"at": "2026-11-19T23:13:03.443457Z", "note": "", "type": "progress", "phase": "environment_removed", "task_id": "task_01m7v1bgegfc2s5a3k32t8zxhb"}, {"at": "2026-11-19T23:13:03.444457Z", "note": "", "type": "progress", "phase": "cleaned", "task_id": "task_01m7v1bgegfc2s5a3k32t8zxhb"}], "proofs": [{"ok": true, "item": "processes", "evidence": "looked for in memory"}, {"ok": false, "item": "mounts", "evidence": "planted"}, {"ok": true, "item": "files", "evidence": "looked for in memory"}, {"ok": true, "item": "port", "evidence": "looked for in memory"}, {"ok": true, "item": "network", "evidence": "looked for in memory"}], "reason": "not cleaned: mounts", "status": "done", "volume": null, "task_id": "task_01m7v1bgegfc2s5a3k32t8zxhb", "environment": null}	environment
task_01m7v1bgdeerbb933cc0qxvaf6	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdbfjgb97swee13dy7k	1	1	environment.ensure	{"spec": {"boot": 1, "keys": {"keys": [{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}], "admits_own": false, "generation": 1}, "facts": {"sku": "sim-h200-slice", "name": "is-release-failed", "size": "sim_1g", "project": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation": "alloc_01m7v1bgdae4sv6ytwabztdjm4"}, "slots": [{"numa": 0, "index": 1, "gpu_pci": "0000:11:00.0", "gpu_uuid": "GPU-fake-1"}], "vcpus": 1, "hostname": "is-release-failed", "username": "gpu", "simulated": true, "memory_mib": 1024, "allocation_id": "alloc_01m7v1bgdae4sv6ytwabztdjm4"}}	done	1	2026-11-19 23:13:03.405457+00	2026-11-19 23:14:05.274802+00	2026-11-19 23:13:03.413457+00			{"at": "2026-11-19T23:13:03.413457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.408457Z", "note": "making its disk", "type": "progress", "phase": "preparing", "task_id": "task_01m7v1bgdeerbb933cc0qxvaf6"}, {"at": "2026-11-19T23:13:03.409457Z", "note": "boot 1", "type": "progress", "phase": "booting", "task_id": "task_01m7v1bgdeerbb933cc0qxvaf6"}, {"at": "2026-11-19T23:13:03.411457Z", "note": "1 simulated", "type": "progress", "phase": "gpus_checked", "task_id": "task_01m7v1bgdeerbb933cc0qxvaf6"}, {"at": "2026-11-19T23:13:03.412457Z", "note": "reachable", "type": "progress", "phase": "access_ready", "task_id": "task_01m7v1bgdeerbb933cc0qxvaf6"}], "proofs": [], "reason": "", "status": "done", "volume": null, "task_id": "task_01m7v1bgdeerbb933cc0qxvaf6", "environment": {"boot": 1, "port": 20001, "state": "running", "detail": "", "mounts": [], "host_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICsJElLMdsMzfQhQPEwDa1Pyi70blS9bKrwWXNTl6Z3q", "own_keys": null, "isolation": {"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}, "started_at": "2026-11-19T23:13:03.410457Z", "allocation_id": "alloc_01m7v1bgdae4sv6ytwabztdjm4", "key_generation": 1}}	environment
task_01m7v1bge8e658dgc43eywhfex	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	3	1	environment.remove	{"reason": "released on request"}	done	1	2026-11-19 23:13:03.431457+00	2026-11-19 23:14:05.404952+00	2026-11-19 23:13:03.437457+00	not cleaned: mounts		{"at": "2026-11-19T23:13:03.437457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.434457Z", "note": "", "type": "progress", "phase": "sessions_ended", "task_id": "task_01m7v1bge8e658dgc43eywhfex"}, {"at": "2026-11-19T23:13:03.435457Z", "note": "", "type": "progress", "phase": "environment_removed", "task_id": "task_01m7v1bge8e658dgc43eywhfex"}, {"at": "2026-11-19T23:13:03.436457Z", "note": "", "type": "progress", "phase": "cleaned", "task_id": "task_01m7v1bge8e658dgc43eywhfex"}], "proofs": [{"ok": true, "item": "processes", "evidence": "looked for in memory"}, {"ok": false, "item": "mounts", "evidence": "planted"}, {"ok": true, "item": "files", "evidence": "looked for in memory"}, {"ok": true, "item": "port", "evidence": "looked for in memory"}, {"ok": true, "item": "network", "evidence": "looked for in memory"}], "reason": "not cleaned: mounts", "status": "done", "volume": null, "task_id": "task_01m7v1bge8e658dgc43eywhfex", "environment": null}	environment
task_01m7v1bge0efxvshq5yk0qra5c	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	2	1	environment.remove	{"reason": "released on request"}	done	1	2026-11-19 23:13:03.423457+00	2026-11-19 23:14:05.371006+00	2026-11-19 23:13:03.429457+00	not cleaned: mounts		{"at": "2026-11-19T23:13:03.429457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.426457Z", "note": "", "type": "progress", "phase": "sessions_ended", "task_id": "task_01m7v1bge0efxvshq5yk0qra5c"}, {"at": "2026-11-19T23:13:03.427457Z", "note": "", "type": "progress", "phase": "environment_removed", "task_id": "task_01m7v1bge0efxvshq5yk0qra5c"}, {"at": "2026-11-19T23:13:03.428457Z", "note": "", "type": "progress", "phase": "cleaned", "task_id": "task_01m7v1bge0efxvshq5yk0qra5c"}], "proofs": [{"ok": true, "item": "processes", "evidence": "looked for in memory"}, {"ok": false, "item": "mounts", "evidence": "planted"}, {"ok": true, "item": "files", "evidence": "looked for in memory"}, {"ok": true, "item": "port", "evidence": "looked for in memory"}, {"ok": true, "item": "network", "evidence": "looked for in memory"}], "reason": "not cleaned: mounts", "status": "done", "volume": null, "task_id": "task_01m7v1bge0efxvshq5yk0qra5c", "environment": null}	environment
task_01m7v1bgf3fn9tfgvgmnyrg4wa	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgf0fazreax17eb9ht1j	1	1	environment.ensure	{"spec": {"boot": 1, "keys": {"keys": [{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}], "admits_own": false, "generation": 1}, "facts": {"sku": "sim-h200-slice", "name": "is-released", "size": "sim_1g", "project": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation": "alloc_01m7v1bgezfwmv1evedmtha9s4"}, "slots": [{"numa": 0, "index": 2, "gpu_pci": "0000:12:00.0", "gpu_uuid": "GPU-fake-2"}], "vcpus": 1, "hostname": "is-released", "username": "gpu", "simulated": true, "memory_mib": 1024, "allocation_id": "alloc_01m7v1bgezfwmv1evedmtha9s4"}}	done	1	2026-11-19 23:13:03.458457+00	2026-11-19 23:14:05.564369+00	2026-11-19 23:13:03.466457+00			{"at": "2026-11-19T23:13:03.466457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.461457Z", "note": "making its disk", "type": "progress", "phase": "preparing", "task_id": "task_01m7v1bgf3fn9tfgvgmnyrg4wa"}, {"at": "2026-11-19T23:13:03.462457Z", "note": "boot 1", "type": "progress", "phase": "booting", "task_id": "task_01m7v1bgf3fn9tfgvgmnyrg4wa"}, {"at": "2026-11-19T23:13:03.464457Z", "note": "1 simulated", "type": "progress", "phase": "gpus_checked", "task_id": "task_01m7v1bgf3fn9tfgvgmnyrg4wa"}, {"at": "2026-11-19T23:13:03.465457Z", "note": "reachable", "type": "progress", "phase": "access_ready", "task_id": "task_01m7v1bgf3fn9tfgvgmnyrg4wa"}], "proofs": [], "reason": "", "status": "done", "volume": null, "task_id": "task_01m7v1bgf3fn9tfgvgmnyrg4wa", "environment": {"boot": 1, "port": 20002, "state": "running", "detail": "", "mounts": [], "host_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1/lh4hAuLz2TUoD4YCPvrQLSVG//ZtSD6aUlkB0F5c", "own_keys": null, "isolation": {"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}, "started_at": "2026-11-19T23:13:03.463457Z", "allocation_id": "alloc_01m7v1bgezfwmv1evedmtha9s4", "key_generation": 1}}	environment
task_01m7v1bghgf5mapdhz8hwde5mq	node_01m7v1bga2f5ha95qt53vgys8r	\N	op_01m7v1bghdeexan4fsv9ep51zr	1	0	volume.ensure	{"volume": {"backend": "shared", "size_gib": 1, "volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc"}, "snapshot_id": null}	done	1	2026-11-19 23:13:03.535457+00	2026-11-19 23:14:06.001671+00	2026-11-19 23:13:03.540457+00			{"at": "2026-11-19T23:13:03.540457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.538457Z", "note": "making it", "type": "progress", "phase": "volume_preparing", "task_id": "task_01m7v1bghgf5mapdhz8hwde5mq"}], "proofs": [], "reason": "", "status": "done", "volume": {"at": "2026-11-19T23:13:03.539457Z", "quota": "measured", "volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc", "used_bytes": 0}, "task_id": "task_01m7v1bghgf5mapdhz8hwde5mq", "environment": null}	volume:vol_01m7v1bghcf5h9hnf01mm85hqc
task_01m7v1bgfnee9vgm5qwtv83evv	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgfje6bvqjd1yc3jm5m2	2	1	environment.remove	{"reason": "released on request"}	done	1	2026-11-19 23:13:03.476457+00	2026-11-19 23:14:05.659343+00	2026-11-19 23:13:03.482457+00			{"at": "2026-11-19T23:13:03.482457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.479457Z", "note": "", "type": "progress", "phase": "sessions_ended", "task_id": "task_01m7v1bgfnee9vgm5qwtv83evv"}, {"at": "2026-11-19T23:13:03.480457Z", "note": "", "type": "progress", "phase": "environment_removed", "task_id": "task_01m7v1bgfnee9vgm5qwtv83evv"}, {"at": "2026-11-19T23:13:03.481457Z", "note": "", "type": "progress", "phase": "cleaned", "task_id": "task_01m7v1bgfnee9vgm5qwtv83evv"}], "proofs": [{"ok": true, "item": "processes", "evidence": "looked for in memory"}, {"ok": true, "item": "mounts", "evidence": "looked for in memory"}, {"ok": true, "item": "files", "evidence": "looked for in memory"}, {"ok": true, "item": "port", "evidence": "looked for in memory"}, {"ok": true, "item": "network", "evidence": "looked for in memory"}], "reason": "", "status": "done", "volume": null, "task_id": "task_01m7v1bgfnee9vgm5qwtv83evv", "environment": null}	environment
task_01m7v1bgg8fmybj11h26nwkftp	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	op_01m7v1bgg5fa7835ttpecrk9q3	1	1	environment.ensure	{"spec": {"boot": 1, "keys": {"keys": [{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}], "admits_own": false, "generation": 1}, "facts": {"sku": "sim-h200-slice", "name": "is-active", "size": "sim_1g", "project": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation": "alloc_01m7v1bgg4ftka2x2dmgf4m6ge"}, "slots": [{"numa": 0, "index": 2, "gpu_pci": "0000:12:00.0", "gpu_uuid": "GPU-fake-2"}], "vcpus": 1, "hostname": "is-active", "username": "gpu", "simulated": true, "memory_mib": 1024, "allocation_id": "alloc_01m7v1bgg4ftka2x2dmgf4m6ge"}}	done	1	2026-11-19 23:13:03.495457+00	2026-11-19 23:14:05.777466+00	2026-11-19 23:13:03.503457+00			{"at": "2026-11-19T23:13:03.503457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.498457Z", "note": "making its disk", "type": "progress", "phase": "preparing", "task_id": "task_01m7v1bgg8fmybj11h26nwkftp"}, {"at": "2026-11-19T23:13:03.499457Z", "note": "boot 1", "type": "progress", "phase": "booting", "task_id": "task_01m7v1bgg8fmybj11h26nwkftp"}, {"at": "2026-11-19T23:13:03.501457Z", "note": "1 simulated", "type": "progress", "phase": "gpus_checked", "task_id": "task_01m7v1bgg8fmybj11h26nwkftp"}, {"at": "2026-11-19T23:13:03.502457Z", "note": "reachable", "type": "progress", "phase": "access_ready", "task_id": "task_01m7v1bgg8fmybj11h26nwkftp"}], "proofs": [], "reason": "", "status": "done", "volume": null, "task_id": "task_01m7v1bgg8fmybj11h26nwkftp", "environment": {"boot": 1, "port": 20003, "state": "running", "detail": "", "mounts": [], "host_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB4qFxLdVrjmzOXK3Y3K0+YKOmqT+UFwKD50gdX/vFNu", "own_keys": null, "isolation": {"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}, "started_at": "2026-11-19T23:13:03.500457Z", "allocation_id": "alloc_01m7v1bgg4ftka2x2dmgf4m6ge", "key_generation": 1}}	environment
task_01m7v1bgj0f4ba1k53nwb2asey	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bghxegzrcs09r3k04tg4	2	1	volume.attach	{"mount": {"volume": {"backend": "shared", "size_gib": 1, "volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc"}, "mount_path": "/data", "access_mode": "read_write"}}	done	1	2026-11-19 23:13:03.551457+00	2026-11-19 23:14:06.092923+00	2026-11-19 23:13:03.555457+00			{"at": "2026-11-19T23:13:03.555457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.554457Z", "note": "at /data", "type": "progress", "phase": "volume_mounting", "task_id": "task_01m7v1bgj0f4ba1k53nwb2asey"}], "proofs": [], "reason": "", "status": "done", "volume": null, "task_id": "task_01m7v1bgj0f4ba1k53nwb2asey", "environment": null}	volumes:vol_01m7v1bghcf5h9hnf01mm85hqc
task_01m7v1bggxfhjsx864mcpbjmz2	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bggtercs92j2sfyt8d4f	1	1	environment.ensure	{"spec": {"boot": 1, "keys": {"keys": [{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}], "admits_own": false, "generation": 1}, "facts": {"sku": "sim-h200-slice", "name": "used", "size": "sim_1g", "project": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation": "alloc_01m7v1bggsfsmr3xab4b06fkwf"}, "slots": [{"numa": 0, "index": 3, "gpu_pci": "0000:13:00.0", "gpu_uuid": "GPU-fake-3"}], "vcpus": 1, "hostname": "used", "username": "gpu", "simulated": true, "memory_mib": 1024, "allocation_id": "alloc_01m7v1bggsfsmr3xab4b06fkwf"}}	done	1	2026-11-19 23:13:03.516457+00	2026-11-19 23:14:05.872002+00	2026-11-19 23:13:03.524457+00			{"at": "2026-11-19T23:13:03.524457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.519457Z", "note": "making its disk", "type": "progress", "phase": "preparing", "task_id": "task_01m7v1bggxfhjsx864mcpbjmz2"}, {"at": "2026-11-19T23:13:03.520457Z", "note": "boot 1", "type": "progress", "phase": "booting", "task_id": "task_01m7v1bggxfhjsx864mcpbjmz2"}, {"at": "2026-11-19T23:13:03.522457Z", "note": "1 simulated", "type": "progress", "phase": "gpus_checked", "task_id": "task_01m7v1bggxfhjsx864mcpbjmz2"}, {"at": "2026-11-19T23:13:03.523457Z", "note": "reachable", "type": "progress", "phase": "access_ready", "task_id": "task_01m7v1bggxfhjsx864mcpbjmz2"}], "proofs": [], "reason": "", "status": "done", "volume": null, "task_id": "task_01m7v1bggxfhjsx864mcpbjmz2", "environment": {"boot": 1, "port": 20004, "state": "running", "detail": "", "mounts": [], "host_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEwH/PeZtuaikSNH9Zomrxawom1lci4AMEW/EHQoOeMP", "own_keys": null, "isolation": {"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}, "started_at": "2026-11-19T23:13:03.521457Z", "allocation_id": "alloc_01m7v1bggsfsmr3xab4b06fkwf", "key_generation": 1}}	environment
task_01m7v1bgkkfbqbx06j8e63g2bm	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgkff7fthhycc5fznp30	4	2	volume.attach	{"mount": {"volume": {"backend": "shared", "size_gib": 1, "volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc"}, "mount_path": "/data", "access_mode": "read_write"}}	done	1	2026-11-19 23:13:03.602457+00	2026-11-19 23:14:06.371569+00	2026-11-19 23:13:03.606457+00			{"at": "2026-11-19T23:13:03.606457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.605457Z", "note": "at /data", "type": "progress", "phase": "volume_mounting", "task_id": "task_01m7v1bgkkfbqbx06j8e63g2bm"}], "proofs": [], "reason": "", "status": "done", "volume": null, "task_id": "task_01m7v1bgkkfbqbx06j8e63g2bm", "environment": null}	volumes:vol_01m7v1bghcf5h9hnf01mm85hqc
task_01m7v1bgjye53rs56q01aa0zea	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgjkfd59cyac7frcczke	3	2	environment.ensure	{"spec": {"boot": 2, "keys": {"keys": [{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}], "admits_own": false, "generation": 1}, "facts": {"sku": "sim-h200-slice", "name": "used", "size": "sim_1g", "project": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation": "alloc_01m7v1bggsfsmr3xab4b06fkwf"}, "slots": [{"numa": 0, "index": 3, "gpu_pci": "0000:13:00.0", "gpu_uuid": "GPU-fake-3"}], "vcpus": 1, "hostname": "used", "username": "gpu", "simulated": true, "memory_mib": 1024, "allocation_id": "alloc_01m7v1bggsfsmr3xab4b06fkwf"}}	done	1	2026-11-19 23:13:03.581457+00	2026-11-19 23:14:06.297417+00	2026-11-19 23:13:03.591457+00			{"at": "2026-11-19T23:13:03.591457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.586457Z", "note": "its disk is here", "type": "progress", "phase": "preparing", "task_id": "task_01m7v1bgjye53rs56q01aa0zea"}, {"at": "2026-11-19T23:13:03.587457Z", "note": "boot 2", "type": "progress", "phase": "booting", "task_id": "task_01m7v1bgjye53rs56q01aa0zea"}, {"at": "2026-11-19T23:13:03.589457Z", "note": "1 simulated", "type": "progress", "phase": "gpus_checked", "task_id": "task_01m7v1bgjye53rs56q01aa0zea"}, {"at": "2026-11-19T23:13:03.590457Z", "note": "reachable", "type": "progress", "phase": "access_ready", "task_id": "task_01m7v1bgjye53rs56q01aa0zea"}], "proofs": [], "reason": "", "status": "done", "volume": null, "task_id": "task_01m7v1bgjye53rs56q01aa0zea", "environment": {"boot": 2, "port": 20004, "state": "running", "detail": "", "mounts": [], "host_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEwH/PeZtuaikSNH9Zomrxawom1lci4AMEW/EHQoOeMP", "own_keys": null, "isolation": {"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}, "started_at": "2026-11-19T23:13:03.588457Z", "allocation_id": "alloc_01m7v1bggsfsmr3xab4b06fkwf", "key_generation": 1}}	environment
task_01m7v1bgk0fc0twrga3hcfafbt	node_01m7v1bga2f5ha95qt53vgys8r	\N	op_01m7v1bgjffntt26zqqa78q1z3	1	0	volume.snapshot	{"volume": {"backend": "shared", "size_gib": 1, "volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc"}, "snapshot_id": "snap_01m7v1bgjeevvapr48t2zr8g8z"}	done	1	2026-11-19 23:13:03.583457+00	2026-11-19 23:14:06.297451+00	2026-11-19 23:13:03.595457+00			{"at": "2026-11-19T23:13:03.595457Z", "note": "crash-consistent: all of one moment", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.593457Z", "note": "in memory", "type": "progress", "phase": "snapshot_copying", "task_id": "task_01m7v1bgk0fc0twrga3hcfafbt"}], "proofs": [], "reason": "", "status": "done", "volume": {"at": "2026-11-19T23:13:03.594457Z", "quota": "measured", "volume_id": "snap_01m7v1bgjeevvapr48t2zr8g8z", "used_bytes": 0}, "task_id": "task_01m7v1bgk0fc0twrga3hcfafbt", "environment": null}	snapshot:snap_01m7v1bgjeevvapr48t2zr8g8z
task_01m7v1bgm4ehgrwj7v23a5n9yd	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgm1erhvtsek525cpn16	1	1	environment.ensure	{"spec": {"boot": 1, "keys": {"keys": [{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}], "admits_own": false, "generation": 1}, "facts": {"sku": "sim-h200-slice", "name": "is-releasing", "size": "sim_1g", "project": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation": "alloc_01m7v1bgm0ewataazps4cw1s78"}, "slots": [{"numa": 1, "index": 4, "gpu_pci": "0000:14:00.0", "gpu_uuid": "GPU-fake-4"}], "vcpus": 1, "hostname": "is-releasing", "username": "gpu", "simulated": true, "memory_mib": 1024, "allocation_id": "alloc_01m7v1bgm0ewataazps4cw1s78"}}	done	1	2026-11-19 23:13:03.619457+00	2026-11-19 23:14:06.457307+00	2026-11-19 23:13:03.627457+00			{"at": "2026-11-19T23:13:03.627457Z", "note": "", "type": "result", "bundle": null, "checks": [], "detail": "", "phases": [{"at": "2026-11-19T23:13:03.622457Z", "note": "making its disk", "type": "progress", "phase": "preparing", "task_id": "task_01m7v1bgm4ehgrwj7v23a5n9yd"}, {"at": "2026-11-19T23:13:03.623457Z", "note": "boot 1", "type": "progress", "phase": "booting", "task_id": "task_01m7v1bgm4ehgrwj7v23a5n9yd"}, {"at": "2026-11-19T23:13:03.625457Z", "note": "1 simulated", "type": "progress", "phase": "gpus_checked", "task_id": "task_01m7v1bgm4ehgrwj7v23a5n9yd"}, {"at": "2026-11-19T23:13:03.626457Z", "note": "reachable", "type": "progress", "phase": "access_ready", "task_id": "task_01m7v1bgm4ehgrwj7v23a5n9yd"}], "proofs": [], "reason": "", "status": "done", "volume": null, "task_id": "task_01m7v1bgm4ehgrwj7v23a5n9yd", "environment": {"boot": 1, "port": 20005, "state": "running", "detail": "", "mounts": [], "host_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIErFxywZYBObovM3zM08X+WCV6OzgA6HICAwLZZRDYKV", "own_keys": null, "isolation": {"uid": 0, "limits": {}, "missing": {"all": "there is nothing to isolate"}, "network": "shared", "namespaces": [], "no_new_privileges": false}, "started_at": "2026-11-19T23:13:03.624457Z", "allocation_id": "alloc_01m7v1bgm0ewataazps4cw1s78", "key_generation": 1}}	environment
task_01m7v1bgmxeqza5x1rqxy8wx73	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgmkejdbs1hrh3syka0e	2	1	environment.remove	{"reason": "released on request"}	queued	0	2026-11-19 23:13:03.644457+00	\N	\N			\N	environment
task_01m7v1bgmzfzs9j952c258sz23	node_01m7v1bga2f5ha95qt53vgys8r	alloc_01m7v1bgmse4rs34qp8ttw3kq3	op_01m7v1bgmtevwb6m4202j2jfcd	1	1	environment.ensure	{"spec": {"boot": 1, "keys": {"keys": [{"blob": "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "type": "ssh-ed25519", "ends_at": null, "granted": false, "user_id": "user_01m7v1bg97epnb6gt3wj382z4w", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}], "admits_own": false, "generation": 1}, "facts": {"sku": "sim-h200-slice", "name": "is-provisioning", "size": "sim_1g", "project": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation": "alloc_01m7v1bgmse4rs34qp8ttw3kq3"}, "slots": [{"numa": 1, "index": 5, "gpu_pci": "0000:15:00.0", "gpu_uuid": "GPU-fake-5"}], "vcpus": 1, "hostname": "is-provisioning", "username": "gpu", "simulated": true, "memory_mib": 1024, "allocation_id": "alloc_01m7v1bgmse4rs34qp8ttw3kq3"}}	queued	0	2026-11-19 23:13:03.646457+00	\N	\N			\N	environment
\.


--
-- Data for Name: nodes; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.nodes (id, name, region, intent, intent_since, intent_reason, version, offline_since, last_seen_at, public_key, engine, simulated, agent_version, ssh_host, boot_id, facts, unknown_environments, offline_for, offline_counted_at, created_at) FROM stdin;
node_01m7v1bga2f5ha95qt53vgys8r	node-1	local	active	2026-11-19 23:13:03.300457+00	enrolled	2	\N	2026-11-19 23:13:03.333457+00	\\x35971be6e9bb024a895582fe0e42e04848a86da550aaef0fccbfba86f99f617d	fake	t	1	127.0.0.1	b	{"gpus": [{"numa": 0, "index": 0, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:10:00.0", "gpu_uuid": "GPU-fake-0", "simulated": true, "memory_mib": 81920}, {"numa": 0, "index": 1, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:11:00.0", "gpu_uuid": "GPU-fake-1", "simulated": true, "memory_mib": 81920}, {"numa": 0, "index": 2, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:12:00.0", "gpu_uuid": "GPU-fake-2", "simulated": true, "memory_mib": 81920}, {"numa": 0, "index": 3, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:13:00.0", "gpu_uuid": "GPU-fake-3", "simulated": true, "memory_mib": 81920}, {"numa": 1, "index": 4, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:14:00.0", "gpu_uuid": "GPU-fake-4", "simulated": true, "memory_mib": 81920}, {"numa": 1, "index": 5, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:15:00.0", "gpu_uuid": "GPU-fake-5", "simulated": true, "memory_mib": 81920}, {"numa": 1, "index": 6, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:16:00.0", "gpu_uuid": "GPU-fake-6", "simulated": true, "memory_mib": 81920}, {"numa": 1, "index": 7, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:17:00.0", "gpu_uuid": "GPU-fake-7", "simulated": true, "memory_mib": 81920}], "facts": {"runtimes": {"value": "3.11", "source": "simulated by the fake engine"}, "isolation": {"value": "none", "source": "simulated by the fake engine"}, "storage_local": {"value": "memory", "source": "simulated by the fake engine"}, "storage_shared": {"value": "memory", "source": "simulated by the fake engine"}}, "vcpus": 128, "engine": "fake", "ssh_host": "127.0.0.1", "simulated": true, "memory_mib": 1048576}	{}	00:00:00	\N	2026-11-19 23:13:03.297457+00
node_01m7v1bgbaevqtzx6jpn9wmsqb	node-2	local	active	2026-11-19 23:13:03.340457+00	enrolled	2	\N	2026-11-19 23:13:03.373457+00	\\x1779f59f4df251f6b81aeb08fb52a5d84ad4eef833c7fdf0bc576cd1aab11d24	fake	t	1	127.0.0.1	b	{"gpus": [{"numa": 0, "index": 0, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:10:00.0", "gpu_uuid": "GPU-fake-0", "simulated": true, "memory_mib": 81920}, {"numa": 0, "index": 1, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:11:00.0", "gpu_uuid": "GPU-fake-1", "simulated": true, "memory_mib": 81920}, {"numa": 0, "index": 2, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:12:00.0", "gpu_uuid": "GPU-fake-2", "simulated": true, "memory_mib": 81920}, {"numa": 0, "index": 3, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:13:00.0", "gpu_uuid": "GPU-fake-3", "simulated": true, "memory_mib": 81920}, {"numa": 1, "index": 4, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:14:00.0", "gpu_uuid": "GPU-fake-4", "simulated": true, "memory_mib": 81920}, {"numa": 1, "index": 5, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:15:00.0", "gpu_uuid": "GPU-fake-5", "simulated": true, "memory_mib": 81920}, {"numa": 1, "index": 6, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:16:00.0", "gpu_uuid": "GPU-fake-6", "simulated": true, "memory_mib": 81920}, {"numa": 1, "index": 7, "family": "h200", "source": "simulated by the fake engine", "gpu_pci": "0000:17:00.0", "gpu_uuid": "GPU-fake-7", "simulated": true, "memory_mib": 81920}], "facts": {"runtimes": {"value": "3.11", "source": "simulated by the fake engine"}, "isolation": {"value": "none", "source": "simulated by the fake engine"}, "storage_local": {"value": "memory", "source": "simulated by the fake engine"}, "storage_shared": {"value": "memory", "source": "simulated by the fake engine"}}, "vcpus": 128, "engine": "fake", "ssh_host": "127.0.0.1", "simulated": true, "memory_mib": 1048576}	{}	00:00:00	\N	2026-11-19 23:13:03.337457+00
\.


--
-- Data for Name: operations; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.operations (id, tenant_id, project_id, kind, subject_kind, subject_id, status, requested_by, started_at, ended_at, last_progress_at, reason, correlation_id) FROM stdin;
op_01m7v1bghxegzrcs09r3k04tg4	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	attach	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.547457+00	2026-11-19 23:13:03.557457+00	2026-11-19 23:13:03.557457+00		req_01m7v1bghse3gs3pr0ymtq1fz5
op_01m7v1bgcne5csg0sr552141sy	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	create	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	failed	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.378457+00	2026-11-19 23:13:03.387457+00	2026-11-19 23:13:03.393457+00	the disk is full	req_01m7v1bgcgfd783ev37cchjbv7
op_01m7v1bgdbfjgb97swee13dy7k	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	create	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.400457+00	2026-11-19 23:13:03.415457+00	2026-11-19 23:13:03.415457+00	the machine is ready	req_01m7v1bgd6eqrr6ey2pz9x10jf
op_01m7v1bgdxfevrm3a71w5fwaqn	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	release	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	failed	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.420457+00	2026-11-19 23:13:03.447457+00	2026-11-19 23:13:03.447457+00	Still on the node: mounts.	req_01m7v1bgdtfz68327qd9kpv14f
op_01m7v1bgjkfd59cyac7frcczke	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	restart	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.570457+00	2026-11-19 23:13:03.597457+00	2026-11-19 23:13:03.597457+00	the machine is ready	req_01m7v1bgjge28adykhng5yd3jz
op_01m7v1bgf0fazreax17eb9ht1j	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	create	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.453457+00	2026-11-19 23:13:03.468457+00	2026-11-19 23:13:03.468457+00	the machine is ready	req_01m7v1bgevfmbr3spfphx6rm56
op_01m7v1bgfje6bvqjd1yc3jm5m2	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	release	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.473457+00	2026-11-19 23:13:03.484457+00	2026-11-19 23:13:03.484457+00		req_01m7v1bgfff9e9weayv9rgbh2g
op_01m7v1bgjffntt26zqqa78q1z3	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	snapshot.create	volume	vol_01m7v1bghcf5h9hnf01mm85hqc	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.565457+00	2026-11-19 23:13:03.600457+00	2026-11-19 23:13:03.600457+00		req_01m7v1bgjbe4s979jbvesda5wm
op_01m7v1bgg5fa7835ttpecrk9q3	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	create	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.490457+00	2026-11-19 23:13:03.505457+00	2026-11-19 23:13:03.505457+00	the machine is ready	req_01m7v1bgg0fmy94sfwjgwv78h5
op_01m7v1bggtercs92j2sfyt8d4f	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	create	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.511457+00	2026-11-19 23:13:03.526457+00	2026-11-19 23:13:03.526457+00	the machine is ready	req_01m7v1bggneeqag6v0evhg6p8a
op_01m7v1bgkff7fthhycc5fznp30	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	attach	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	succeeded	system	2026-11-19 23:13:03.598457+00	2026-11-19 23:13:03.608457+00	2026-11-19 23:13:03.608457+00		
op_01m7v1bghdeexan4fsv9ep51zr	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	volume.create	volume	vol_01m7v1bghcf5h9hnf01mm85hqc	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.531457+00	2026-11-19 23:13:03.542457+00	2026-11-19 23:13:03.542457+00		req_01m7v1bgh9edfb6vnpa8hgffjd
op_01m7v1bgm1erhvtsek525cpn16	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	create	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	succeeded	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.614457+00	2026-11-19 23:13:03.629457+00	2026-11-19 23:13:03.629457+00	the machine is ready	req_01m7v1bgkwe45rzm2psjxpdcw6
op_01m7v1bgmkejdbs1hrh3syka0e	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	release	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	running	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.634457+00	\N	2026-11-19 23:13:03.634457+00		req_01m7v1bgmgenjax764kevcxf3z
op_01m7v1bgmtevwb6m4202j2jfcd	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	create	allocation	alloc_01m7v1bgmse4rs34qp8ttw3kq3	running	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.639457+00	\N	2026-11-19 23:13:03.639457+00		req_01m7v1bgmnfhjtnp341fxcpn7f
op_01m7v1bgn6fcsbf11edc1n931w	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	create	allocation	alloc_01m7v1bgn5ff7rkaxtz7sn4g70	running	user_01m7v1bg97epnb6gt3wj382z4w	2026-11-19 23:13:03.651457+00	\N	2026-11-19 23:13:03.651457+00		req_01m7v1bgn1f5zrjbca2xxb8kcn
\.


--
-- Data for Name: outbox; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.outbox (id, topic, payload, created_at, delivered_at) FROM stdin;
1	allocation.failed	{"at": "2026-11-19T23:13:03.387457+00:00", "project_id": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation_id": "alloc_01m7v1bgcmf52875m1wkejg9ej"}	2026-11-19 23:14:05.193987+00	\N
2	allocation.active	{"at": "2026-11-19T23:13:03.415457+00:00", "project_id": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation_id": "alloc_01m7v1bgdae4sv6ytwabztdjm4"}	2026-11-19 23:14:05.28069+00	\N
3	allocation.release_failed	{"at": "2026-11-19T23:13:03.447457+00:00", "project_id": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation_id": "alloc_01m7v1bgdae4sv6ytwabztdjm4"}	2026-11-19 23:14:05.438093+00	\N
4	allocation.active	{"at": "2026-11-19T23:13:03.468457+00:00", "project_id": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation_id": "alloc_01m7v1bgezfwmv1evedmtha9s4"}	2026-11-19 23:14:05.573008+00	\N
5	allocation.released	{"at": "2026-11-19T23:13:03.484457+00:00", "project_id": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation_id": "alloc_01m7v1bgezfwmv1evedmtha9s4"}	2026-11-19 23:14:05.681347+00	\N
6	allocation.active	{"at": "2026-11-19T23:13:03.505457+00:00", "project_id": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation_id": "alloc_01m7v1bgg4ftka2x2dmgf4m6ge"}	2026-11-19 23:14:05.805115+00	\N
7	allocation.active	{"at": "2026-11-19T23:13:03.526457+00:00", "project_id": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation_id": "alloc_01m7v1bggsfsmr3xab4b06fkwf"}	2026-11-19 23:14:05.901443+00	\N
8	allocation.active	{"at": "2026-11-19T23:13:03.597457+00:00", "project_id": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation_id": "alloc_01m7v1bggsfsmr3xab4b06fkwf"}	2026-11-19 23:14:06.319931+00	\N
9	allocation.active	{"at": "2026-11-19T23:13:03.629457+00:00", "project_id": "proj_01m7v1bg99fy9sytb7ht86enty", "allocation_id": "alloc_01m7v1bgm0ewataazps4cw1s78"}	2026-11-19 23:14:06.463739+00	\N
\.


--
-- Data for Name: platform; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.platform (key, value) FROM stdin;
task_signer	8d3d38cc605b2b02
\.


--
-- Data for Name: prices; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.prices (id, sku_key, amount_minor, currency, valid) FROM stdin;
price_01m7v1bg8mefst44vcz19e5k5q	1	450	USD	["2026-11-19 23:13:03.251457+00",)
price_01m7v1bg8nejrtth22t459e2j0	2	425	USD	["2026-11-19 23:13:03.251457+00",)
\.


--
-- Data for Name: project_members; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.project_members (project_id, tenant_id, user_id, role) FROM stdin;
proj_01m7v1bg8tfm8b3w2xmmgkxcd7	ten_01m7v1bg8sefwbjhcvhdh8h8ra	user_01m7v1bg8pfkts4n8rtge4rg26	owner
proj_01m7v1bg99fy9sytb7ht86enty	ten_01m7v1bg98fhztmhjvmraspyq2	user_01m7v1bg97epnb6gt3wj382z4w	owner
proj_01m7v1bg9pe7zs0k2qk5pwnta0	ten_01m7v1bg9nfcqvgxf6x0xz5tb7	user_01m7v1bg9mfbytbq0pfyj2waw1	owner
proj_01m7v1bg99fy9sytb7ht86enty	ten_01m7v1bg98fhztmhjvmraspyq2	user_01m7v1bg9mfbytbq0pfyj2waw1	member
\.


--
-- Data for Name: projects; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.projects (id, tenant_id, slug, created_at, record_terminals) FROM stdin;
proj_01m7v1bg8tfm8b3w2xmmgkxcd7	ten_01m7v1bg8sefwbjhcvhdh8h8ra	default	2026-11-19 23:13:03.256457+00	f
proj_01m7v1bg99fy9sytb7ht86enty	ten_01m7v1bg98fhztmhjvmraspyq2	default	2026-11-19 23:13:03.270457+00	f
proj_01m7v1bg9pe7zs0k2qk5pwnta0	ten_01m7v1bg9nfcqvgxf6x0xz5tb7	default	2026-11-19 23:13:03.283457+00	f
\.


--
-- Data for Name: rate_limits; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.rate_limits (bucket, window_started_at, used) FROM stdin;
login-from:10.0.0.2	2026-11-19 23:14:04.129981+00	1
login:operator@example.com	2026-11-19 23:14:04.130419+00	1
signup:10.0.0.3	2026-11-19 23:14:04.498489+00	1
signup:10.0.0.4	2026-11-19 23:14:04.554799+00	1
\.


--
-- Data for Name: recording_chunks; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.recording_chunks (id, terminal_id, tenant_id, first_byte, length, body) FROM stdin;
\.


--
-- Data for Name: regions; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.regions (name) FROM stdin;
local
\.


--
-- Data for Name: replicas; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.replicas (id, url, started_at, seen_at) FROM stdin;
\.


--
-- Data for Name: resizes; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.resizes (allocation_id, tenant_id, gpu_count, size, vcpus, memory_mib, price_id, price_minor_per_hour, slot_ids) FROM stdin;
\.


--
-- Data for Name: sample_minutes; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.sample_minutes (slot, allocation_id, tenant_id, at, boot, numbers) FROM stdin;
\.


--
-- Data for Name: samples; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.samples (slot, allocation_id, tenant_id, at, boot, numbers) FROM stdin;
\.


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: gpuaas
--

COPY public.schema_migrations (name, digest, applied_at) FROM stdin;
0001_ground.sql	c5ec3a39ce9ee294b6c7c765fdd335201e944872df3c4dc7cebcfa39cfb37501	2026-11-19 23:14:02.744911+00
0002_lanes.sql	7643c5426dad8a266ad9f93e04b62dadab7f7db7853185398f492ddc9eb0f416	2026-11-19 23:14:02.77753+00
0003_access.sql	9e4d191bb82642a579b7c8053db0970bf5ea9cb1eb6957be181041271f946436	2026-11-19 23:14:02.861656+00
0004_terminals.sql	3522a11c6c755f96f4f44aa519c3dbfbc40ea3e49ab14c32eade2aed008705c3	2026-11-19 23:14:02.919816+00
0005_storage.sql	76976cac6b5cffbb5e103d83ea18ab10a273d9c41b44858436d927d6bef17ac0	2026-11-19 23:14:03.005136+00
0006_runtimes.sql	ff7faa9d857140094b97a2f80f2d2924b3dcbcbd41504effe056793ba09c1b4a	2026-11-19 23:14:03.045824+00
0007_metrics.sql	040ec302cd5a6aba3e1a08cae81e176ea1607b9cbe91ffaf0936238a2f580c79	2026-11-19 23:14:03.130391+00
0008_resize_and_expiry.sql	0c6e50670bc43c9afa58df8613f7415a636504090d63349a4fff918e9ec54a50	2026-11-19 23:14:03.149328+00
0010_enter_with_key.sql	891ae040fe47f2246be60c16d79b09cf7eba0e87d302884752eea6fb3e506942	2026-11-19 23:14:03.153776+00
0011_node_tasks_hot.sql	48b2cfecae90255c4d625aac11c79c1eb506d8eb06a90fefdcc82a2592627b9e	2026-11-19 23:14:03.160944+00
0013_grant_fingerprints.sql	55cc0e776c92fcdb62fefc734b0b0dc12efe643268fcfc098f1b286c3edca08f	2026-11-19 23:14:03.166706+00
0014_lean_submit.sql	ef1fc2f450f09897e6e8ebd71a7d6eb920ffcd603f193b3ce8dfe81776a3f8fe	2026-11-19 23:14:03.175011+00
0015_end_terminals.sql	e5f1c057ad2213fa25ff59a0930a1115b42ed9fd337e1ffb8a2a1c60f3c6d2d9	2026-11-19 23:14:03.17991+00
0016_attachments_of_machine.sql	40fb8c9f24ad834f2c579f741a13e5c7fe21e6f6e4ecc19bb33d80f99e0f53db	2026-11-19 23:14:03.194242+00
0017_own_keys.sql	6e82bc140c84f4d8f75e0274621c022b8c25e5fac9002164d6d55d2b2679cbe8	2026-11-19 23:14:03.195491+00
0018_record_terminals.sql	3f9a8d32c6a8f1653c3a5364e69926f383edf86e1073cfa94d742e52eb2e2744	2026-11-19 23:14:03.19637+00
0019_unstage.sql	16a59496ab8d22f54fe8cafdcc326b7584ad32fe9d87ae2d83da34d4a00125e8	2026-11-19 23:14:03.200985+00
0021_invitation_names.sql	b11292b40e63d195fb4933069054dd79056f981d61eb73d59be825b08adb3f1c	2026-11-19 23:14:03.225247+00
0022_extended.sql	621523aad3ecafc0d21b64504b544d7a21c0ad3b7e9572bf54b16d5f9fc0490c	2026-11-19 23:14:03.234029+00
\.


--
-- Data for Name: session_ends; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.session_ends (allocation_id, tenant_id, session_id, operation_id, reason, requested_at) FROM stdin;
\.


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.sessions (id, token_hash, user_id, device, address, created_at, expires_at, revoked_at) FROM stdin;
sess_01m7v1bg8xehpv1pkdv3552wrx	\\x1dc0562942395c34c25cfb467acb1588902d54f9cb9814656fcfbb4084a748cb	user_01m7v1bg8pfkts4n8rtge4rg26	python-httpx/0.28.1	10.0.0.2	2026-11-19 23:13:03.260457+00	2026-12-19 23:13:03.260457+00	\N
sess_01m7v1bg9afe5b6g4r44kcerzh	\\x7852ba0bc29ab43f536507fc491d778a3a99ab6d710dbae16ecc10e88e4f278f	user_01m7v1bg97epnb6gt3wj382z4w	python-httpx/0.28.1	10.0.0.3	2026-11-19 23:13:03.270457+00	2026-12-19 23:13:03.270457+00	\N
sess_01m7v1bg9qf2et8tsms5emmta4	\\x2b5ad13b9411d8a97e4313425f91d7e0f027be0478aa7ffe70cba552f9aea8cd	user_01m7v1bg9mfbytbq0pfyj2waw1	python-httpx/0.28.1	10.0.0.4	2026-11-19 23:13:03.283457+00	2026-12-19 23:13:03.283457+00	\N
\.


--
-- Data for Name: sku_sizes; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.sku_sizes (sku, "position", name, gpu_count, vcpus, memory_mib) FROM stdin;
sim-h200-slice	0	sim_1g	1	1	1024
sim-h200-slice	1	sim_2g	2	2	2048
sim-h200-slice	2	sim_4g	4	4	4096
sim-h200-slice	3	sim_8g	8	8	8192
sim-h200-node	0	sim_8g	8	8	8192
\.


--
-- Data for Name: skus; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.skus (sku, key, title, shape, gpu_family, allowed_counts, simulated, active) FROM stdin;
sim-h200-slice	1	Simulated H200, by the GPU	gpu_slice	h200	{1,2,4,8}	t	t
sim-h200-node	2	Simulated H200, the whole node	baremetal	h200	{8}	t	t
\.


--
-- Data for Name: slots; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.slots (id, node_id, index, gpu_family, gpu_pci, gpu_uuid, fabric_vf, nvme, mac, address, numa, vcpus, memory_mib, wipe_policy, approved_at, approved_by, disabled_at, disabled_reason, cleanup_blocked_at) FROM stdin;
slot_01m7v1bga6efm8na3ky5e6z01t	node_01m7v1bga2f5ha95qt53vgys8r	1	h200	0000:11:00.0	GPU-fake-1	sim-vf1	sim-nvme1	02:00:00:00:00:01	sim-address1	0	16	131072	scrub	2026-11-19 23:13:03.314457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		2026-11-19 23:13:03.447457+00
slot_01m7v1bga7eb4rw1zyp7r5xqaw	node_01m7v1bga2f5ha95qt53vgys8r	2	h200	0000:12:00.0	GPU-fake-2	sim-vf2	sim-nvme2	02:00:00:00:00:02	sim-address2	0	16	131072	scrub	2026-11-19 23:13:03.317457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bga8ftgtmx8y3ac5dzj9	node_01m7v1bga2f5ha95qt53vgys8r	3	h200	0000:13:00.0	GPU-fake-3	sim-vf3	sim-nvme3	02:00:00:00:00:03	sim-address3	0	16	131072	scrub	2026-11-19 23:13:03.320457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bga9f1qvqd95jbpmcvt2	node_01m7v1bga2f5ha95qt53vgys8r	4	h200	0000:14:00.0	GPU-fake-4	sim-vf4	sim-nvme4	02:00:00:00:00:04	sim-address4	1	16	131072	scrub	2026-11-19 23:13:03.323457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgaafyz8g3z4ypxmyqpy	node_01m7v1bga2f5ha95qt53vgys8r	5	h200	0000:15:00.0	GPU-fake-5	sim-vf5	sim-nvme5	02:00:00:00:00:05	sim-address5	1	16	131072	scrub	2026-11-19 23:13:03.326457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgabf71byxzc3nspj9mt	node_01m7v1bga2f5ha95qt53vgys8r	6	h200	0000:16:00.0	GPU-fake-6	sim-vf6	sim-nvme6	02:00:00:00:00:06	sim-address6	1	16	131072	scrub	2026-11-19 23:13:03.329457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgacet3btxqy37ypedkp	node_01m7v1bga2f5ha95qt53vgys8r	7	h200	0000:17:00.0	GPU-fake-7	sim-vf7	sim-nvme7	02:00:00:00:00:07	sim-address7	1	16	131072	scrub	2026-11-19 23:13:03.332457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgbdfbjrnk834ss2cy1s	node_01m7v1bgbaevqtzx6jpn9wmsqb	0	h200	0000:10:00.0	GPU-fake-0	sim-vf0	sim-nvme0	02:00:00:00:00:00	sim-address0	0	16	131072	scrub	2026-11-19 23:13:03.351457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgbefg0aje8nymbmw0mb	node_01m7v1bgbaevqtzx6jpn9wmsqb	1	h200	0000:11:00.0	GPU-fake-1	sim-vf1	sim-nvme1	02:00:00:00:00:01	sim-address1	0	16	131072	scrub	2026-11-19 23:13:03.354457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgbffyaasxvrzr719ntp	node_01m7v1bgbaevqtzx6jpn9wmsqb	2	h200	0000:12:00.0	GPU-fake-2	sim-vf2	sim-nvme2	02:00:00:00:00:02	sim-address2	0	16	131072	scrub	2026-11-19 23:13:03.357457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgbgeks8d0a5gv2vwtas	node_01m7v1bgbaevqtzx6jpn9wmsqb	3	h200	0000:13:00.0	GPU-fake-3	sim-vf3	sim-nvme3	02:00:00:00:00:03	sim-address3	0	16	131072	scrub	2026-11-19 23:13:03.360457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgbhff699qakdjj3t9tg	node_01m7v1bgbaevqtzx6jpn9wmsqb	4	h200	0000:14:00.0	GPU-fake-4	sim-vf4	sim-nvme4	02:00:00:00:00:04	sim-address4	1	16	131072	scrub	2026-11-19 23:13:03.363457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgbje63bvetv1qcjyqs7	node_01m7v1bgbaevqtzx6jpn9wmsqb	5	h200	0000:15:00.0	GPU-fake-5	sim-vf5	sim-nvme5	02:00:00:00:00:05	sim-address5	1	16	131072	scrub	2026-11-19 23:13:03.366457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgbke9svvx720tj270ge	node_01m7v1bgbaevqtzx6jpn9wmsqb	6	h200	0000:16:00.0	GPU-fake-6	sim-vf6	sim-nvme6	02:00:00:00:00:06	sim-address6	1	16	131072	scrub	2026-11-19 23:13:03.369457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bgbmfdssbqcfyvtvjb8e	node_01m7v1bgbaevqtzx6jpn9wmsqb	7	h200	0000:17:00.0	GPU-fake-7	sim-vf7	sim-nvme7	02:00:00:00:00:07	sim-address7	1	16	131072	scrub	2026-11-19 23:13:03.372457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		\N
slot_01m7v1bga5ff5vk8p1svwpqwzz	node_01m7v1bga2f5ha95qt53vgys8r	0	h200	0000:10:00.0	GPU-fake-0	sim-vf0	sim-nvme0	02:00:00:00:00:00	sim-address0	0	16	131072	scrub	2026-11-19 23:13:03.311457+00	user_01m7v1bg8pfkts4n8rtge4rg26	\N		2026-11-19 23:13:03.395457+00
\.


--
-- Data for Name: ssh_keys; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.ssh_keys (id, user_id, title, type, blob, fingerprint, created_at) FROM stdin;
key_01m7v1bg94eqtvc7j8rpd7ejg5	user_01m7v1bg8pfkts4n8rtge4rg26	laptop	ssh-ed25519	AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl	SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU	2026-11-19 23:13:03.267457+00
key_01m7v1bg9hfjd8ek8des3bjxhc	user_01m7v1bg97epnb6gt3wj382z4w	laptop	ssh-ed25519	AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl	SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU	2026-11-19 23:13:03.280457+00
key_01m7v1bg9ye0cr5av4n2pjx0v8	user_01m7v1bg9mfbytbq0pfyj2waw1	laptop	ssh-ed25519	AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl	SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU	2026-11-19 23:13:03.293457+00
\.


--
-- Data for Name: storage_attachments; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.storage_attachments (id, tenant_id, project_id, allocation_id, volume_id, write_policy, mount_path, access_mode, status, status_since, status_reason, version, operation_id, forced, observed_boot, observed_at, created_at, created_by) FROM stdin;
att_01m7v1bghwfhrv0z6ejm44k2c4	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	alloc_01m7v1bggsfsmr3xab4b06fkwf	vol_01m7v1bghcf5h9hnf01mm85hqc	single_writer	/data	read_write	attached	2026-11-19 23:13:03.608457+00	at /data	4	op_01m7v1bgkff7fthhycc5fznp30	f	2	2026-11-19 23:13:03.608457+00	2026-11-19 23:13:03.547457+00	user_01m7v1bg97epnb6gt3wj382z4w
\.


--
-- Data for Name: storage_backends; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.storage_backends (backend, title, durability, capabilities) FROM stdin;
shared	A folder that every node mounts	shared	{read_write,read_only,multi_writer,snapshots}
local	The disk of one node	node_bound	{read_write,read_only,multi_writer,snapshots,hard_quota}
\.


--
-- Data for Name: storage_conformance_runs; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.storage_conformance_runs (id, backend, node_id, requested_by, started_at, ended_at, passed, reason, checks) FROM stdin;
\.


--
-- Data for Name: stream_requests; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.stream_requests (id, node_id, allocation_id, kind, target, url, expires_at, sent_at) FROM stdin;
\.


--
-- Data for Name: task_logs; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.task_logs (operation_id, tenant_id, task_id, seq, at, line, id, xid, allocation_id) FROM stdin;
\.


--
-- Data for Name: tenant_members; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.tenant_members (tenant_id, user_id, role) FROM stdin;
ten_01m7v1bg8sefwbjhcvhdh8h8ra	user_01m7v1bg8pfkts4n8rtge4rg26	owner
ten_01m7v1bg98fhztmhjvmraspyq2	user_01m7v1bg97epnb6gt3wj382z4w	owner
ten_01m7v1bg9nfcqvgxf6x0xz5tb7	user_01m7v1bg9mfbytbq0pfyj2waw1	owner
\.


--
-- Data for Name: tenants; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.tenants (id, type, slug, created_at) FROM stdin;
ten_01m7v1bg8sefwbjhcvhdh8h8ra	personal	operator-e4rg26	2026-11-19 23:13:03.256457+00
ten_01m7v1bg98fhztmhjvmraspyq2	personal	ada-382z4w	2026-11-19 23:13:03.270457+00
ten_01m7v1bg9nfcqvgxf6x0xz5tb7	personal	bob-j2waw1	2026-11-19 23:13:03.283457+00
\.


--
-- Data for Name: terminal_tickets; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.terminal_tickets (hash, tenant_id, project_id, allocation_id, user_id, credential_id, terminal_id, recorded, created_at, expires_at, used_at) FROM stdin;
\.


--
-- Data for Name: terminals; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.terminals (id, tenant_id, project_id, allocation_id, node_id, boot, user_id, credential_id, source, recorded, recorded_bytes, created_at, opened_at, attached, closed_at, reason, exit_code, ended_at) FROM stdin;
\.


--
-- Data for Name: timeline_entries; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.timeline_entries (id, xid, tenant_id, project_id, subject_kind, subject_id, operation_id, phase, outcome, at, actor, note, evidence) FROM stdin;
1	792	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	enrolling	began	2026-11-19 23:13:03.297457+00	user_01m7v1bg8pfkts4n8rtge4rg26	token issued	{}
2	793	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	active	began	2026-11-19 23:13:03.300457+00	node_01m7v1bga2f5ha95qt53vgys8r	enrolled	{}
3	794	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	slot_approved	began	2026-11-19 23:13:03.311457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 0	{}
4	795	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	slot_approved	began	2026-11-19 23:13:03.314457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 1	{}
5	796	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	slot_approved	began	2026-11-19 23:13:03.317457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 2	{}
6	797	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	slot_approved	began	2026-11-19 23:13:03.320457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 3	{}
7	798	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	slot_approved	began	2026-11-19 23:13:03.323457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 4	{}
8	799	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	slot_approved	began	2026-11-19 23:13:03.326457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 5	{}
9	800	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	slot_approved	began	2026-11-19 23:13:03.329457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 6	{}
10	801	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	\N	slot_approved	began	2026-11-19 23:13:03.332457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 7	{}
11	803	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	enrolling	began	2026-11-19 23:13:03.337457+00	user_01m7v1bg8pfkts4n8rtge4rg26	token issued	{}
12	804	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	active	began	2026-11-19 23:13:03.340457+00	node_01m7v1bgbaevqtzx6jpn9wmsqb	enrolled	{}
13	805	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	slot_approved	began	2026-11-19 23:13:03.351457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 0	{}
14	806	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	slot_approved	began	2026-11-19 23:13:03.354457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 1	{}
15	807	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	slot_approved	began	2026-11-19 23:13:03.357457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 2	{}
16	808	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	slot_approved	began	2026-11-19 23:13:03.360457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 3	{}
17	809	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	slot_approved	began	2026-11-19 23:13:03.363457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 4	{}
18	810	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	slot_approved	began	2026-11-19 23:13:03.366457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 5	{}
19	811	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	slot_approved	began	2026-11-19 23:13:03.369457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 6	{}
20	812	\N	\N	node	node_01m7v1bgbaevqtzx6jpn9wmsqb	\N	slot_approved	began	2026-11-19 23:13:03.372457+00	user_01m7v1bg8pfkts4n8rtge4rg26	slot 7	{}
21	814	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	requested	began	2026-11-19 23:13:03.378457+00	user_01m7v1bg97epnb6gt3wj382z4w		{}
22	814	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	placed	began	2026-11-19 23:13:03.378457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"node": "node_01m7v1bga2f5ha95qt53vgys8r", "slots": ["slot_01m7v1bga5ff5vk8p1svwpqwzz"]}
23	815	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	provisioning	began	2026-11-19 23:13:03.382457+00	system		{}
24	817	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	preparing	began	2026-11-19 23:13:03.385457+00	node_01m7v1bga2f5ha95qt53vgys8r	making its disk	{}
25	818	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	failed	failed	2026-11-19 23:13:03.387457+00	system	the disk is full	{}
26	822	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	sessions_ended	began	2026-11-19 23:13:03.391457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
27	822	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	environment_removed	began	2026-11-19 23:13:03.392457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
28	822	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	cleaned	began	2026-11-19 23:13:03.393457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
29	823	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgcmf52875m1wkejg9ej	op_01m7v1bgcne5csg0sr552141sy	cleanup_blocked	failed	2026-11-19 23:13:03.395457+00	system	Still on the node: mounts.	{}
30	825	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdbfjgb97swee13dy7k	requested	began	2026-11-19 23:13:03.400457+00	user_01m7v1bg97epnb6gt3wj382z4w		{}
31	825	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdbfjgb97swee13dy7k	placed	began	2026-11-19 23:13:03.400457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"node": "node_01m7v1bga2f5ha95qt53vgys8r", "slots": ["slot_01m7v1bga6efm8na3ky5e6z01t"]}
32	826	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdbfjgb97swee13dy7k	provisioning	began	2026-11-19 23:13:03.405457+00	system		{}
33	828	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdbfjgb97swee13dy7k	preparing	began	2026-11-19 23:13:03.408457+00	node_01m7v1bga2f5ha95qt53vgys8r	making its disk	{}
34	828	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdbfjgb97swee13dy7k	booting	began	2026-11-19 23:13:03.409457+00	node_01m7v1bga2f5ha95qt53vgys8r	boot 1	{}
35	828	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdbfjgb97swee13dy7k	gpus_checked	began	2026-11-19 23:13:03.411457+00	node_01m7v1bga2f5ha95qt53vgys8r	1 simulated	{}
36	828	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdbfjgb97swee13dy7k	access_ready	began	2026-11-19 23:13:03.412457+00	node_01m7v1bga2f5ha95qt53vgys8r	reachable	{}
37	829	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdbfjgb97swee13dy7k	active	done	2026-11-19 23:13:03.415457+00	system	the machine is ready	{}
38	832	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	releasing	began	2026-11-19 23:13:03.420457+00	user_01m7v1bg97epnb6gt3wj382z4w	released on request	{}
39	835	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	sessions_ended	began	2026-11-19 23:13:03.426457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
40	835	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	environment_removed	began	2026-11-19 23:13:03.427457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
41	835	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	cleaned	began	2026-11-19 23:13:03.428457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
42	838	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	sessions_ended	began	2026-11-19 23:13:03.434457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
43	838	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	environment_removed	began	2026-11-19 23:13:03.435457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
44	838	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	cleaned	began	2026-11-19 23:13:03.436457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
45	841	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	sessions_ended	began	2026-11-19 23:13:03.442457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
46	841	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	environment_removed	began	2026-11-19 23:13:03.443457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
47	841	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	cleaned	began	2026-11-19 23:13:03.444457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
48	842	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgdae4sv6ytwabztdjm4	op_01m7v1bgdxfevrm3a71w5fwaqn	release_failed	failed	2026-11-19 23:13:03.447457+00	system	Still on the node: mounts.	{}
51	847	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgf0fazreax17eb9ht1j	provisioning	began	2026-11-19 23:13:03.458457+00	system		{}
52	849	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgf0fazreax17eb9ht1j	preparing	began	2026-11-19 23:13:03.461457+00	node_01m7v1bga2f5ha95qt53vgys8r	making its disk	{}
53	849	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgf0fazreax17eb9ht1j	booting	began	2026-11-19 23:13:03.462457+00	node_01m7v1bga2f5ha95qt53vgys8r	boot 1	{}
54	849	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgf0fazreax17eb9ht1j	gpus_checked	began	2026-11-19 23:13:03.464457+00	node_01m7v1bga2f5ha95qt53vgys8r	1 simulated	{}
55	849	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgf0fazreax17eb9ht1j	access_ready	began	2026-11-19 23:13:03.465457+00	node_01m7v1bga2f5ha95qt53vgys8r	reachable	{}
56	850	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgf0fazreax17eb9ht1j	active	done	2026-11-19 23:13:03.468457+00	system	the machine is ready	{}
58	856	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgfje6bvqjd1yc3jm5m2	sessions_ended	began	2026-11-19 23:13:03.479457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
59	856	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgfje6bvqjd1yc3jm5m2	environment_removed	began	2026-11-19 23:13:03.480457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
60	856	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgfje6bvqjd1yc3jm5m2	cleaned	began	2026-11-19 23:13:03.481457+00	node_01m7v1bga2f5ha95qt53vgys8r		{}
61	857	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgfje6bvqjd1yc3jm5m2	cleanup_proven	done	2026-11-19 23:13:03.484457+00	system		{"port": "looked for in memory", "files": "looked for in memory", "mounts": "looked for in memory", "network": "looked for in memory", "processes": "looked for in memory"}
62	857	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgfje6bvqjd1yc3jm5m2	released	done	2026-11-19 23:13:03.484457+00	system	nothing is left	{}
65	861	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	op_01m7v1bgg5fa7835ttpecrk9q3	provisioning	began	2026-11-19 23:13:03.495457+00	system		{}
66	863	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	op_01m7v1bgg5fa7835ttpecrk9q3	preparing	began	2026-11-19 23:13:03.498457+00	node_01m7v1bga2f5ha95qt53vgys8r	making its disk	{}
67	863	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	op_01m7v1bgg5fa7835ttpecrk9q3	booting	began	2026-11-19 23:13:03.499457+00	node_01m7v1bga2f5ha95qt53vgys8r	boot 1	{}
68	863	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	op_01m7v1bgg5fa7835ttpecrk9q3	gpus_checked	began	2026-11-19 23:13:03.501457+00	node_01m7v1bga2f5ha95qt53vgys8r	1 simulated	{}
69	863	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	op_01m7v1bgg5fa7835ttpecrk9q3	access_ready	began	2026-11-19 23:13:03.502457+00	node_01m7v1bga2f5ha95qt53vgys8r	reachable	{}
70	864	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	op_01m7v1bgg5fa7835ttpecrk9q3	active	done	2026-11-19 23:13:03.505457+00	system	the machine is ready	{}
73	868	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bggtercs92j2sfyt8d4f	provisioning	began	2026-11-19 23:13:03.516457+00	system		{}
74	870	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bggtercs92j2sfyt8d4f	preparing	began	2026-11-19 23:13:03.519457+00	node_01m7v1bga2f5ha95qt53vgys8r	making its disk	{}
75	870	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bggtercs92j2sfyt8d4f	booting	began	2026-11-19 23:13:03.520457+00	node_01m7v1bga2f5ha95qt53vgys8r	boot 1	{}
76	870	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bggtercs92j2sfyt8d4f	gpus_checked	began	2026-11-19 23:13:03.522457+00	node_01m7v1bga2f5ha95qt53vgys8r	1 simulated	{}
49	846	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgf0fazreax17eb9ht1j	requested	began	2026-11-19 23:13:03.453457+00	user_01m7v1bg97epnb6gt3wj382z4w		{}
50	846	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgf0fazreax17eb9ht1j	placed	began	2026-11-19 23:13:03.453457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"node": "node_01m7v1bga2f5ha95qt53vgys8r", "slots": ["slot_01m7v1bga7eb4rw1zyp7r5xqaw"]}
57	853	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgezfwmv1evedmtha9s4	op_01m7v1bgfje6bvqjd1yc3jm5m2	releasing	began	2026-11-19 23:13:03.473457+00	user_01m7v1bg97epnb6gt3wj382z4w	released on request	{}
63	860	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	op_01m7v1bgg5fa7835ttpecrk9q3	requested	began	2026-11-19 23:13:03.490457+00	user_01m7v1bg97epnb6gt3wj382z4w		{}
64	860	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgg4ftka2x2dmgf4m6ge	op_01m7v1bgg5fa7835ttpecrk9q3	placed	began	2026-11-19 23:13:03.490457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"node": "node_01m7v1bga2f5ha95qt53vgys8r", "slots": ["slot_01m7v1bga7eb4rw1zyp7r5xqaw"]}
71	867	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bggtercs92j2sfyt8d4f	requested	began	2026-11-19 23:13:03.511457+00	user_01m7v1bg97epnb6gt3wj382z4w		{}
72	867	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bggtercs92j2sfyt8d4f	placed	began	2026-11-19 23:13:03.511457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"node": "node_01m7v1bga2f5ha95qt53vgys8r", "slots": ["slot_01m7v1bga8ftgtmx8y3ac5dzj9"]}
79	874	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	volume	vol_01m7v1bghcf5h9hnf01mm85hqc	op_01m7v1bghdeexan4fsv9ep51zr	volume_creating	began	2026-11-19 23:13:03.531457+00	user_01m7v1bg97epnb6gt3wj382z4w		{}
82	881	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bghxegzrcs09r3k04tg4	volume_attaching	began	2026-11-19 23:13:03.547457+00	user_01m7v1bg97epnb6gt3wj382z4w	data	{"volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc", "mount_path": "/data", "attachment_id": "att_01m7v1bghwfhrv0z6ejm44k2c4"}
85	888	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	volume	vol_01m7v1bghcf5h9hnf01mm85hqc	op_01m7v1bgjffntt26zqqa78q1z3	snapshot_creating	began	2026-11-19 23:13:03.565457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"snapshot_id": "snap_01m7v1bgjeevvapr48t2zr8g8z"}
86	889	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgjkfd59cyac7frcczke	restarting	began	2026-11-19 23:13:03.570457+00	user_01m7v1bg97epnb6gt3wj382z4w	driver	{}
87	890	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	\N	access_active	done	2026-11-19 23:13:03.574457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"user": "user_01m7v1bg9mfbytbq0pfyj2waw1", "grant": "grant_01m7v1bgjqf50sbk2m1n2ykmnd", "fingerprint": "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"}
98	907	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgm1erhvtsek525cpn16	requested	began	2026-11-19 23:13:03.614457+00	user_01m7v1bg97epnb6gt3wj382z4w		{}
99	907	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgm1erhvtsek525cpn16	placed	began	2026-11-19 23:13:03.614457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"node": "node_01m7v1bga2f5ha95qt53vgys8r", "slots": ["slot_01m7v1bga9f1qvqd95jbpmcvt2"]}
106	914	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgmkejdbs1hrh3syka0e	releasing	began	2026-11-19 23:13:03.634457+00	user_01m7v1bg97epnb6gt3wj382z4w	released on request	{}
107	915	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgmse4rs34qp8ttw3kq3	op_01m7v1bgmtevwb6m4202j2jfcd	requested	began	2026-11-19 23:13:03.639457+00	user_01m7v1bg97epnb6gt3wj382z4w		{}
108	915	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgmse4rs34qp8ttw3kq3	op_01m7v1bgmtevwb6m4202j2jfcd	placed	began	2026-11-19 23:13:03.639457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"node": "node_01m7v1bga2f5ha95qt53vgys8r", "slots": ["slot_01m7v1bgaafyz8g3z4ypxmyqpy"]}
110	918	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgn5ff7rkaxtz7sn4g70	op_01m7v1bgn6fcsbf11edc1n931w	requested	began	2026-11-19 23:13:03.651457+00	user_01m7v1bg97epnb6gt3wj382z4w		{}
111	918	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgn5ff7rkaxtz7sn4g70	op_01m7v1bgn6fcsbf11edc1n931w	placed	began	2026-11-19 23:13:03.651457+00	user_01m7v1bg97epnb6gt3wj382z4w		{"node": "node_01m7v1bga2f5ha95qt53vgys8r", "slots": ["slot_01m7v1bgabf71byxzc3nspj9mt"]}
77	870	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bggtercs92j2sfyt8d4f	access_ready	began	2026-11-19 23:13:03.523457+00	node_01m7v1bga2f5ha95qt53vgys8r	reachable	{}
78	871	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bggtercs92j2sfyt8d4f	active	done	2026-11-19 23:13:03.526457+00	system	the machine is ready	{}
80	877	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	op_01m7v1bghdeexan4fsv9ep51zr	volume_preparing	began	2026-11-19 23:13:03.538457+00	node_01m7v1bga2f5ha95qt53vgys8r	making it	{}
81	878	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	volume	vol_01m7v1bghcf5h9hnf01mm85hqc	op_01m7v1bghdeexan4fsv9ep51zr	volume_available	done	2026-11-19 23:13:03.542457+00	system		{}
83	884	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bghxegzrcs09r3k04tg4	volume_mounting	began	2026-11-19 23:13:03.554457+00	node_01m7v1bga2f5ha95qt53vgys8r	at /data	{}
84	885	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bghxegzrcs09r3k04tg4	volume_attached	done	2026-11-19 23:13:03.557457+00	system	at /data	{"volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc", "mount_path": "/data", "attachment_id": "att_01m7v1bghwfhrv0z6ejm44k2c4"}
88	895	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgjkfd59cyac7frcczke	preparing	began	2026-11-19 23:13:03.586457+00	node_01m7v1bga2f5ha95qt53vgys8r	its disk is here	{}
89	895	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgjkfd59cyac7frcczke	booting	began	2026-11-19 23:13:03.587457+00	node_01m7v1bga2f5ha95qt53vgys8r	boot 2	{}
90	895	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgjkfd59cyac7frcczke	gpus_checked	began	2026-11-19 23:13:03.589457+00	node_01m7v1bga2f5ha95qt53vgys8r	1 simulated	{}
91	895	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgjkfd59cyac7frcczke	access_ready	began	2026-11-19 23:13:03.590457+00	node_01m7v1bga2f5ha95qt53vgys8r	reachable	{}
92	896	\N	\N	node	node_01m7v1bga2f5ha95qt53vgys8r	op_01m7v1bgjffntt26zqqa78q1z3	snapshot_copying	began	2026-11-19 23:13:03.593457+00	node_01m7v1bga2f5ha95qt53vgys8r	in memory	{}
93	897	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgjkfd59cyac7frcczke	active	done	2026-11-19 23:13:03.597457+00	system	the machine is ready	{}
94	898	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgkff7fthhycc5fznp30	volume_attaching	began	2026-11-19 23:13:03.598457+00	system	again, after boot 2	{"volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc", "mount_path": "/data", "attachment_id": "att_01m7v1bghwfhrv0z6ejm44k2c4"}
95	899	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	volume	vol_01m7v1bghcf5h9hnf01mm85hqc	op_01m7v1bgjffntt26zqqa78q1z3	snapshot_ready	done	2026-11-19 23:13:03.600457+00	system		{"snapshot_id": "snap_01m7v1bgjeevvapr48t2zr8g8z"}
96	903	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgkff7fthhycc5fznp30	volume_mounting	began	2026-11-19 23:13:03.605457+00	node_01m7v1bga2f5ha95qt53vgys8r	at /data	{}
97	904	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bggsfsmr3xab4b06fkwf	op_01m7v1bgkff7fthhycc5fznp30	volume_attached	done	2026-11-19 23:13:03.608457+00	system	at /data	{"volume_id": "vol_01m7v1bghcf5h9hnf01mm85hqc", "mount_path": "/data", "attachment_id": "att_01m7v1bghwfhrv0z6ejm44k2c4"}
100	908	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgm1erhvtsek525cpn16	provisioning	began	2026-11-19 23:13:03.619457+00	system		{}
101	910	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgm1erhvtsek525cpn16	preparing	began	2026-11-19 23:13:03.622457+00	node_01m7v1bga2f5ha95qt53vgys8r	making its disk	{}
102	910	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgm1erhvtsek525cpn16	booting	began	2026-11-19 23:13:03.623457+00	node_01m7v1bga2f5ha95qt53vgys8r	boot 1	{}
103	910	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgm1erhvtsek525cpn16	gpus_checked	began	2026-11-19 23:13:03.625457+00	node_01m7v1bga2f5ha95qt53vgys8r	1 simulated	{}
104	910	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgm1erhvtsek525cpn16	access_ready	began	2026-11-19 23:13:03.626457+00	node_01m7v1bga2f5ha95qt53vgys8r	reachable	{}
105	911	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgm0ewataazps4cw1s78	op_01m7v1bgm1erhvtsek525cpn16	active	done	2026-11-19 23:13:03.629457+00	system	the machine is ready	{}
109	917	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	allocation	alloc_01m7v1bgmse4rs34qp8ttw3kq3	op_01m7v1bgmtevwb6m4202j2jfcd	provisioning	began	2026-11-19 23:13:03.646457+00	system		{}
\.


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.tokens (id, token_hash, user_id, title, scopes, created_at, expires_at, revoked_at) FROM stdin;
tok_01m7v1bgjvefms43517hjvvvs6	\\x1e2eaebf35469a862627d0f1e6ba8ce32a0fcf54e906fe2b9008f4546fe1c036	user_01m7v1bg97epnb6gt3wj382z4w	ci	{read}	2026-11-19 23:13:03.578457+00	2026-12-19 23:13:03.578457+00	\N
\.


--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.users (id, email, platform_role, created_at) FROM stdin;
user_01m7v1bg8pfkts4n8rtge4rg26	operator@example.com	admin	2026-11-19 23:13:03.255457+00
user_01m7v1bg97epnb6gt3wj382z4w	ada@example.com	\N	2026-11-19 23:13:03.270457+00
user_01m7v1bg9mfbytbq0pfyj2waw1	bob@example.com	\N	2026-11-19 23:13:03.283457+00
\.


--
-- Data for Name: volume_snapshots; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.volume_snapshots (id, volume_id, tenant_id, project_id, name, status, status_since, status_reason, version, operation_id, size_bytes, consistency, created_at, created_by) FROM stdin;
snap_01m7v1bgjeevvapr48t2zr8g8z	vol_01m7v1bghcf5h9hnf01mm85hqc	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	monday	ready	2026-11-19 23:13:03.600457+00		2	op_01m7v1bgjffntt26zqqa78q1z3	0	crash-consistent: all of one moment	2026-11-19 23:13:03.565457+00	user_01m7v1bg97epnb6gt3wj382z4w
\.


--
-- Data for Name: volumes; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.volumes (id, tenant_id, project_id, name, size_gib, backend, write_policy, durability, node_id, status, status_since, status_reason, version, operation_id, protected, quota, used_bytes, used_at, snapshot_id, created_at, created_by, deleted_at, deletion_proofs) FROM stdin;
vol_01m7v1bghcf5h9hnf01mm85hqc	ten_01m7v1bg98fhztmhjvmraspyq2	proj_01m7v1bg99fy9sytb7ht86enty	data	1	shared	single_writer	shared	\N	available	2026-11-19 23:13:03.542457+00		2	op_01m7v1bghdeexan4fsv9ep51zr	f	measured	0	2026-11-19 23:13:03.539457+00	\N	2026-11-19 23:13:03.531457+00	user_01m7v1bg97epnb6gt3wj382z4w	\N	[]
\.


--
-- Data for Name: work; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.work (worker, row_id, token, until, next_at, attempts, last_error) FROM stdin;
\.


--
-- Data for Name: worker_switches; Type: TABLE DATA; Schema: public; Owner: gpuaas_owner
--

COPY public.worker_switches (worker, disabled_at, disabled_by, reason) FROM stdin;
\.


--
-- Name: audit_id_seq; Type: SEQUENCE SET; Schema: public; Owner: gpuaas_owner
--

SELECT pg_catalog.setval('public.audit_id_seq', 59, true);


--
-- Name: claims_id_seq; Type: SEQUENCE SET; Schema: public; Owner: gpuaas_owner
--

SELECT pg_catalog.setval('public.claims_id_seq', 8, true);


--
-- Name: link_epochs; Type: SEQUENCE SET; Schema: public; Owner: gpuaas_owner
--

SELECT pg_catalog.setval('public.link_epochs', 1, false);


--
-- Name: outbox_id_seq; Type: SEQUENCE SET; Schema: public; Owner: gpuaas_owner
--

SELECT pg_catalog.setval('public.outbox_id_seq', 9, true);


--
-- Name: recording_chunks_id_seq; Type: SEQUENCE SET; Schema: public; Owner: gpuaas_owner
--

SELECT pg_catalog.setval('public.recording_chunks_id_seq', 1, false);


--
-- Name: skus_key_seq; Type: SEQUENCE SET; Schema: public; Owner: gpuaas_owner
--

SELECT pg_catalog.setval('public.skus_key_seq', 2, true);


--
-- Name: task_logs_id_seq; Type: SEQUENCE SET; Schema: public; Owner: gpuaas_owner
--

SELECT pg_catalog.setval('public.task_logs_id_seq', 1, false);


--
-- Name: timeline_entries_id_seq; Type: SEQUENCE SET; Schema: public; Owner: gpuaas_owner
--

SELECT pg_catalog.setval('public.timeline_entries_id_seq', 111, true);


--
-- Name: access_grants access_grants_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.access_grants
    ADD CONSTRAINT access_grants_pkey PRIMARY KEY (id);


--
-- Name: activity activity_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.activity
    ADD CONSTRAINT activity_pkey PRIMARY KEY (allocation_id, kind);


--
-- Name: allocation_groups allocation_groups_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_groups
    ADD CONSTRAINT allocation_groups_pkey PRIMARY KEY (id);


--
-- Name: allocation_keys allocation_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_keys
    ADD CONSTRAINT allocation_keys_pkey PRIMARY KEY (allocation_id, ssh_key_id);


--
-- Name: allocation_keysets allocation_keysets_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_keysets
    ADD CONSTRAINT allocation_keysets_pkey PRIMARY KEY (allocation_id);


--
-- Name: allocation_runtimes allocation_runtimes_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_runtimes
    ADD CONSTRAINT allocation_runtimes_pkey PRIMARY KEY (allocation_id);


--
-- Name: allocation_sessions allocation_sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_sessions
    ADD CONSTRAINT allocation_sessions_pkey PRIMARY KEY (allocation_id);


--
-- Name: allocations allocations_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocations
    ADD CONSTRAINT allocations_pkey PRIMARY KEY (id);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);


--
-- Name: claims claims_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (id);


--
-- Name: cleanup_proofs cleanup_proofs_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.cleanup_proofs
    ADD CONSTRAINT cleanup_proofs_pkey PRIMARY KEY (allocation_id, item, at);


--
-- Name: enrolment_tokens enrolment_tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.enrolment_tokens
    ADD CONSTRAINT enrolment_tokens_pkey PRIMARY KEY (token_hash);


--
-- Name: health_findings health_findings_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.health_findings
    ADD CONSTRAINT health_findings_pkey PRIMARY KEY (allocation_id, source, code);


--
-- Name: holds holds_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (allocation_id, kind, ref);


--
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (caller, route, key);


--
-- Name: identities identities_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject);


--
-- Name: invitations invitations_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (id);


--
-- Name: links links_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (node_id);


--
-- Name: managed_runtime_bundles managed_runtime_bundles_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.managed_runtime_bundles
    ADD CONSTRAINT managed_runtime_bundles_pkey PRIMARY KEY (id);


--
-- Name: managed_runtime_bundles managed_runtime_bundles_slug_version_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.managed_runtime_bundles
    ADD CONSTRAINT managed_runtime_bundles_slug_version_key UNIQUE (slug, version);


--
-- Name: newest_samples newest_samples_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.newest_samples
    ADD CONSTRAINT newest_samples_pkey PRIMARY KEY (allocation_id);


--
-- Name: node_bundles node_bundles_node_id_bundle_id_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.node_bundles
    ADD CONSTRAINT node_bundles_node_id_bundle_id_key UNIQUE (node_id, bundle_id);


--
-- Name: node_bundles node_bundles_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.node_bundles
    ADD CONSTRAINT node_bundles_pkey PRIMARY KEY (id);


--
-- Name: node_tasks node_tasks_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.node_tasks
    ADD CONSTRAINT node_tasks_pkey PRIMARY KEY (id);


--
-- Name: nodes nodes_name_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_name_key UNIQUE (name);


--
-- Name: nodes nodes_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);


--
-- Name: operations operations_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (id);


--
-- Name: outbox outbox_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);


--
-- Name: platform platform_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.platform
    ADD CONSTRAINT platform_pkey PRIMARY KEY (key);


--
-- Name: prices prices_int4range_valid_excl; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.prices
    ADD CONSTRAINT prices_int4range_valid_excl EXCLUDE USING gist (int4range(sku_key, sku_key, '[]'::text) WITH &&, valid WITH &&);


--
-- Name: prices prices_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.prices
    ADD CONSTRAINT prices_pkey PRIMARY KEY (id);


--
-- Name: project_members project_members_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.project_members
    ADD CONSTRAINT project_members_pkey PRIMARY KEY (project_id, user_id);


--
-- Name: projects projects_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (id);


--
-- Name: projects projects_tenant_id_slug_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_tenant_id_slug_key UNIQUE (tenant_id, slug);


--
-- Name: rate_limits rate_limits_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (bucket);


--
-- Name: recording_chunks recording_chunks_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.recording_chunks
    ADD CONSTRAINT recording_chunks_pkey PRIMARY KEY (id);


--
-- Name: regions regions_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.regions
    ADD CONSTRAINT regions_pkey PRIMARY KEY (name);


--
-- Name: replicas replicas_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.replicas
    ADD CONSTRAINT replicas_pkey PRIMARY KEY (id);


--
-- Name: resizes resizes_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.resizes
    ADD CONSTRAINT resizes_pkey PRIMARY KEY (allocation_id);


--
-- Name: sample_minutes sample_minutes_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.sample_minutes
    ADD CONSTRAINT sample_minutes_pkey PRIMARY KEY (slot, allocation_id);


--
-- Name: samples samples_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.samples
    ADD CONSTRAINT samples_pkey PRIMARY KEY (slot, allocation_id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);


--
-- Name: session_ends session_ends_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.session_ends
    ADD CONSTRAINT session_ends_pkey PRIMARY KEY (allocation_id, session_id);


--
-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);


--
-- Name: sessions sessions_token_hash_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_hash_key UNIQUE (token_hash);


--
-- Name: sku_sizes sku_sizes_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.sku_sizes
    ADD CONSTRAINT sku_sizes_pkey PRIMARY KEY (sku, name);


--
-- Name: skus skus_key_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.skus
    ADD CONSTRAINT skus_key_key UNIQUE (key);


--
-- Name: skus skus_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.skus
    ADD CONSTRAINT skus_pkey PRIMARY KEY (sku);


--
-- Name: slots slots_node_id_address_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_node_id_address_key UNIQUE (node_id, address);


--
-- Name: slots slots_node_id_fabric_vf_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_node_id_fabric_vf_key UNIQUE (node_id, fabric_vf);


--
-- Name: slots slots_node_id_gpu_pci_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_node_id_gpu_pci_key UNIQUE (node_id, gpu_pci);


--
-- Name: slots slots_node_id_gpu_uuid_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_node_id_gpu_uuid_key UNIQUE (node_id, gpu_uuid);


--
-- Name: slots slots_node_id_index_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_node_id_index_key UNIQUE (node_id, index);


--
-- Name: slots slots_node_id_mac_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_node_id_mac_key UNIQUE (node_id, mac);


--
-- Name: slots slots_node_id_nvme_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_node_id_nvme_key UNIQUE (node_id, nvme);


--
-- Name: slots slots_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_pkey PRIMARY KEY (id);


--
-- Name: ssh_keys ssh_keys_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.ssh_keys
    ADD CONSTRAINT ssh_keys_pkey PRIMARY KEY (id);


--
-- Name: ssh_keys ssh_keys_user_id_fingerprint_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.ssh_keys
    ADD CONSTRAINT ssh_keys_user_id_fingerprint_key UNIQUE (user_id, fingerprint);


--
-- Name: storage_attachments storage_attachments_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_attachments
    ADD CONSTRAINT storage_attachments_pkey PRIMARY KEY (id);


--
-- Name: storage_backends storage_backends_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_backends
    ADD CONSTRAINT storage_backends_pkey PRIMARY KEY (backend);


--
-- Name: storage_conformance_runs storage_conformance_runs_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_conformance_runs
    ADD CONSTRAINT storage_conformance_runs_pkey PRIMARY KEY (id);


--
-- Name: stream_requests stream_requests_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.stream_requests
    ADD CONSTRAINT stream_requests_pkey PRIMARY KEY (id);


--
-- Name: task_logs task_logs_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.task_logs
    ADD CONSTRAINT task_logs_pkey PRIMARY KEY (task_id, seq);


--
-- Name: tenant_members tenant_members_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.tenant_members
    ADD CONSTRAINT tenant_members_pkey PRIMARY KEY (tenant_id, user_id);


--
-- Name: tenants tenants_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (id);


--
-- Name: tenants tenants_slug_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_slug_key UNIQUE (slug);


--
-- Name: terminal_tickets terminal_tickets_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminal_tickets
    ADD CONSTRAINT terminal_tickets_pkey PRIMARY KEY (hash);


--
-- Name: terminals terminals_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminals
    ADD CONSTRAINT terminals_pkey PRIMARY KEY (id);


--
-- Name: timeline_entries timeline_entries_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.timeline_entries
    ADD CONSTRAINT timeline_entries_pkey PRIMARY KEY (id);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: tokens tokens_token_hash_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_token_hash_key UNIQUE (token_hash);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);


--
-- Name: volume_snapshots volume_snapshots_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volume_snapshots
    ADD CONSTRAINT volume_snapshots_pkey PRIMARY KEY (id);


--
-- Name: volumes volumes_id_write_policy_key; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volumes
    ADD CONSTRAINT volumes_id_write_policy_key UNIQUE (id, write_policy);


--
-- Name: volumes volumes_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volumes
    ADD CONSTRAINT volumes_pkey PRIMARY KEY (id);


--
-- Name: work work_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.work
    ADD CONSTRAINT work_pkey PRIMARY KEY (worker, row_id);


--
-- Name: worker_switches worker_switches_pkey; Type: CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.worker_switches
    ADD CONSTRAINT worker_switches_pkey PRIMARY KEY (worker);


--
-- Name: access_grants_allocation; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX access_grants_allocation ON public.access_grants USING btree (allocation_id, id);


--
-- Name: access_grants_ending; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX access_grants_ending ON public.access_grants USING btree (expires_at) WHERE ((status = ANY (ARRAY['asked'::text, 'awaiting_key'::text, 'active'::text])) AND (expires_at IS NOT NULL));


--
-- Name: access_grants_key; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX access_grants_key ON public.access_grants USING btree (ssh_key_id) WHERE (ssh_key_id IS NOT NULL);


--
-- Name: access_grants_once; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX access_grants_once ON public.access_grants USING btree (allocation_id, user_id) WHERE (status = ANY (ARRAY['asked'::text, 'awaiting_key'::text, 'active'::text]));


--
-- Name: access_grants_project; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX access_grants_project ON public.access_grants USING btree (project_id, id);


--
-- Name: access_grants_user; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX access_grants_user ON public.access_grants USING btree (user_id) WHERE (status = ANY (ARRAY['asked'::text, 'awaiting_key'::text, 'active'::text]));


--
-- Name: allocation_keys_key; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX allocation_keys_key ON public.allocation_keys USING btree (ssh_key_id);


--
-- Name: allocation_keysets_due; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX allocation_keysets_due ON public.allocation_keysets USING btree (allocation_id) WHERE (generation > observed_generation);


--
-- Name: allocation_runtimes_bundle; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX allocation_runtimes_bundle ON public.allocation_runtimes USING btree (bundle_id);


--
-- Name: allocation_runtimes_unsettled; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX allocation_runtimes_unsettled ON public.allocation_runtimes USING btree (allocation_id) WHERE (state = ANY (ARRAY['applying'::text, 'clearing'::text]));


--
-- Name: allocations_group; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX allocations_group ON public.allocations USING btree (group_id) WHERE (group_id IS NOT NULL);


--
-- Name: allocations_limited; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX allocations_limited ON public.allocations USING btree (id) WHERE (((expires_at IS NOT NULL) OR (idle_minutes IS NOT NULL)) AND (status <> ALL (ARRAY['released'::text, 'failed'::text])));


--
-- Name: allocations_name; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX allocations_name ON public.allocations USING btree (project_id, name) WHERE (status <> ALL (ARRAY['released'::text, 'failed'::text]));


--
-- Name: allocations_on_node; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX allocations_on_node ON public.allocations USING btree (node_id) WHERE (cleanup_proven_at IS NULL);


--
-- Name: allocations_port; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX allocations_port ON public.allocations USING btree (node_id, port) WHERE ((port IS NOT NULL) AND (cleanup_proven_at IS NULL));


--
-- Name: allocations_project; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX allocations_project ON public.allocations USING btree (project_id, id);


--
-- Name: allocations_unsettled; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX allocations_unsettled ON public.allocations USING btree (id) WHERE ((status = ANY (ARRAY['requested'::text, 'provisioning'::text, 'restarting'::text, 'releasing'::text])) OR ((status = 'failed'::text) AND (cleanup_proven_at IS NULL)));


--
-- Name: audit_denials; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX audit_denials ON public.audit USING btree (actor, action, target_id, id) WHERE (result = 'denied'::text);


--
-- Name: audit_project; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX audit_project ON public.audit USING btree (project_id, id);


--
-- Name: claims_allocation; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX claims_allocation ON public.claims USING btree (allocation_id);


--
-- Name: claims_node_once; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX claims_node_once ON public.claims USING btree (node_id) WHERE ((kind = 'node_exclusive'::text) AND (released_at IS NULL));


--
-- Name: claims_slot_once; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX claims_slot_once ON public.claims USING btree (slot_id) WHERE (released_at IS NULL);


--
-- Name: idempotency_expiry; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX idempotency_expiry ON public.idempotency USING btree (expires_at);


--
-- Name: invitations_email; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX invitations_email ON public.invitations USING btree (lower(email)) WHERE ((accepted_at IS NULL) AND (withdrawn_at IS NULL));


--
-- Name: invitations_once; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX invitations_once ON public.invitations USING btree (project_id, lower(email)) WHERE ((accepted_at IS NULL) AND (withdrawn_at IS NULL));


--
-- Name: node_bundles_bundle; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX node_bundles_bundle ON public.node_bundles USING btree (bundle_id);


--
-- Name: node_bundles_unsettled; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX node_bundles_unsettled ON public.node_bundles USING btree (id) WHERE (status = ANY (ARRAY['staging'::text, 'removing'::text]));


--
-- Name: node_tasks_alone; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX node_tasks_alone ON public.node_tasks USING btree (lane, id) WHERE (allocation_id IS NULL);


--
-- Name: node_tasks_ended; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX node_tasks_ended ON public.node_tasks USING btree (ended_at) WHERE ((ended_at IS NOT NULL) AND (kind <> 'environment.remove'::text));


--
-- Name: node_tasks_lane; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX node_tasks_lane ON public.node_tasks USING btree (allocation_id, lane, seq);


--
-- Name: node_tasks_node_lane; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX node_tasks_node_lane ON public.node_tasks USING btree (node_id, lane) WHERE (allocation_id IS NULL);


--
-- Name: node_tasks_open; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX node_tasks_open ON public.node_tasks USING btree (node_id, id) WHERE (ended_at IS NULL);


--
-- Name: node_tasks_seq; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX node_tasks_seq ON public.node_tasks USING btree (allocation_id, seq);


--
-- Name: operations_project; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX operations_project ON public.operations USING btree (project_id, id);


--
-- Name: operations_subject; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX operations_subject ON public.operations USING btree (subject_id);


--
-- Name: outbox_waiting; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX outbox_waiting ON public.outbox USING btree (id) WHERE (delivered_at IS NULL);


--
-- Name: project_members_user; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX project_members_user ON public.project_members USING btree (user_id);


--
-- Name: recording_chunks_terminal; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX recording_chunks_terminal ON public.recording_chunks USING btree (terminal_id, first_byte, id);


--
-- Name: sessions_over; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX sessions_over ON public.sessions USING btree (LEAST(expires_at, revoked_at));


--
-- Name: sessions_user; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX sessions_user ON public.sessions USING btree (user_id);


--
-- Name: storage_attachments_allocation; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX storage_attachments_allocation ON public.storage_attachments USING btree (allocation_id, id);


--
-- Name: storage_attachments_live; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX storage_attachments_live ON public.storage_attachments USING btree (allocation_id) WHERE (status <> ALL (ARRAY['detached'::text, 'failed'::text]));


--
-- Name: storage_attachments_once; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX storage_attachments_once ON public.storage_attachments USING btree (allocation_id, volume_id) WHERE (status <> ALL (ARRAY['detached'::text, 'failed'::text]));


--
-- Name: storage_attachments_one_writer; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX storage_attachments_one_writer ON public.storage_attachments USING btree (volume_id) WHERE ((access_mode = 'read_write'::text) AND (write_policy = 'single_writer'::text) AND (status <> ALL (ARRAY['detached'::text, 'failed'::text])));


--
-- Name: storage_attachments_path; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX storage_attachments_path ON public.storage_attachments USING btree (allocation_id, mount_path) WHERE (status <> ALL (ARRAY['detached'::text, 'failed'::text]));


--
-- Name: storage_attachments_volume; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX storage_attachments_volume ON public.storage_attachments USING btree (volume_id);


--
-- Name: storage_conformance_newest; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX storage_conformance_newest ON public.storage_conformance_runs USING btree (backend, id);


--
-- Name: stream_requests_expiry; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX stream_requests_expiry ON public.stream_requests USING btree (expires_at);


--
-- Name: stream_requests_unsent; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX stream_requests_unsent ON public.stream_requests USING btree (node_id) WHERE (sent_at IS NULL);


--
-- Name: task_logs_allocation; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX task_logs_allocation ON public.task_logs USING btree (allocation_id, at, seq);


--
-- Name: task_logs_at; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX task_logs_at ON public.task_logs USING btree (at);


--
-- Name: task_logs_followed; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX task_logs_followed ON public.task_logs USING btree (operation_id, xid, id);


--
-- Name: task_logs_operation; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX task_logs_operation ON public.task_logs USING btree (operation_id, at, seq);


--
-- Name: tenant_members_user; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX tenant_members_user ON public.tenant_members USING btree (user_id);


--
-- Name: terminal_tickets_expiry; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX terminal_tickets_expiry ON public.terminal_tickets USING btree (expires_at);


--
-- Name: terminal_tickets_user; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX terminal_tickets_user ON public.terminal_tickets USING btree (user_id, created_at);


--
-- Name: terminals_allocation; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX terminals_allocation ON public.terminals USING btree (allocation_id, id);


--
-- Name: terminals_live; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX terminals_live ON public.terminals USING btree (id) WHERE (closed_at IS NULL);


--
-- Name: terminals_unended; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX terminals_unended ON public.terminals USING btree (node_id) WHERE (ended_at IS NULL);


--
-- Name: timeline_operation; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX timeline_operation ON public.timeline_entries USING btree (operation_id) WHERE (operation_id IS NOT NULL);


--
-- Name: timeline_project; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX timeline_project ON public.timeline_entries USING btree (project_id, xid, id);


--
-- Name: timeline_subject; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX timeline_subject ON public.timeline_entries USING btree (subject_id, id);


--
-- Name: tokens_over; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX tokens_over ON public.tokens USING btree (LEAST(expires_at, revoked_at));


--
-- Name: tokens_user; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX tokens_user ON public.tokens USING btree (user_id);


--
-- Name: users_email; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX users_email ON public.users USING btree (lower(email));


--
-- Name: volume_snapshots_name; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX volume_snapshots_name ON public.volume_snapshots USING btree (volume_id, name) WHERE (status <> 'deleted'::text);


--
-- Name: volume_snapshots_unsettled; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX volume_snapshots_unsettled ON public.volume_snapshots USING btree (id) WHERE (status = ANY (ARRAY['creating'::text, 'deleting'::text]));


--
-- Name: volumes_name; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE UNIQUE INDEX volumes_name ON public.volumes USING btree (project_id, name) WHERE (status <> 'deleted'::text);


--
-- Name: volumes_node; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX volumes_node ON public.volumes USING btree (node_id) WHERE ((node_id IS NOT NULL) AND (status <> 'deleted'::text));


--
-- Name: volumes_project; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX volumes_project ON public.volumes USING btree (project_id, id);


--
-- Name: volumes_unsettled; Type: INDEX; Schema: public; Owner: gpuaas_owner
--

CREATE INDEX volumes_unsettled ON public.volumes USING btree (id) WHERE (status = ANY (ARRAY['creating'::text, 'deleting'::text]));


--
-- Name: access_grants access_grants_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.access_grants
    ADD CONSTRAINT access_grants_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: access_grants access_grants_created_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.access_grants
    ADD CONSTRAINT access_grants_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);


--
-- Name: access_grants access_grants_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.access_grants
    ADD CONSTRAINT access_grants_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: access_grants access_grants_ssh_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.access_grants
    ADD CONSTRAINT access_grants_ssh_key_id_fkey FOREIGN KEY (ssh_key_id) REFERENCES public.ssh_keys(id) ON DELETE SET NULL;


--
-- Name: access_grants access_grants_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.access_grants
    ADD CONSTRAINT access_grants_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: access_grants access_grants_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.access_grants
    ADD CONSTRAINT access_grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- Name: activity activity_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.activity
    ADD CONSTRAINT activity_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: activity activity_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.activity
    ADD CONSTRAINT activity_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: allocation_groups allocation_groups_created_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_groups
    ADD CONSTRAINT allocation_groups_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);


--
-- Name: allocation_groups allocation_groups_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_groups
    ADD CONSTRAINT allocation_groups_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: allocation_groups allocation_groups_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_groups
    ADD CONSTRAINT allocation_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: allocation_keys allocation_keys_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_keys
    ADD CONSTRAINT allocation_keys_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: allocation_keys allocation_keys_ssh_key_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_keys
    ADD CONSTRAINT allocation_keys_ssh_key_id_fkey FOREIGN KEY (ssh_key_id) REFERENCES public.ssh_keys(id) ON DELETE CASCADE;


--
-- Name: allocation_keysets allocation_keysets_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_keysets
    ADD CONSTRAINT allocation_keysets_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: allocation_runtimes allocation_runtimes_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_runtimes
    ADD CONSTRAINT allocation_runtimes_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: allocation_runtimes allocation_runtimes_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_runtimes
    ADD CONSTRAINT allocation_runtimes_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.managed_runtime_bundles(id);


--
-- Name: allocation_runtimes allocation_runtimes_observed_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_runtimes
    ADD CONSTRAINT allocation_runtimes_observed_bundle_id_fkey FOREIGN KEY (observed_bundle_id) REFERENCES public.managed_runtime_bundles(id);


--
-- Name: allocation_runtimes allocation_runtimes_operation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_runtimes
    ADD CONSTRAINT allocation_runtimes_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES public.operations(id);


--
-- Name: allocation_runtimes allocation_runtimes_previous_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_runtimes
    ADD CONSTRAINT allocation_runtimes_previous_bundle_id_fkey FOREIGN KEY (previous_bundle_id) REFERENCES public.managed_runtime_bundles(id);


--
-- Name: allocation_runtimes allocation_runtimes_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_runtimes
    ADD CONSTRAINT allocation_runtimes_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: allocation_runtimes allocation_runtimes_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_runtimes
    ADD CONSTRAINT allocation_runtimes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: allocation_sessions allocation_sessions_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_sessions
    ADD CONSTRAINT allocation_sessions_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: allocation_sessions allocation_sessions_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocation_sessions
    ADD CONSTRAINT allocation_sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: allocations allocations_group_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocations
    ADD CONSTRAINT allocations_group_id_fkey FOREIGN KEY (group_id) REFERENCES public.allocation_groups(id);


--
-- Name: allocations allocations_holder_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocations
    ADD CONSTRAINT allocations_holder_id_fkey FOREIGN KEY (holder_id) REFERENCES public.users(id);


--
-- Name: allocations allocations_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocations
    ADD CONSTRAINT allocations_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: allocations allocations_price_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocations
    ADD CONSTRAINT allocations_price_id_fkey FOREIGN KEY (price_id) REFERENCES public.prices(id);


--
-- Name: allocations allocations_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocations
    ADD CONSTRAINT allocations_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: allocations allocations_requested_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocations
    ADD CONSTRAINT allocations_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES public.users(id);


--
-- Name: allocations allocations_sku_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocations
    ADD CONSTRAINT allocations_sku_fkey FOREIGN KEY (sku) REFERENCES public.skus(sku);


--
-- Name: allocations allocations_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.allocations
    ADD CONSTRAINT allocations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: claims claims_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: claims claims_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: claims claims_slot_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_slot_id_fkey FOREIGN KEY (slot_id) REFERENCES public.slots(id);


--
-- Name: cleanup_proofs cleanup_proofs_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.cleanup_proofs
    ADD CONSTRAINT cleanup_proofs_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: cleanup_proofs cleanup_proofs_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.cleanup_proofs
    ADD CONSTRAINT cleanup_proofs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: enrolment_tokens enrolment_tokens_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.enrolment_tokens
    ADD CONSTRAINT enrolment_tokens_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: health_findings health_findings_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.health_findings
    ADD CONSTRAINT health_findings_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: health_findings health_findings_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.health_findings
    ADD CONSTRAINT health_findings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: holds holds_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.holds
    ADD CONSTRAINT holds_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: identities identities_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- Name: invitations invitations_invited_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES public.users(id);


--
-- Name: invitations invitations_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: invitations invitations_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: links links_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: newest_samples newest_samples_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.newest_samples
    ADD CONSTRAINT newest_samples_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: newest_samples newest_samples_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.newest_samples
    ADD CONSTRAINT newest_samples_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: node_bundles node_bundles_bundle_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.node_bundles
    ADD CONSTRAINT node_bundles_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES public.managed_runtime_bundles(id);


--
-- Name: node_bundles node_bundles_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.node_bundles
    ADD CONSTRAINT node_bundles_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: node_bundles node_bundles_operation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.node_bundles
    ADD CONSTRAINT node_bundles_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES public.operations(id);


--
-- Name: node_tasks node_tasks_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.node_tasks
    ADD CONSTRAINT node_tasks_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: node_tasks node_tasks_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.node_tasks
    ADD CONSTRAINT node_tasks_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: node_tasks node_tasks_operation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.node_tasks
    ADD CONSTRAINT node_tasks_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES public.operations(id);


--
-- Name: nodes nodes_region_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_region_fkey FOREIGN KEY (region) REFERENCES public.regions(name);


--
-- Name: operations operations_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: prices prices_sku_key_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.prices
    ADD CONSTRAINT prices_sku_key_fkey FOREIGN KEY (sku_key) REFERENCES public.skus(key);


--
-- Name: project_members project_members_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.project_members
    ADD CONSTRAINT project_members_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: project_members project_members_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.project_members
    ADD CONSTRAINT project_members_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: project_members project_members_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.project_members
    ADD CONSTRAINT project_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- Name: projects projects_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: recording_chunks recording_chunks_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.recording_chunks
    ADD CONSTRAINT recording_chunks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: recording_chunks recording_chunks_terminal_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.recording_chunks
    ADD CONSTRAINT recording_chunks_terminal_id_fkey FOREIGN KEY (terminal_id) REFERENCES public.terminals(id);


--
-- Name: resizes resizes_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.resizes
    ADD CONSTRAINT resizes_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: resizes resizes_price_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.resizes
    ADD CONSTRAINT resizes_price_id_fkey FOREIGN KEY (price_id) REFERENCES public.prices(id);


--
-- Name: resizes resizes_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.resizes
    ADD CONSTRAINT resizes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: session_ends session_ends_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.session_ends
    ADD CONSTRAINT session_ends_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: session_ends session_ends_operation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.session_ends
    ADD CONSTRAINT session_ends_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES public.operations(id);


--
-- Name: session_ends session_ends_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.session_ends
    ADD CONSTRAINT session_ends_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: sessions sessions_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- Name: sku_sizes sku_sizes_sku_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.sku_sizes
    ADD CONSTRAINT sku_sizes_sku_fkey FOREIGN KEY (sku) REFERENCES public.skus(sku);


--
-- Name: slots slots_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: ssh_keys ssh_keys_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.ssh_keys
    ADD CONSTRAINT ssh_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- Name: storage_attachments storage_attachments_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_attachments
    ADD CONSTRAINT storage_attachments_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: storage_attachments storage_attachments_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_attachments
    ADD CONSTRAINT storage_attachments_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: storage_attachments storage_attachments_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_attachments
    ADD CONSTRAINT storage_attachments_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: storage_attachments storage_attachments_volume_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_attachments
    ADD CONSTRAINT storage_attachments_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES public.volumes(id);


--
-- Name: storage_attachments storage_attachments_volume_id_write_policy_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_attachments
    ADD CONSTRAINT storage_attachments_volume_id_write_policy_fkey FOREIGN KEY (volume_id, write_policy) REFERENCES public.volumes(id, write_policy);


--
-- Name: storage_conformance_runs storage_conformance_runs_backend_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_conformance_runs
    ADD CONSTRAINT storage_conformance_runs_backend_fkey FOREIGN KEY (backend) REFERENCES public.storage_backends(backend);


--
-- Name: storage_conformance_runs storage_conformance_runs_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.storage_conformance_runs
    ADD CONSTRAINT storage_conformance_runs_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: stream_requests stream_requests_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.stream_requests
    ADD CONSTRAINT stream_requests_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: stream_requests stream_requests_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.stream_requests
    ADD CONSTRAINT stream_requests_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: task_logs task_logs_operation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.task_logs
    ADD CONSTRAINT task_logs_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES public.operations(id);


--
-- Name: tenant_members tenant_members_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.tenant_members
    ADD CONSTRAINT tenant_members_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: tenant_members tenant_members_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.tenant_members
    ADD CONSTRAINT tenant_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- Name: terminal_tickets terminal_tickets_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminal_tickets
    ADD CONSTRAINT terminal_tickets_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: terminal_tickets terminal_tickets_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminal_tickets
    ADD CONSTRAINT terminal_tickets_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: terminal_tickets terminal_tickets_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminal_tickets
    ADD CONSTRAINT terminal_tickets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: terminal_tickets terminal_tickets_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminal_tickets
    ADD CONSTRAINT terminal_tickets_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- Name: terminals terminals_allocation_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminals
    ADD CONSTRAINT terminals_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES public.allocations(id);


--
-- Name: terminals terminals_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminals
    ADD CONSTRAINT terminals_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: terminals terminals_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminals
    ADD CONSTRAINT terminals_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: terminals terminals_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminals
    ADD CONSTRAINT terminals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: terminals terminals_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.terminals
    ADD CONSTRAINT terminals_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- Name: tokens tokens_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- Name: volume_snapshots volume_snapshots_created_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volume_snapshots
    ADD CONSTRAINT volume_snapshots_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);


--
-- Name: volume_snapshots volume_snapshots_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volume_snapshots
    ADD CONSTRAINT volume_snapshots_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: volume_snapshots volume_snapshots_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volume_snapshots
    ADD CONSTRAINT volume_snapshots_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: volume_snapshots volume_snapshots_volume_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volume_snapshots
    ADD CONSTRAINT volume_snapshots_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES public.volumes(id);


--
-- Name: volumes volumes_backend_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volumes
    ADD CONSTRAINT volumes_backend_fkey FOREIGN KEY (backend) REFERENCES public.storage_backends(backend);


--
-- Name: volumes volumes_created_by_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volumes
    ADD CONSTRAINT volumes_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);


--
-- Name: volumes volumes_node_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volumes
    ADD CONSTRAINT volumes_node_id_fkey FOREIGN KEY (node_id) REFERENCES public.nodes(id);


--
-- Name: volumes volumes_project_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volumes
    ADD CONSTRAINT volumes_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(id);


--
-- Name: volumes volumes_snapshot_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volumes
    ADD CONSTRAINT volumes_snapshot_id_fkey FOREIGN KEY (snapshot_id) REFERENCES public.volume_snapshots(id);


--
-- Name: volumes volumes_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE ONLY public.volumes
    ADD CONSTRAINT volumes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(id);


--
-- Name: access_grants; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.access_grants ENABLE ROW LEVEL SECURITY;

--
-- Name: activity; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.activity ENABLE ROW LEVEL SECURITY;

--
-- Name: allocation_groups; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.allocation_groups ENABLE ROW LEVEL SECURITY;

--
-- Name: allocation_keys; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.allocation_keys ENABLE ROW LEVEL SECURITY;

--
-- Name: allocation_keysets; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.allocation_keysets ENABLE ROW LEVEL SECURITY;

--
-- Name: allocation_runtimes; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.allocation_runtimes ENABLE ROW LEVEL SECURITY;

--
-- Name: allocation_sessions; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.allocation_sessions ENABLE ROW LEVEL SECURITY;

--
-- Name: allocations; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.allocations ENABLE ROW LEVEL SECURITY;

--
-- Name: audit; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.audit ENABLE ROW LEVEL SECURITY;

--
-- Name: claims; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.claims ENABLE ROW LEVEL SECURITY;

--
-- Name: cleanup_proofs; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.cleanup_proofs ENABLE ROW LEVEL SECURITY;

--
-- Name: enrolment_tokens; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.enrolment_tokens ENABLE ROW LEVEL SECURITY;

--
-- Name: health_findings; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.health_findings ENABLE ROW LEVEL SECURITY;

--
-- Name: holds hold; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY hold ON public.holds FOR INSERT TO gpuaas_api WITH CHECK ((allocation_id IN ( SELECT allocations.id
   FROM public.allocations)));


--
-- Name: holds; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.holds ENABLE ROW LEVEL SECURITY;

--
-- Name: holds holds; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY holds ON public.holds FOR SELECT TO gpuaas_api USING ((allocation_id IN ( SELECT allocations.id
   FROM public.allocations)));


--
-- Name: idempotency; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.idempotency ENABLE ROW LEVEL SECURITY;

--
-- Name: identities; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.identities ENABLE ROW LEVEL SECURITY;

--
-- Name: invitations; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.invitations ENABLE ROW LEVEL SECURITY;

--
-- Name: links; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.links ENABLE ROW LEVEL SECURITY;

--
-- Name: managed_runtime_bundles; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.managed_runtime_bundles ENABLE ROW LEVEL SECURITY;

--
-- Name: users mates; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY mates ON public.users FOR SELECT TO gpuaas_api USING ((EXISTS ( SELECT
   FROM public.tenant_members m
  WHERE ((m.user_id = users.id) AND (m.tenant_id = ANY (public.fence_tenants()))))));


--
-- Name: newest_samples; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.newest_samples ENABLE ROW LEVEL SECURITY;

--
-- Name: node_bundles; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.node_bundles ENABLE ROW LEVEL SECURITY;

--
-- Name: node_tasks; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.node_tasks ENABLE ROW LEVEL SECURITY;

--
-- Name: nodes; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.nodes ENABLE ROW LEVEL SECURITY;

--
-- Name: operations; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.operations ENABLE ROW LEVEL SECURITY;

--
-- Name: access_grants operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.access_grants TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: activity operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.activity TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: allocation_groups operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.allocation_groups TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: allocation_keys operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.allocation_keys TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: allocation_keysets operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.allocation_keysets TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: allocation_runtimes operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.allocation_runtimes TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: allocation_sessions operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.allocation_sessions TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: allocations operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.allocations TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: audit operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.audit TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: claims operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.claims TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: cleanup_proofs operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.cleanup_proofs TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: enrolment_tokens operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.enrolment_tokens TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: health_findings operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.health_findings TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: holds operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.holds TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: invitations operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.invitations TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: links operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.links TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: managed_runtime_bundles operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.managed_runtime_bundles TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: newest_samples operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.newest_samples TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: node_bundles operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.node_bundles TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: node_tasks operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.node_tasks TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: nodes operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.nodes TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: operations operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.operations TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: outbox operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.outbox TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: prices operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.prices TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: regions operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.regions TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: replicas operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.replicas TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: resizes operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.resizes FOR SELECT TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: sample_minutes operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.sample_minutes TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: samples operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.samples TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: session_ends operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.session_ends TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: sku_sizes operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.sku_sizes TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: skus operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.skus TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: slots operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.slots TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: storage_attachments operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.storage_attachments TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: storage_backends operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.storage_backends TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: storage_conformance_runs operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.storage_conformance_runs TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: task_logs operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.task_logs TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: terminals operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.terminals TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: timeline_entries operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.timeline_entries TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: users operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.users TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: volume_snapshots operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.volume_snapshots TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: volumes operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.volumes TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: work operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.work TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: worker_switches operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY operator ON public.worker_switches TO gpuaas_operator USING (public.fence_is_operator());


--
-- Name: outbox; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.outbox ENABLE ROW LEVEL SECURITY;

--
-- Name: outbox outbox; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY outbox ON public.outbox FOR INSERT TO gpuaas_api WITH CHECK ((public.fence_user() <> ''::text));


--
-- Name: audit own; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY own ON public.audit FOR INSERT TO gpuaas_api WITH CHECK (((actor = public.fence_user()) AND ((tenant_id IS NULL) OR (tenant_id = ANY (public.fence_tenants())))));


--
-- Name: idempotency own; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY own ON public.idempotency TO gpuaas_api USING ((caller = public.fence_user()));


--
-- Name: invitations own; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY own ON public.invitations FOR SELECT TO gpuaas_api USING ((lower(email) = ( SELECT lower(u.email) AS lower
   FROM public.users u
  WHERE (u.id = public.fence_user()))));


--
-- Name: sessions own; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY own ON public.sessions TO gpuaas_api USING ((user_id = public.fence_user()));


--
-- Name: ssh_keys own; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY own ON public.ssh_keys TO gpuaas_api USING ((user_id = public.fence_user()));


--
-- Name: terminal_tickets own; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY own ON public.terminal_tickets TO gpuaas_api USING (((user_id = public.fence_user()) AND (tenant_id = ANY (public.fence_tenants()))));


--
-- Name: tokens own; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY own ON public.tokens TO gpuaas_api USING ((user_id = public.fence_user()));


--
-- Name: users own; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY own ON public.users TO gpuaas_api USING ((id = public.fence_user()));


--
-- Name: idempotency own_operator; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY own_operator ON public.idempotency TO gpuaas_operator USING ((caller = public.fence_user()));


--
-- Name: platform; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.platform ENABLE ROW LEVEL SECURITY;

--
-- Name: prices; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.prices ENABLE ROW LEVEL SECURITY;

--
-- Name: project_members; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.project_members ENABLE ROW LEVEL SECURITY;

--
-- Name: projects; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.projects ENABLE ROW LEVEL SECURITY;

--
-- Name: rate_limits; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.rate_limits ENABLE ROW LEVEL SECURITY;

--
-- Name: recording_chunks; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.recording_chunks ENABLE ROW LEVEL SECURITY;

--
-- Name: regions; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.regions ENABLE ROW LEVEL SECURITY;

--
-- Name: replicas; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.replicas ENABLE ROW LEVEL SECURITY;

--
-- Name: resizes; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.resizes ENABLE ROW LEVEL SECURITY;

--
-- Name: sample_minutes; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.sample_minutes ENABLE ROW LEVEL SECURITY;

--
-- Name: samples; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.samples ENABLE ROW LEVEL SECURITY;

--
-- Name: session_ends; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.session_ends ENABLE ROW LEVEL SECURITY;

--
-- Name: sessions; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.sessions ENABLE ROW LEVEL SECURITY;

--
-- Name: managed_runtime_bundles signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.managed_runtime_bundles FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: node_bundles signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.node_bundles FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: nodes signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.nodes FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: prices signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.prices FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: regions signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.regions FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: sku_sizes signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.sku_sizes FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: skus signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.skus FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: slots signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.slots FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: storage_backends signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.storage_backends FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: storage_conformance_runs signed_in; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY signed_in ON public.storage_conformance_runs FOR SELECT TO gpuaas_api USING ((public.fence_user() <> ''::text));


--
-- Name: sku_sizes; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.sku_sizes ENABLE ROW LEVEL SECURITY;

--
-- Name: skus; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.skus ENABLE ROW LEVEL SECURITY;

--
-- Name: slots; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.slots ENABLE ROW LEVEL SECURITY;

--
-- Name: ssh_keys; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.ssh_keys ENABLE ROW LEVEL SECURITY;

--
-- Name: storage_attachments; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.storage_attachments ENABLE ROW LEVEL SECURITY;

--
-- Name: storage_backends; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.storage_backends ENABLE ROW LEVEL SECURITY;

--
-- Name: storage_conformance_runs; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.storage_conformance_runs ENABLE ROW LEVEL SECURITY;

--
-- Name: stream_requests; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.stream_requests ENABLE ROW LEVEL SECURITY;

--
-- Name: task_logs; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.task_logs ENABLE ROW LEVEL SECURITY;

--
-- Name: access_grants tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.access_grants TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: activity tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.activity TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: allocation_groups tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.allocation_groups TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: allocation_keys tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.allocation_keys TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: allocation_keysets tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.allocation_keysets TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: allocation_runtimes tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.allocation_runtimes TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: allocation_sessions tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.allocation_sessions TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: allocations tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.allocations TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: audit tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.audit FOR SELECT TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: claims tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.claims TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: cleanup_proofs tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.cleanup_proofs TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: health_findings tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.health_findings TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: invitations tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.invitations TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: newest_samples tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.newest_samples TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: operations tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.operations TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: project_members tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.project_members TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: projects tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.projects TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: recording_chunks tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.recording_chunks TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: resizes tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.resizes TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: sample_minutes tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.sample_minutes TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: samples tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.samples TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: session_ends tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.session_ends TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: storage_attachments tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.storage_attachments TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: task_logs tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.task_logs TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: tenant_members tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.tenant_members TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: tenants tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.tenants TO gpuaas_api USING ((id = ANY (public.fence_tenants())));


--
-- Name: terminals tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.terminals TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: timeline_entries tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.timeline_entries TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: volume_snapshots tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.volume_snapshots TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: volumes tenant; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY tenant ON public.volumes TO gpuaas_api USING ((tenant_id = ANY (public.fence_tenants())));


--
-- Name: tenant_members; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.tenant_members ENABLE ROW LEVEL SECURITY;

--
-- Name: tenants; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;

--
-- Name: terminal_tickets; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.terminal_tickets ENABLE ROW LEVEL SECURITY;

--
-- Name: terminals; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.terminals ENABLE ROW LEVEL SECURITY;

--
-- Name: timeline_entries; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.timeline_entries ENABLE ROW LEVEL SECURITY;

--
-- Name: tokens; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.tokens ENABLE ROW LEVEL SECURITY;

--
-- Name: users; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.users ENABLE ROW LEVEL SECURITY;

--
-- Name: volume_snapshots; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.volume_snapshots ENABLE ROW LEVEL SECURITY;

--
-- Name: volumes; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.volumes ENABLE ROW LEVEL SECURITY;

--
-- Name: work; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.work ENABLE ROW LEVEL SECURITY;

--
-- Name: access_grants worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.access_grants TO gpuaas_worker USING (true);


--
-- Name: activity worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.activity TO gpuaas_worker USING (true);


--
-- Name: allocation_groups worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.allocation_groups TO gpuaas_worker USING (true);


--
-- Name: allocation_keys worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.allocation_keys TO gpuaas_worker USING (true);


--
-- Name: allocation_keysets worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.allocation_keysets TO gpuaas_worker USING (true);


--
-- Name: allocation_runtimes worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.allocation_runtimes TO gpuaas_worker USING (true);


--
-- Name: allocation_sessions worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.allocation_sessions TO gpuaas_worker USING (true);


--
-- Name: allocations worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.allocations TO gpuaas_worker USING (true);


--
-- Name: audit worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.audit TO gpuaas_worker USING (true);


--
-- Name: claims worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.claims TO gpuaas_worker USING (true);


--
-- Name: cleanup_proofs worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.cleanup_proofs TO gpuaas_worker USING (true);


--
-- Name: enrolment_tokens worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.enrolment_tokens TO gpuaas_worker USING (true);


--
-- Name: health_findings worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.health_findings TO gpuaas_worker USING (true);


--
-- Name: holds worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.holds TO gpuaas_worker USING (true);


--
-- Name: idempotency worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.idempotency TO gpuaas_worker USING (true);


--
-- Name: identities worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.identities TO gpuaas_worker USING (true);


--
-- Name: invitations worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.invitations TO gpuaas_worker USING (true);


--
-- Name: links worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.links TO gpuaas_worker USING (true);


--
-- Name: managed_runtime_bundles worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.managed_runtime_bundles TO gpuaas_worker USING (true);


--
-- Name: newest_samples worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.newest_samples TO gpuaas_worker USING (true);


--
-- Name: node_bundles worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.node_bundles TO gpuaas_worker USING (true);


--
-- Name: node_tasks worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.node_tasks TO gpuaas_worker USING (true);


--
-- Name: nodes worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.nodes TO gpuaas_worker USING (true);


--
-- Name: operations worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.operations TO gpuaas_worker USING (true);


--
-- Name: outbox worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.outbox TO gpuaas_worker USING (true);


--
-- Name: platform worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.platform TO gpuaas_worker USING (true);


--
-- Name: prices worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.prices TO gpuaas_worker USING (true);


--
-- Name: project_members worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.project_members TO gpuaas_worker USING (true);


--
-- Name: projects worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.projects TO gpuaas_worker USING (true);


--
-- Name: rate_limits worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.rate_limits TO gpuaas_worker USING (true);


--
-- Name: recording_chunks worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.recording_chunks TO gpuaas_worker USING (true);


--
-- Name: regions worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.regions TO gpuaas_worker USING (true);


--
-- Name: replicas worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.replicas TO gpuaas_worker USING (true);


--
-- Name: resizes worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.resizes TO gpuaas_worker USING (true);


--
-- Name: sample_minutes worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.sample_minutes TO gpuaas_worker USING (true);


--
-- Name: samples worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.samples TO gpuaas_worker USING (true);


--
-- Name: session_ends worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.session_ends TO gpuaas_worker USING (true);


--
-- Name: sessions worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.sessions TO gpuaas_worker USING (true);


--
-- Name: sku_sizes worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.sku_sizes TO gpuaas_worker USING (true);


--
-- Name: skus worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.skus TO gpuaas_worker USING (true);


--
-- Name: slots worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.slots TO gpuaas_worker USING (true);


--
-- Name: ssh_keys worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.ssh_keys TO gpuaas_worker USING (true);


--
-- Name: storage_attachments worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.storage_attachments TO gpuaas_worker USING (true);


--
-- Name: storage_backends worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.storage_backends TO gpuaas_worker USING (true);


--
-- Name: storage_conformance_runs worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.storage_conformance_runs TO gpuaas_worker USING (true);


--
-- Name: stream_requests worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.stream_requests TO gpuaas_worker USING (true);


--
-- Name: task_logs worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.task_logs TO gpuaas_worker USING (true);


--
-- Name: tenant_members worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.tenant_members TO gpuaas_worker USING (true);


--
-- Name: tenants worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.tenants TO gpuaas_worker USING (true);


--
-- Name: terminal_tickets worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.terminal_tickets TO gpuaas_worker USING (true);


--
-- Name: terminals worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.terminals TO gpuaas_worker USING (true);


--
-- Name: timeline_entries worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.timeline_entries TO gpuaas_worker USING (true);


--
-- Name: tokens worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.tokens TO gpuaas_worker USING (true);


--
-- Name: users worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.users TO gpuaas_worker USING (true);


--
-- Name: volume_snapshots worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.volume_snapshots TO gpuaas_worker USING (true);


--
-- Name: volumes worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.volumes TO gpuaas_worker USING (true);


--
-- Name: work worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.work TO gpuaas_worker USING (true);


--
-- Name: worker_switches worker; Type: POLICY; Schema: public; Owner: gpuaas_owner
--

CREATE POLICY worker ON public.worker_switches TO gpuaas_worker USING (true);


--
-- Name: worker_switches; Type: ROW SECURITY; Schema: public; Owner: gpuaas_owner
--

ALTER TABLE public.worker_switches ENABLE ROW LEVEL SECURITY;

--
-- Name: SCHEMA public; Type: ACL; Schema: -; Owner: pg_database_owner
--

GRANT ALL ON SCHEMA public TO gpuaas_owner;
GRANT USAGE ON SCHEMA public TO gpuaas_api;
GRANT USAGE ON SCHEMA public TO gpuaas_operator;
GRANT USAGE ON SCHEMA public TO gpuaas_worker;


--
-- Name: TABLE invitations; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.invitations TO gpuaas_worker;
GRANT SELECT ON TABLE public.invitations TO gpuaas_operator;
GRANT SELECT,INSERT ON TABLE public.invitations TO gpuaas_api;


--
-- Name: COLUMN invitations.role; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(role) ON TABLE public.invitations TO gpuaas_api;


--
-- Name: COLUMN invitations.invited_by; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(invited_by) ON TABLE public.invitations TO gpuaas_api;


--
-- Name: COLUMN invitations.expires_at; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(expires_at) ON TABLE public.invitations TO gpuaas_api;


--
-- Name: COLUMN invitations.withdrawn_at; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(withdrawn_at) ON TABLE public.invitations TO gpuaas_api;


--
-- Name: COLUMN invitations.invited_by_email; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(invited_by_email) ON TABLE public.invitations TO gpuaas_api;


--
-- Name: FUNCTION answer_invitation(invitation text, accepts boolean, at timestamp with time zone); Type: ACL; Schema: public; Owner: gpuaas_owner
--

REVOKE ALL ON FUNCTION public.answer_invitation(invitation text, accepts boolean, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.answer_invitation(invitation text, accepts boolean, at timestamp with time zone) TO gpuaas_api;


--
-- Name: FUNCTION claimable(node text, wanted text[], family text, whole boolean); Type: ACL; Schema: public; Owner: gpuaas_owner
--

REVOKE ALL ON FUNCTION public.claimable(node text, wanted text[], family text, whole boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.claimable(node text, wanted text[], family text, whole boolean) TO gpuaas_api;
GRANT ALL ON FUNCTION public.claimable(node text, wanted text[], family text, whole boolean) TO gpuaas_worker;


--
-- Name: FUNCTION enter(hash bytea); Type: ACL; Schema: public; Owner: gpuaas_owner
--

REVOKE ALL ON FUNCTION public.enter(hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.enter(hash bytea) TO gpuaas_api;
GRANT ALL ON FUNCTION public.enter(hash bytea) TO gpuaas_operator;


--
-- Name: FUNCTION kept_answer(caller_id text, asked_route text, asked_key text); Type: ACL; Schema: public; Owner: gpuaas
--

REVOKE ALL ON FUNCTION public.kept_answer(caller_id text, asked_route text, asked_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.kept_answer(caller_id text, asked_route text, asked_key text) TO gpuaas_api;
GRANT ALL ON FUNCTION public.kept_answer(caller_id text, asked_route text, asked_key text) TO gpuaas_operator;
GRANT ALL ON FUNCTION public.kept_answer(caller_id text, asked_route text, asked_key text) TO gpuaas_worker;


--
-- Name: FUNCTION key_fingerprint(key text, person text); Type: ACL; Schema: public; Owner: gpuaas_owner
--

REVOKE ALL ON FUNCTION public.key_fingerprint(key text, person text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.key_fingerprint(key text, person text) TO gpuaas_api;
GRANT ALL ON FUNCTION public.key_fingerprint(key text, person text) TO gpuaas_worker;


--
-- Name: FUNCTION render_keyset(allocation text); Type: ACL; Schema: public; Owner: gpuaas_owner
--

REVOKE ALL ON FUNCTION public.render_keyset(allocation text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.render_keyset(allocation text) TO gpuaas_api;
GRANT ALL ON FUNCTION public.render_keyset(allocation text) TO gpuaas_worker;


--
-- Name: FUNCTION runtime_facts(node text); Type: ACL; Schema: public; Owner: gpuaas_owner
--

REVOKE ALL ON FUNCTION public.runtime_facts(node text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.runtime_facts(node text) TO gpuaas_api;
GRANT ALL ON FUNCTION public.runtime_facts(node text) TO gpuaas_operator;
GRANT ALL ON FUNCTION public.runtime_facts(node text) TO gpuaas_worker;


--
-- Name: FUNCTION terminal_objection(allocation text, at_boot integer, person text, credential text); Type: ACL; Schema: public; Owner: gpuaas_owner
--

REVOKE ALL ON FUNCTION public.terminal_objection(allocation text, at_boot integer, person text, credential text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.terminal_objection(allocation text, at_boot integer, person text, credential text) TO gpuaas_worker;
GRANT ALL ON FUNCTION public.terminal_objection(allocation text, at_boot integer, person text, credential text) TO gpuaas_operator;


--
-- Name: TABLE access_grants; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.access_grants TO gpuaas_worker;
GRANT SELECT ON TABLE public.access_grants TO gpuaas_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE public.access_grants TO gpuaas_api;


--
-- Name: TABLE activity; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,UPDATE ON TABLE public.activity TO gpuaas_api;
GRANT SELECT ON TABLE public.activity TO gpuaas_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.activity TO gpuaas_worker;


--
-- Name: TABLE allocation_groups; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.allocation_groups TO gpuaas_worker;
GRANT SELECT,INSERT ON TABLE public.allocation_groups TO gpuaas_api;
GRANT SELECT ON TABLE public.allocation_groups TO gpuaas_operator;


--
-- Name: TABLE allocation_keys; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.allocation_keys TO gpuaas_worker;
GRANT SELECT,INSERT,DELETE ON TABLE public.allocation_keys TO gpuaas_api;
GRANT SELECT ON TABLE public.allocation_keys TO gpuaas_operator;


--
-- Name: TABLE allocation_keysets; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.allocation_keysets TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.allocation_keysets TO gpuaas_api;


--
-- Name: COLUMN allocation_keysets.allocation_id; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(allocation_id) ON TABLE public.allocation_keysets TO gpuaas_operator;


--
-- Name: COLUMN allocation_keysets.tenant_id; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(tenant_id) ON TABLE public.allocation_keysets TO gpuaas_operator;


--
-- Name: COLUMN allocation_keysets.generation; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(generation) ON TABLE public.allocation_keysets TO gpuaas_operator;


--
-- Name: COLUMN allocation_keysets.observed_generation; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(observed_generation) ON TABLE public.allocation_keysets TO gpuaas_operator;


--
-- Name: TABLE allocation_runtimes; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.allocation_runtimes TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.allocation_runtimes TO gpuaas_api;
GRANT SELECT ON TABLE public.allocation_runtimes TO gpuaas_operator;


--
-- Name: TABLE allocation_sessions; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.allocation_sessions TO gpuaas_worker;
GRANT SELECT ON TABLE public.allocation_sessions TO gpuaas_operator;
GRANT SELECT ON TABLE public.allocation_sessions TO gpuaas_api;


--
-- Name: TABLE allocations; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.allocations TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.allocations TO gpuaas_api;
GRANT SELECT,UPDATE ON TABLE public.allocations TO gpuaas_operator;


--
-- Name: TABLE audit; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT ON TABLE public.audit TO gpuaas_worker;
GRANT SELECT,INSERT ON TABLE public.audit TO gpuaas_api;
GRANT SELECT,INSERT ON TABLE public.audit TO gpuaas_operator;


--
-- Name: COLUMN audit.repeats; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(repeats) ON TABLE public.audit TO gpuaas_worker;


--
-- Name: SEQUENCE audit_id_seq; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT USAGE ON SEQUENCE public.audit_id_seq TO gpuaas_api;
GRANT USAGE ON SEQUENCE public.audit_id_seq TO gpuaas_operator;
GRANT USAGE ON SEQUENCE public.audit_id_seq TO gpuaas_worker;


--
-- Name: TABLE claims; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.claims TO gpuaas_worker;
GRANT SELECT,INSERT ON TABLE public.claims TO gpuaas_api;
GRANT SELECT,UPDATE ON TABLE public.claims TO gpuaas_operator;


--
-- Name: SEQUENCE claims_id_seq; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT USAGE ON SEQUENCE public.claims_id_seq TO gpuaas_api;
GRANT USAGE ON SEQUENCE public.claims_id_seq TO gpuaas_operator;
GRANT USAGE ON SEQUENCE public.claims_id_seq TO gpuaas_worker;


--
-- Name: TABLE cleanup_proofs; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT ON TABLE public.cleanup_proofs TO gpuaas_worker;
GRANT SELECT ON TABLE public.cleanup_proofs TO gpuaas_api;
GRANT SELECT,INSERT ON TABLE public.cleanup_proofs TO gpuaas_operator;


--
-- Name: TABLE enrolment_tokens; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.enrolment_tokens TO gpuaas_worker;
GRANT INSERT ON TABLE public.enrolment_tokens TO gpuaas_operator;


--
-- Name: TABLE health_findings; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT ON TABLE public.health_findings TO gpuaas_api;
GRANT SELECT ON TABLE public.health_findings TO gpuaas_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.health_findings TO gpuaas_worker;


--
-- Name: TABLE holds; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.holds TO gpuaas_worker;
GRANT SELECT,INSERT ON TABLE public.holds TO gpuaas_api;
GRANT SELECT ON TABLE public.holds TO gpuaas_operator;


--
-- Name: TABLE idempotency; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.idempotency TO gpuaas_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.idempotency TO gpuaas_operator;


--
-- Name: TABLE identities; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.identities TO gpuaas_worker;


--
-- Name: SEQUENCE link_epochs; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT USAGE ON SEQUENCE public.link_epochs TO gpuaas_api;
GRANT USAGE ON SEQUENCE public.link_epochs TO gpuaas_operator;
GRANT USAGE ON SEQUENCE public.link_epochs TO gpuaas_worker;


--
-- Name: TABLE links; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.links TO gpuaas_worker;
GRANT SELECT ON TABLE public.links TO gpuaas_operator;


--
-- Name: TABLE managed_runtime_bundles; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.managed_runtime_bundles TO gpuaas_worker;
GRANT SELECT ON TABLE public.managed_runtime_bundles TO gpuaas_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.managed_runtime_bundles TO gpuaas_operator;


--
-- Name: TABLE newest_samples; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT ON TABLE public.newest_samples TO gpuaas_api;
GRANT SELECT ON TABLE public.newest_samples TO gpuaas_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.newest_samples TO gpuaas_worker;


--
-- Name: TABLE node_bundles; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.node_bundles TO gpuaas_worker;
GRANT SELECT ON TABLE public.node_bundles TO gpuaas_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.node_bundles TO gpuaas_operator;


--
-- Name: TABLE node_tasks; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.node_tasks TO gpuaas_worker;
GRANT SELECT,INSERT ON TABLE public.node_tasks TO gpuaas_operator;


--
-- Name: TABLE nodes; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.nodes TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.nodes TO gpuaas_operator;


--
-- Name: COLUMN nodes.id; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(id) ON TABLE public.nodes TO gpuaas_api;


--
-- Name: COLUMN nodes.name; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(name) ON TABLE public.nodes TO gpuaas_api;


--
-- Name: COLUMN nodes.region; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(region) ON TABLE public.nodes TO gpuaas_api;


--
-- Name: COLUMN nodes.intent; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(intent) ON TABLE public.nodes TO gpuaas_api;


--
-- Name: COLUMN nodes.offline_since; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(offline_since) ON TABLE public.nodes TO gpuaas_api;


--
-- Name: COLUMN nodes.last_seen_at; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(last_seen_at) ON TABLE public.nodes TO gpuaas_api;


--
-- Name: COLUMN nodes.engine; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(engine) ON TABLE public.nodes TO gpuaas_api;


--
-- Name: COLUMN nodes.simulated; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(simulated) ON TABLE public.nodes TO gpuaas_api;


--
-- Name: COLUMN nodes.ssh_host; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT(ssh_host) ON TABLE public.nodes TO gpuaas_api;


--
-- Name: TABLE operations; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.operations TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.operations TO gpuaas_api;
GRANT SELECT,INSERT,UPDATE ON TABLE public.operations TO gpuaas_operator;


--
-- Name: TABLE outbox; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.outbox TO gpuaas_worker;
GRANT INSERT ON TABLE public.outbox TO gpuaas_api;
GRANT SELECT,INSERT ON TABLE public.outbox TO gpuaas_operator;


--
-- Name: SEQUENCE outbox_id_seq; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT USAGE ON SEQUENCE public.outbox_id_seq TO gpuaas_api;
GRANT USAGE ON SEQUENCE public.outbox_id_seq TO gpuaas_operator;
GRANT USAGE ON SEQUENCE public.outbox_id_seq TO gpuaas_worker;


--
-- Name: TABLE platform; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.platform TO gpuaas_worker;


--
-- Name: TABLE prices; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.prices TO gpuaas_worker;
GRANT SELECT ON TABLE public.prices TO gpuaas_api;
GRANT SELECT ON TABLE public.prices TO gpuaas_operator;


--
-- Name: TABLE project_members; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.project_members TO gpuaas_worker;
GRANT SELECT,INSERT,DELETE ON TABLE public.project_members TO gpuaas_api;


--
-- Name: COLUMN project_members.role; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(role) ON TABLE public.project_members TO gpuaas_api;


--
-- Name: TABLE projects; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.projects TO gpuaas_worker;
GRANT SELECT,INSERT ON TABLE public.projects TO gpuaas_api;


--
-- Name: COLUMN projects.record_terminals; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(record_terminals) ON TABLE public.projects TO gpuaas_api;


--
-- Name: TABLE rate_limits; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.rate_limits TO gpuaas_worker;


--
-- Name: TABLE recording_chunks; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE ON TABLE public.recording_chunks TO gpuaas_worker;
GRANT SELECT ON TABLE public.recording_chunks TO gpuaas_api;


--
-- Name: SEQUENCE recording_chunks_id_seq; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT USAGE ON SEQUENCE public.recording_chunks_id_seq TO gpuaas_worker;


--
-- Name: TABLE regions; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.regions TO gpuaas_worker;
GRANT SELECT ON TABLE public.regions TO gpuaas_api;
GRANT SELECT,INSERT ON TABLE public.regions TO gpuaas_operator;


--
-- Name: TABLE replicas; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.replicas TO gpuaas_worker;
GRANT SELECT ON TABLE public.replicas TO gpuaas_operator;


--
-- Name: TABLE resizes; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,UPDATE ON TABLE public.resizes TO gpuaas_api;
GRANT SELECT ON TABLE public.resizes TO gpuaas_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.resizes TO gpuaas_worker;


--
-- Name: TABLE sample_minutes; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT ON TABLE public.sample_minutes TO gpuaas_api;
GRANT SELECT ON TABLE public.sample_minutes TO gpuaas_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sample_minutes TO gpuaas_worker;


--
-- Name: TABLE samples; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT ON TABLE public.samples TO gpuaas_api;
GRANT SELECT ON TABLE public.samples TO gpuaas_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.samples TO gpuaas_worker;


--
-- Name: TABLE session_ends; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.session_ends TO gpuaas_worker;
GRANT SELECT ON TABLE public.session_ends TO gpuaas_operator;
GRANT SELECT,INSERT ON TABLE public.session_ends TO gpuaas_api;


--
-- Name: TABLE sessions; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sessions TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.sessions TO gpuaas_api;


--
-- Name: TABLE sku_sizes; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sku_sizes TO gpuaas_worker;
GRANT SELECT ON TABLE public.sku_sizes TO gpuaas_api;
GRANT SELECT ON TABLE public.sku_sizes TO gpuaas_operator;


--
-- Name: TABLE skus; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.skus TO gpuaas_worker;
GRANT SELECT ON TABLE public.skus TO gpuaas_api;
GRANT SELECT ON TABLE public.skus TO gpuaas_operator;


--
-- Name: SEQUENCE skus_key_seq; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT USAGE ON SEQUENCE public.skus_key_seq TO gpuaas_api;
GRANT USAGE ON SEQUENCE public.skus_key_seq TO gpuaas_operator;
GRANT USAGE ON SEQUENCE public.skus_key_seq TO gpuaas_worker;


--
-- Name: TABLE slots; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.slots TO gpuaas_worker;
GRANT SELECT ON TABLE public.slots TO gpuaas_api;
GRANT SELECT,UPDATE ON TABLE public.slots TO gpuaas_operator;


--
-- Name: TABLE ssh_keys; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.ssh_keys TO gpuaas_worker;
GRANT SELECT,INSERT,DELETE ON TABLE public.ssh_keys TO gpuaas_api;


--
-- Name: TABLE storage_attachments; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.storage_attachments TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.storage_attachments TO gpuaas_api;
GRANT SELECT ON TABLE public.storage_attachments TO gpuaas_operator;


--
-- Name: TABLE storage_backends; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.storage_backends TO gpuaas_worker;
GRANT SELECT ON TABLE public.storage_backends TO gpuaas_api;
GRANT SELECT ON TABLE public.storage_backends TO gpuaas_operator;


--
-- Name: TABLE storage_conformance_runs; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.storage_conformance_runs TO gpuaas_worker;
GRANT SELECT ON TABLE public.storage_conformance_runs TO gpuaas_api;
GRANT SELECT,INSERT ON TABLE public.storage_conformance_runs TO gpuaas_operator;


--
-- Name: TABLE stream_requests; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.stream_requests TO gpuaas_worker;


--
-- Name: TABLE task_logs; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.task_logs TO gpuaas_worker;
GRANT SELECT ON TABLE public.task_logs TO gpuaas_api;
GRANT SELECT ON TABLE public.task_logs TO gpuaas_operator;


--
-- Name: TABLE tenant_members; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenant_members TO gpuaas_worker;
GRANT SELECT ON TABLE public.tenant_members TO gpuaas_api;


--
-- Name: TABLE tenants; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants TO gpuaas_worker;
GRANT SELECT ON TABLE public.tenants TO gpuaas_api;


--
-- Name: TABLE terminal_tickets; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.terminal_tickets TO gpuaas_worker;
GRANT SELECT,INSERT ON TABLE public.terminal_tickets TO gpuaas_api;


--
-- Name: TABLE terminals; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.terminals TO gpuaas_worker;
GRANT SELECT ON TABLE public.terminals TO gpuaas_api;
GRANT SELECT ON TABLE public.terminals TO gpuaas_operator;


--
-- Name: COLUMN terminals.attached; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(attached) ON TABLE public.terminals TO gpuaas_api;


--
-- Name: COLUMN terminals.closed_at; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(closed_at) ON TABLE public.terminals TO gpuaas_api;


--
-- Name: COLUMN terminals.reason; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(reason) ON TABLE public.terminals TO gpuaas_api;


--
-- Name: COLUMN terminals.exit_code; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT UPDATE(exit_code) ON TABLE public.terminals TO gpuaas_api;


--
-- Name: TABLE timeline_entries; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT ON TABLE public.timeline_entries TO gpuaas_worker;
GRANT SELECT,INSERT ON TABLE public.timeline_entries TO gpuaas_api;
GRANT SELECT,INSERT ON TABLE public.timeline_entries TO gpuaas_operator;


--
-- Name: SEQUENCE timeline_entries_id_seq; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT USAGE ON SEQUENCE public.timeline_entries_id_seq TO gpuaas_api;
GRANT USAGE ON SEQUENCE public.timeline_entries_id_seq TO gpuaas_operator;
GRANT USAGE ON SEQUENCE public.timeline_entries_id_seq TO gpuaas_worker;


--
-- Name: TABLE tokens; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tokens TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.tokens TO gpuaas_api;


--
-- Name: TABLE users; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.users TO gpuaas_worker;
GRANT SELECT ON TABLE public.users TO gpuaas_api;
GRANT SELECT ON TABLE public.users TO gpuaas_operator;


--
-- Name: TABLE volume_snapshots; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.volume_snapshots TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.volume_snapshots TO gpuaas_api;
GRANT SELECT ON TABLE public.volume_snapshots TO gpuaas_operator;


--
-- Name: TABLE volumes; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.volumes TO gpuaas_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE public.volumes TO gpuaas_api;
GRANT SELECT ON TABLE public.volumes TO gpuaas_operator;


--
-- Name: TABLE work; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.work TO gpuaas_worker;
GRANT SELECT ON TABLE public.work TO gpuaas_operator;


--
-- Name: TABLE worker_switches; Type: ACL; Schema: public; Owner: gpuaas_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.worker_switches TO gpuaas_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.worker_switches TO gpuaas_operator;


--
-- PostgreSQL database dump complete
--

\unrestrict pVxtWfBnaB9JSqKIUggOlENw44Bnmj9Hpu894JriyiqZ17C9csznKBugdjlLgnL

