// The page of calls: what is being called now, and what failed.
import './requests.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import {
  type FeedRowFragment,
  RequestsDocument,
  type RequestsQuery,
  type RequestsQueryVariables,
} from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { type RequestsSearch, readRequestsSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { RowLink, RowModel, RowStatus } from '../../ui/feed.tsx';
import { countText, durationText, plural } from '../../ui/format/numbers.ts';
import { zoneName } from '../../ui/format/time.ts';
import { LiveMark } from '../../ui/live-mark.tsx';
import { Money } from '../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useFeed } from '../../ui/use-feed.ts';
import { FilterBar } from './filters.tsx';

const PAGE = 50;
/** Older ones are read in pages as large as the API gives. */
const OLDER_PAGE = 100;
const SINCE_MS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;
const SUMMARY_MS = 10_000;
const HOVER_MS = 1_000;

/** Whether a row that arrived belongs to what the filters show. */
export function isWanted(row: FeedRowFragment, search: RequestsSearch): boolean {
  if (search.key !== undefined && row.keyId !== search.key) return false;
  if (search.status !== undefined && row.status.toLowerCase() !== search.status) return false;
  if (search.model !== undefined && row.model !== search.model) return false;
  if (search.provider !== undefined && row.provider !== search.provider) return false;
  return !(search.moved && row.attempts < 2);
}

type ReadRow = NonNullable<RequestsQuery['requests']>['nodes'][number];

/** Names of keys by id: the newest hundred, those of calls that were read, and the one that is chosen. */
function namesOf(data: RequestsQuery | undefined, read: readonly ReadRow[], chosen: string | undefined) {
  const names = new Map((data?.keys?.nodes ?? []).map(({ id, name }) => [id as string, name as string]));
  for (const { keyId, key } of read) if (key) names.set(keyId, key.name);
  if (chosen !== undefined && !names.has(chosen)) names.set(chosen, chosen);
  return names;
}

function Rows({
  rows,
  fresh,
  keys,
}: {
  rows: readonly FeedRowFragment[];
  fresh: ReadonlySet<string>;
  keys: ReadonlyMap<string, string>;
}) {
  return rows.map((row) => (
    <tr key={row.id} className={fresh.has(row.id) ? 'linked arrived' : 'linked'}>
      <td className="soft">
        <span className="row">
          <span className="narrow-only">
            <RowStatus row={row} dense />
          </span>
          <RowLink row={row} />
        </span>
      </td>
      <td className="wide-only">
        <RowStatus row={row} />
      </td>
      <td className="requests-model">
        <RowModel row={row} />
      </td>
      <td className="n wide-only">
        {countText(row.inputTokens)} <span className="faint">/ {countText(row.outputTokens)}</span>
      </td>
      <td className="n">
        <Money micro={row.costMicro} />
      </td>
      <td className="n soft">{durationText(row.ttftMs)}</td>
      <td className="n soft">{durationText(row.durationMs)}</td>
      <td className="soft">{keys.get(row.keyId) ?? <IdText id={row.keyId} short />}</td>
    </tr>
  ));
}

/** Reads older pages on demand; they are thrown away when the filters change. */
function useOlder(variables: RequestsQueryVariables) {
  const client = useClient();
  const key = JSON.stringify(variables);
  const [older, setOlder] = useState<{
    key: string;
    rows: readonly ReadRow[];
    next: string | null;
  } | null>(null);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const mine = older?.key === key ? older : null;
  const load = async (after: string) => {
    setBusy(true);
    setFault(null);
    const { data, error } = await client
      .query(RequestsDocument, { ...variables, first: OLDER_PAGE, after })
      .toPromise();
    setBusy(false);
    if (error) return setFault(faultOfQuery(error));
    const page = data?.requests;
    if (!page) return;
    const next = page.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? null) : null;
    setOlder({ key, rows: [...(mine?.rows ?? []), ...page.nodes], next });
  };
  return { rows: mine?.rows ?? [], next: mine === null ? undefined : mine.next, busy, fault, load };
}

