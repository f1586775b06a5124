// The page of calls: what is being called now, and what failed.
import './requests.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { faultOfQuery } from '../../api/errors.ts';
import { useOrg } from '../../app/org.tsx';
import type { RequestsSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { LiveMark } from '../../ui/live-mark.tsx';
import { Empty, ErrorBox } from '../../ui/states.tsx';
import { ExportButton } from './export.tsx';
import { FilterBar } from './filters.tsx';
import { readSaidSearch } from './said.ts';
import { RequestsTable } from './table.tsx';
import { useChoices, useRequests } from './use-requests.ts';

const SUMMARY_MS = 10_000;
const HOVER_MS = 1_000;

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

const rowKeys = { j: () => focusRow(1), k: () => focusRow(-1), y: () => void copyRow() };

function PauseButton({ hold: { pressed, toggle } }: { hold: ReturnType<typeof useHold> }) {
  return (
    <Button
      icon={pressed ? 'player-play' : 'player-pause'}
      aria-pressed={pressed}
      aria-keyshortcuts="Space"
      onClick={toggle}
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
        New ones that match appear here.
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

export function RequestsPage() {
  const { slug, env } = useOrg();
  const raw = useSearch({ from: '/$org/$env/requests' });
  const search = useMemo(() => readSaidSearch({ ...raw }), [raw]);
  const navigate = useNavigate();
  const hold = useHold();
  const summary = useSummary();
  const { variables, error, fetching, again, first, older, read, feed } = useRequests(search, {
    held: hold.held,
    onRow: summary.add,
  });
  const choices = useChoices(search, read ?? []);
  useShortcuts({ ...rowKeys, ' ': hold.toggle, '.': feed.release });

  const filtered = Object.keys(search).length > 0;
  const change = (next: RequestsSearch) =>
    void navigate({ to: '/$org/$env/requests', params: { org: slug, env }, search: next, replace: true });
  const none = !!first && feed.rows.length === 0;

  return (
    <>
      <PageHead
        title="Requests"
        actions={
          <>
            <ExportButton variables={variables} name={`requests-${slug}-${env}.csv`} />
            <PauseButton hold={hold} />
          </>
        }
      >
        <p className="row">
          <LiveMark state={feed.live} held={hold.held} /> Each call with where it went, how long it took and
          what it cost.
        </p>
      </PageHead>
      <span className="visually-hidden" aria-live="polite">
        {summary.text}
      </span>
      <FilterBar search={search} choices={choices} onChange={change} />
      <section className="card requests" {...hold.pointer}>
        {/* Over the first row, below the head; the table does not move when rows start to wait. */}
        <div className="requests-pill">
          {feed.waiting > 0 && (
            <Button kind="primary" aria-keyshortcuts="." onClick={feed.release}>
              {feed.waiting} new
            </Button>
          )}
          {fetching && first && <span className="refresh-line" aria-hidden="true" />}
        </div>
        {error && !first && <ErrorBox fault={faultOfQuery(error)} onRetry={again} />}
        {none && <NoCalls filtered={filtered} onClear={() => change({})} />}
        {!none && (first || !error) && (
          <RequestsTable rows={first && feed.rows} fresh={feed.fresh} keys={choices.keys} older={older} />
        )}
      </section>
    </>
  );
}
