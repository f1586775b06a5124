// The page of keys: who may call, and how much they may spend.
import './keys.css';
import { Menu } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import { type KeyRowFragment, KeysDocument } from '../../api/gen/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { readKeysSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Money } from '../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { type Shape, Status, type Tone } from '../../ui/status.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { CreateKeyDialog } from './create-dialog.tsx';
import { RevokeKeyDialog } from './revoke-dialog.tsx';
import { scopeWord } from './scopes.ts';

const SCOPES_SHOWN = 2;

const marks: Record<KeyRowFragment['status'], { tone: Tone; shape: Shape; word: string }> = {
  ACTIVE: { tone: 'ok', shape: 'ok', word: 'active' },
  ROTATING: { tone: 'warn', shape: 'half', word: 'rotating' },
  REVOKED: { tone: 'mute', shape: 'mute', word: 'revoked' },
  EXPIRED: { tone: 'mute', shape: 'mute', word: 'expired' },
};

function KeyStatus({ row }: { row: KeyRowFragment }) {
  if (row.paused) {
    return (
      <Status tone="warn">
        paused until <Time at={row.paused.resumesAt} as="feed" />
      </Status>
    );
  }
  const { tone, shape, word } = marks[row.status];
  return (
    <Status tone={tone} shape={shape}>
      {word}
    </Status>
  );
}