/** The list is held by Space, by scrolling away from the top, and while the pointer rests on it. */
function useHold() {
  const [pressed, setPressed] = useState(false);
  const [away, setAway] = useState(false);
  const [resting, setResting] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // The page scrolls, or on wide screens the rows inside it, whose scrolling does not bubble.
    const onScroll = () => {
      const rows = document.querySelector('.requests .table-scroll');
      setAway(scrollY > 120 || (rows?.scrollTop ?? 0) > 60);
    };
    addEventListener('scroll', onScroll, { passive: true, capture: true });
    return () => {
      removeEventListener('scroll', onScroll, { capture: true });
      clearTimeout(timer.current);
    };
  }, []);
  return {
    held: pressed || away || resting,
    pressed,
    toggle: () => setPressed((before) => !before),
    pointer: {
      onPointerEnter: () => {
        timer.current = setTimeout(() => setResting(true), HOVER_MS);
      },
      onPointerLeave: () => {
        clearTimeout(timer.current);
        setResting(false);
      },
    },
  };
}

/** Screen readers get one sentence every ten seconds instead of every row. */
function useSummary() {
  const [text, setText] = useState('');
  const count = useRef(0);
  useEffect(() => {
    const timer = setInterval(() => {
      setText(count.current === 0 ? '' : `${plural(count.current, 'new call')}`);
      count.current = 0;
    }, SUMMARY_MS);
    return () => clearInterval(timer);
  }, []);
  const add = useCallback(() => {
    count.current++;
  }, []);
  return { text, add };
}

/** The calls that match `search`, newest first: those that were read, and those that arrive. */
function useRequests(search: RequestsSearch, { held, onRow }: { held: boolean; onRow: () => void }) {
  const { environment } = useOrg();
  const [opened] = useState(() => Date.now());
  const variables: RequestsQueryVariables = {
    environment,
    first: PAGE,
    status: search.status === undefined ? null : (search.status.toUpperCase() as 'OK'),
    model: search.model ?? null,
    keyId: search.key ?? null,
    fallbacksOnly: search.moved ?? null,
    provider: search.provider ?? null,
    since: search.since === undefined ? null : new Date(opened - SINCE_MS[search.since]).toISOString(),
  };
  const [{ data, error, fetching }, query] = useQuery({ query: RequestsDocument, variables });
  const again = () => query({ requestPolicy: 'network-only' });
  const older = useOlder(variables);
  const matches = useCallback((row: FeedRowFragment) => isWanted(row, search), [search]);
  const first = data?.requests;
  const read = first ? [...first.nodes, ...older.rows] : undefined;
  const feed = useFeed({
    read,
    key_id: search.key,
    matches,
    held,
    off: first === undefined,
    onBack: again,
    onRow,
  });
  return { data, error, fetching, again, first, older, read, feed };
}

/** Moves the focus to the next or the previous call; Enter then opens it, being a link. */
function focusRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('.requests .row-link')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const to = at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + step));
  links[to]?.focus();
}

/** Copies the id of the call that has the focus. */
async function copyRow(): Promise<void> {
  const id = document.activeElement?.getAttribute('href')?.split('/').at(-1);
  if (id !== undefined) await navigator.clipboard.writeText(id);
}

function PauseButton({ pressed, onToggle }: { pressed: boolean; onToggle: () => void }) {
  return (
    <Button
      icon={pressed ? 'player-play' : 'player-pause'}
      aria-pressed={pressed}
      aria-keyshortcuts="Space"
      onClick={onToggle}
    >
      {pressed ? 'Resume' : 'Pause'}
    </Button>
  );
}

