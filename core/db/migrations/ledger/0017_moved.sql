-- compatible_from: 0015
-- A ledger may move to another place (docs/operate/shards.md). The place that it left says where it went, and is never written to
-- again: programs that come here are refused and follow. The refusal is committed with the last change that was made here, so
-- there is no moment at which two places can be written to.

create table ledger.moved (
  one boolean primary key default true constraint moved_once check (one),
  -- The name of the new place, as the settings list it.
  place text not null,
  at timestamptz not null
);
-- Written at the end of a move, after every change to other tables: whoever has it has all of them.
create table ledger.move_mark (
  mark text primary key
);
grant select on ledger.moved to svc_runtime;

-- The places of this shard that the process knows; null of a release that knew only one.
alter table ledger.lease add places text[];

create function ledger.refuse_moved() returns trigger language plpgsql as $$
declare
  v_place text;
begin
  execute format('select place from %I.moved', tg_table_schema) into v_place;
  raise exception 'the ledger has moved to %', v_place using errcode = '55L02';
end $$;
revoke all on function ledger.refuse_moved from public;

create function ledger.leave(p_schema text, p_place text, p_at timestamptz) returns void language plpgsql as $$
-- Ends this place for good. Statements that wait for a lock here are refused by triggers, later ones by the lack of rights.
declare
  v_table text;
begin
  insert into ledger.moved (place, at) values (p_place, p_at);
  for v_table in
    select c.relname from pg_class c
    where c.relnamespace = p_schema::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('moved', 'move_mark', 'svc_migration')
    order by c.relname collate "C"
  loop
    execute format('create trigger moved before insert or update or delete or truncate on %I.%I
                    execute function %I.refuse_moved()', p_schema, v_table, p_schema);
  end loop;
  execute format('revoke all on all tables in schema %I from svc_runtime', p_schema);
  execute format('revoke all on all functions in schema %I from svc_runtime', p_schema);
  execute format('grant select on %I.moved to svc_runtime', p_schema);
end $$;
revoke all on function ledger.leave from public;
