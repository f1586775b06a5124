// The page of keys: who may call, and how much they may spend.
import './keys.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useCallback, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import { type KeyRowFragment, KeysDocument, ResumeKeyDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { may, useOrg } from '../../app/org.tsx';
import { readKeysSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Empty, ErrorBox } from '../../ui/states.tsx';
import { CreateKeyDialog } from './create-dialog.tsx';
import { EditKeyDialog } from './edit-dialog.tsx';
import { RevokeKeyDialog } from './revoke-dialog.tsx';
import { RotateKeyDialog } from './rotate-dialog.tsx';
import { type KeyAction, KeysTable } from './table.tsx';

const DAY_MS = 86_400_000;

/** The UTC day that has begun. */
function today(): { from: string; to: string } {
  const from = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  return { from: new Date(from).toISOString(), to: new Date(from + DAY_MS).toISOString() };
}

type Variables = { readonly environment: 'LIVE' | 'TEST'; readonly from: string; readonly to: string };

/** Later pages of the list, read on demand. */
function useMore(variables: Variables) {
  const client = useClient();
  const [more, setMore] = useState<{ rows: readonly KeyRowFragment[]; next: string | null } | null>(null);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const load = async (after: string) => {
    setBusy(true);
    const { data, error } = await client.query(KeysDocument, { ...variables, after }).toPromise();
    setBusy(false);
    setFault(error ? faultOfQuery(error) : null);
    const page = data?.keys;
    if (!page) return;
    const next = page.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? null) : null;
    setMore((before) => ({ rows: [...(before?.rows ?? []), ...page.nodes], next }));
  };
  const replace = (changed: KeyRowFragment) =>
    setMore(
      (before) =>
        before && { ...before, rows: before.rows.map((row) => (row.id === changed.id ? changed : row)) },
    );
  /** A new key moves the end of the first page, so later pages must be read again. */
  const forget = () => setMore(null);
  return { more, busy, fault, load, replace, forget };
}

/** All rows that were read, first page and later ones; `undefined` before the first. */
function useKeys() {
  const { environment } = useOrg();
  const [day] = useState(today);
  const variables = { environment, ...day };
  const [{ data, error }, again] = useQuery({ query: KeysDocument, variables });
  const { more, forget, replace, ...later } = useMore(variables);
  const read = () => again({ requestPolicy: 'network-only' });
  const first = data?.keys;
  const first_next = first?.pageInfo.hasNextPage ? (first.pageInfo.endCursor ?? null) : null;
  return {
    ...later,
    rows: first ? [...first.nodes, ...(more?.rows ?? [])] : undefined,
    next: more === null ? first_next : more.next,
    spent: data?.usage ? new Map(data.usage.groups.map(({ key, costMicro }) => [key, costMicro])) : undefined,
    error,
    refresh: () => {
      forget();
      read();
    },
    /** `row` was changed; it may stand on the first page or on a later one. */
    changed: (row: KeyRowFragment) => {
      replace(row);
      read();
    },
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

/** Lifts the pause of a key whose budget of the day is spent. */
function useResume(onDone: (row: KeyRowFragment) => void) {
  const { send, fault } = useSend();
  const resume = async (id: string) => {
    const done = await send(ResumeKeyDocument, { id });
    if (done !== null) onDone(done.key);
  };
  return { resume, fault };
}

type Doing = { readonly action: KeyAction; readonly row: KeyRowFragment };

/** The dialog of what is being done to a key. */
function ActionDialog(props: {
  doing: Doing;
  onClose: () => void;
  onMade: () => void;
  onChanged: (row: KeyRowFragment) => void;
  onUsed: (id: string, ts: string) => void;
}) {
  const { doing, onClose, onMade, onChanged, onUsed } = props;
  const { action, row } = doing;
  const onDone = (changed: KeyRowFragment) => {
    onClose();
    onChanged(changed);
  };
  if (action === 'revoke') return <RevokeKeyDialog row={row} onClose={onClose} onDone={onDone} />;
  if (action === 'edit') return <EditKeyDialog row={row} onClose={onClose} onDone={onDone} />;
  if (action === 'rotate')
    return <RotateKeyDialog row={row} onClose={onClose} onMade={onMade} onUsed={onUsed} />;
  return null;
}

/** Calls that arrived with keys while the page was open, by key. */
function useUsed() {
  const [used, setUsed] = useState<ReadonlyMap<string, string>>(new Map());
  const onUsed = useCallback(
    (id: string, ts: string) => setUsed((before) => new Map([...before, [id, ts]])),
    [],
  );
  return { used, onUsed };
}

export function KeysPage() {
  const { env, role } = useOrg();
  const allowed = may(role, 'keys');
  const [create, setCreate] = useCreateInAddress(allowed);
  const { rows, spent, next, error, busy, fault, load, refresh, changed } = useKeys();
  const [doing, setDoing] = useState<Doing | null>(null);
  const { used, onUsed } = useUsed();
  const resuming = useResume(changed);
  const failed = error !== undefined && !rows;
  const none = rows?.length === 0;
  const button = allowed && (
    <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setCreate(true)}>
      Create key
    </Button>
  );
  const onAction = (action: KeyAction, row: KeyRowFragment) =>
    action === 'resume' ? void resuming.resume(row.id) : setDoing({ action, row });
  const shown = resuming.fault ?? fault;
  return (
    <>
      <PageHead title={env === 'sandbox' ? 'Sandbox keys' : 'Keys'} actions={button}>
        <p>One key works with the OpenAI, Anthropic and native interfaces.</p>
      </PageHead>
      <section className="card">
        {failed && <ErrorBox fault={faultOfQuery(error)} onRetry={refresh} />}
        {none && <NoKeys action={button} />}
        {!failed && !none && (
          <KeysTable rows={rows} spent={spent} used={used} onAction={allowed ? onAction : null} />
        )}
        {shown && <ErrorBox fault={shown} />}
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
      {create && <CreateKeyDialog onClose={() => setCreate(false)} onMade={refresh} onUsed={onUsed} />}
      {doing && (
        <ActionDialog
          doing={doing}
          onClose={() => setDoing(null)}
          onMade={refresh}
          onChanged={changed}
          onUsed={onUsed}
        />
      )}
    </>
  );
}