function NoCalls({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  const { slug, env } = useOrg();
  if (filtered) {
    return (
      <Empty title="No call matches these filters" actions={<Button onClick={onClear}>Clear filters</Button>}>
        New ones that match appear here by themselves.
      </Empty>
    );
  }
  return (
    <Empty
      title={env === 'sandbox' ? 'No sandbox call yet' : 'No call yet'}
      actions={
        <Link className="btn primary" to="/$org/$env/home" params={{ org: slug, env }}>
          Make the first call
        </Link>
      }
    >
      Each call appears here within two seconds, with its route and its price. Home shows what to paste.
    </Empty>
  );
}

/** Calls, or as many empty rows while none were read. */
function RequestsTable({
  rows,
  fresh,
  keys,
}: {
  rows: readonly FeedRowFragment[] | null | undefined;
  fresh: ReadonlySet<string>;
  keys: ReadonlyMap<string, string>;
}) {
  return (
    <Table name="Requests" busy={!rows}>
      <thead>
        <tr>
          <th scope="col">Time, {zoneName(new Date())}</th>
          <th scope="col" className="wide-only">
            Status
          </th>
          <th scope="col">Model</th>
          <th scope="col" className="n wide-only">
            Tokens in / out
          </th>
          <th scope="col" className="n">
            Cost
          </th>
          <th scope="col" className="n">
            First token
          </th>
          <th scope="col" className="n">
            Total
          </th>
          <th scope="col">Key</th>
        </tr>
      </thead>
      <tbody>
        {rows ? <Rows rows={rows} fresh={fresh} keys={keys} /> : <BoneRows rows={8} columns={8} />}
      </tbody>
    </Table>
  );
}

/** The foot of the list: what the next older page needs, and why it could not be read. */
function Older({
  older,
  first_next,
}: {
  older: ReturnType<typeof useOlder>;
  first_next: string | null | undefined;
}) {
  const next = older.next === undefined ? first_next : older.next;
  return (
    <>
      {older.fault && <ErrorBox fault={older.fault} />}
      {next && (
        <div className="table-foot">
          <Button busy={older.busy} onClick={() => void older.load(next)}>
            Load older
          </Button>
        </div>
      )}
    </>
  );
}

export function RequestsPage() {
  const { slug, env } = useOrg();
  const raw = useSearch({ from: '/$org/$env/requests' });
  const search = useMemo(() => readRequestsSearch(raw), [raw]);
  const navigate = useNavigate();
  const hold = useHold();
  const summary = useSummary();
  const { data, error, fetching, again, first, older, read, feed } = useRequests(search, {
    held: hold.held,
    onRow: summary.add,
  });
  useShortcuts({
    ' ': hold.toggle,
    '.': feed.release,
    j: () => focusRow(1),
    k: () => focusRow(-1),
    y: () => void copyRow(),
  });

  const keys = namesOf(data, read ?? [], search.key);
  const filtered = Object.keys(search).length > 0;
  const change = (next: RequestsSearch) =>
    void navigate({ to: '/$org/$env/requests', params: { org: slug, env }, search: next, replace: true });
  const none = !!first && feed.rows.length === 0;

  return (
    <>
      <PageHead title="Requests" actions={<PauseButton pressed={hold.pressed} onToggle={hold.toggle} />}>
        <p className="row">
          <LiveMark state={feed.live} held={hold.held} /> Each call with where it went, how long it took and
          what it cost.
        </p>
      </PageHead>
      <span className="visually-hidden" aria-live="polite">
        {summary.text}
      </span>
      <FilterBar search={search} rows={feed.rows} keys={keys} onChange={change} />
      <section className="card requests" {...hold.pointer}>
        {/* Room for it is kept, so that the table does not jump when rows start to wait. */}
        <div className="requests-pill">
          {feed.waiting > 0 && (
            <Button kind="primary" aria-keyshortcuts="." onClick={feed.release}>
              {feed.waiting} new
            </Button>
          )}
          {fetching && data && <span className="refresh-line" aria-hidden="true" />}
        </div>
        {error && !first && <ErrorBox fault={faultOfQuery(error)} onRetry={again} />}
        {none && <NoCalls filtered={filtered} onClear={() => change({})} />}
        {!none && (first || !error) && (
          <RequestsTable rows={first && feed.rows} fresh={feed.fresh} keys={keys} />
        )}
        <Older older={older} first_next={first?.pageInfo.hasNextPage ? first.pageInfo.endCursor : null} />
      </section>
    </>
  );
}
