// Rows of calls, as Home, Requests and the key dialog show them.
import { Link } from '@tanstack/react-router';
import type { FeedRowFragment } from '../api/gen/graphql.ts';
import { useOrg } from '../app/org.tsx';
import { durationText } from './format/numbers.ts';
import { Money } from './money.tsx';
import { Status, type Tone } from './status.tsx';
import { Columns } from './table.tsx';
import { Time } from './time.tsx';

export type FeedRow = FeedRowFragment;

const tones: Record<FeedRow['status'], Tone> = { OK: 'ok', ERROR: 'bad', CANCELLED: 'mute', REJECTED: 'bad' };

/** The status in words: "ok", "529 · overloaded", "cancelled". The code, not "error". */
export function statusWord({ status, httpStatus, errorCode }: FeedRow): string {
  if (status === 'OK') return 'ok';
  if (status === 'CANCELLED') return 'cancelled';
  const code = errorCode.replace(/^upstream_/, '').replaceAll('_', ' ');
  return httpStatus > 0 ? `${httpStatus} · ${code}` : code;
}

export function RowStatus({ row, dense = false }: { row: FeedRow; dense?: boolean }) {
  return (
    <Status tone={tones[row.status]} plain={dense} word_hidden={dense}>
      {statusWord(row)}
    </Status>
  );
}

/** The time of a row as the link to its page; the whole row is its target. */
export function RowLink({ row }: { row: Pick<FeedRow, 'id' | 'ts'> }) {
  const { slug, env } = useOrg();
  return (
    <Link
      className="row-link"
      to="/$org/$env/requests/$id"
      params={{ org: slug, env, id: row.id }}
      aria-label={`Call ${row.id}`}
    >
      <Time at={row.ts} as="feed" />
    </Link>
  );
}

/** The way from a call that has just arrived to its page. */
export function RouteLink({ row }: { row: FeedRow }) {
  const { slug, env } = useOrg();
  return (
    <Link className="btn" to="/$org/$env/requests/$id" params={{ org: slug, env, id: row.id }}>
      See its route
    </Link>
  );
}

/** Model above provider. `short` leaves the vendor out, and shows the error code in place of the provider. */
export function RowModel({ row, short = false }: { row: FeedRow; short?: boolean }) {
  const ok = row.status === 'OK' || !short;
  const bad = short && (row.status === 'ERROR' || row.status === 'REJECTED');
  return (
    <div className="two">
      <div className="ellipsis" title={row.model}>
        {short ? row.model.slice(row.model.indexOf('/') + 1) : row.model}
      </div>
      <div className="sub" data-tone={bad ? 'bad' : undefined}>
        {ok ? row.provider || '–' : statusWord(row)}
        {row.attempts > 1 && ok && ' · fallback'}
      </div>
    </div>
  );
}

/** The short table of Home and of the key dialog. */
export function ShortFeed({ rows, fresh }: { rows: readonly FeedRow[]; fresh: ReadonlySet<string> }) {
  return (
    <>
      <Columns
        of={[
          'Time',
          'Model',
          { name: 'Cost', className: 'n feed-cost' },
          { name: 'First token', className: 'n wide-only' },
        ]}
      />
      <tbody>
        {rows.map((row) => (
          <tr key={row.id} className={fresh.has(row.id) ? 'linked arrived' : 'linked'}>
            <td className="soft">
              <span className="row">
                <RowStatus row={row} dense />
                <RowLink row={row} />
              </span>
            </td>
            <td className="feed-model">
              <RowModel row={row} short />
            </td>
            <td className="n feed-cost">
              <Money micro={row.costMicro} />
            </td>
            <td className="n soft wide-only">{durationText(row.ttftMs)}</td>
          </tr>
        ))}
      </tbody>
    </>
  );
}