function RowActions({ row, onRevoke }: { row: KeyRowFragment; onRevoke: () => void }) {
  const navigate = useNavigate();
  const { slug, env } = useOrg();
  const ended = row.status === 'REVOKED' || row.status === 'EXPIRED';
  return (
    <Menu
      withInitialFocusPlaceholder={false}
      position="bottom-end"
      width={190}
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <Button kind="quiet" icon="dots" aria-label={`Actions for ${row.name}`} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          onClick={() =>
            void navigate({ to: '/$org/$env/requests', params: { org: slug, env }, search: { key: row.id } })
          }
        >
          Show its calls
        </Menu.Item>
        {!ended && (
          <Menu.Item data-danger onClick={onRevoke}>
            Revoke…
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function Rows({
  rows,
  onRevoke,
}: {
  rows: readonly KeyRowFragment[];
  onRevoke: ((row: KeyRowFragment) => void) | null;
}) {
  return rows.map((row) => (
    <tr key={row.id} data-ended={row.status === 'REVOKED' || row.status === 'EXPIRED' || undefined}>
      <td className="key-name" title={row.name}>
        {row.name}
      </td>
      <td className="mono soft">{row.hint}</td>
      <td className="key-project" title={row.project?.name}>
        {row.project?.name ?? '–'}
      </td>
      <td>
        <KeyStatus row={row} />
      </td>
      <td className="soft" title={row.scopes.map(scopeWord).join(', ')}>
        {row.scopes.slice(0, SCOPES_SHOWN).map(scopeWord).join(', ')}
        {row.scopes.length > SCOPES_SHOWN && (
          <span className="faint"> and {row.scopes.length - SCOPES_SHOWN} more</span>
        )}
      </td>
      <td className="soft">
        <Time at={row.lastUsedAt} never="never" />
      </td>
      <td className="n">
        {row.budget.dailyMicro === null ? (
          <span className="faint">none</span>
        ) : (
          <>
            <Money micro={row.budget.dailyMicro} as="spend" />
            {!row.budget.hard && <span className="faint"> soft</span>}
          </>
        )}
      </td>
      <td className="soft">
        <Time at={row.expiresAt} never="never" />
      </td>
      <td className="n">{onRevoke && <RowActions row={row} onRevoke={() => onRevoke(row)} />}</td>
    </tr>
  ));
}

/** Keys, or as many empty rows while none were read. */
function KeysTable({
  rows,
  onRevoke,
}: {
  rows: readonly KeyRowFragment[] | undefined;
  onRevoke: ((row: KeyRowFragment) => void) | null;
}) {
  return (
    <Table name="Keys" busy={!rows}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Key</th>
          <th scope="col">Project</th>
          <th scope="col">Status</th>
          <th scope="col">Scopes</th>
          <th scope="col">Last used</th>
          <th scope="col" className="n">
            Daily budget
          </th>
          <th scope="col">Expires</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>{rows ? <Rows rows={rows} onRevoke={onRevoke} /> : <BoneRows rows={5} columns={9} />}</tbody>
    </Table>
  );
}

/** Later pages of the list, read on demand. */
function useMore(environment: 'LIVE' | 'TEST') {
  const client = useClient();
  const [more, setMore] = useState<{ rows: readonly KeyRowFragment[]; next: string | null } | null>(null);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const load = async (after: string) => {
    setBusy(true);
    const { data, error } = await client.query(KeysDocument, { environment, after }).toPromise();
    setBusy(false);
    setFault(error ? faultOfQuery(error) : null);
    const page = data?.keys;
    if (!page) return;
    const next = page.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? null) : null;
    setMore((before) => ({ rows: [...(before?.rows ?? []), ...page.nodes], next }));
  };
  const markRevoked = (id: string) =>
    setMore(
      (before) =>
        before && {
          ...before,
          rows: before.rows.map((row) => (row.id === id ? { ...row, status: 'REVOKED' } : row)),
        },
    );
  /** A new key moves the end of the first page, so later pages must be read again. */
  const forget = () => setMore(null);
  return { more, busy, fault, load, markRevoked, forget };
}

/** All rows that were read, first page and later ones; `undefined` before the first. */
function useKeys() {
  const { environment } = useOrg();
  const [{ data, error }, again] = useQuery({ query: KeysDocument, variables: { environment } });
  const { more, ...later } = useMore(environment);
  const first = data?.keys;
  const first_next = first?.pageInfo.hasNextPage ? (first.pageInfo.endCursor ?? null) : null;
  return {
    ...later,
    rows: first ? [...first.nodes, ...(more?.rows ?? [])] : undefined,
    next: more === null ? first_next : more.next,
    error,
    refresh: () => again({ requestPolicy: 'network-only' }),
  };
}

/**
 * Whether the dialog that creates a key is open. It is kept in the address; `c` opens it for roles that may create
 * keys.
 */
function useCreateInAddress(allowed: boolean) {
  const { env, slug } = useOrg();
  const { create = false } = readKeysSearch(useSearch({ from: '/$org/$env/keys' }));
  const navigate = useNavigate();
  const set = (open: boolean) =>
    void navigate({
      to: '/$org/$env/keys',
      params: { org: slug, env },
      search: open ? { create: true } : {},
      replace: true,
    });
  useShortcuts(allowed ? { c: () => set(true) } : {});
  return [create && allowed, set] as const;
}

function NoKeys({ action }: { action: ReactNode }) {
  const { env, role } = useOrg();
  return (
    <Empty title={env === 'sandbox' ? 'No sandbox key yet' : 'No key yet'} actions={action || undefined}>
      {may(role, 'keys')
        ? 'Make one, paste the snippet that comes with it, and the first call appears under Requests.'
        : `Your role, ${role}, may not create keys. Ask an owner, admin or developer.`}
    </Empty>
  );
}

export function KeysPage() {
  const { env, role } = useOrg();
  const allowed = may(role, 'keys');
  const [create, setCreate] = useCreateInAddress(allowed);
  const { rows, next, error, busy, fault, load, refresh, markRevoked, forget } = useKeys();
  const [revoking, setRevoking] = useState<KeyRowFragment | null>(null);
  const failed = error !== undefined && !rows;
  const none = rows?.length === 0;
  const button = allowed && (
    <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setCreate(true)}>
      Create key
    </Button>
  );
  return (
    <>
      <PageHead title={env === 'sandbox' ? 'Sandbox keys' : 'Keys'} actions={button}>
        <p>One key works with the OpenAI, Anthropic and native interfaces.</p>
      </PageHead>
      <section className="card">
        {failed && <ErrorBox fault={faultOfQuery(error)} onRetry={refresh} />}
        {none && <NoKeys action={button} />}
        {!failed && !none && <KeysTable rows={rows} onRevoke={allowed ? setRevoking : null} />}
        {fault && <ErrorBox fault={fault} />}
        {next && (
          <div className="table-foot">
            <Button busy={busy} icon="chevron-down" onClick={() => void load(next)}>
              Load more
            </Button>
          </div>
        )}
      </section>
      {!allowed && (
        <p className="sub keys-note">
          <Icon name="eye" size={13} /> Your role, {role}, may see keys but not create or revoke them.
        </p>
      )}
      {create && (
        <CreateKeyDialog
          onClose={() => setCreate(false)}
          onMade={() => {
            forget();
            refresh();
          }}
        />
      )}
      {revoking && (
        <RevokeKeyDialog
          row={revoking}
          onClose={() => setRevoking(null)}
          onDone={() => {
            markRevoked(revoking.id);
            setRevoking(null);
            refresh();
          }}
        />
      )}
    </>
  );
}
