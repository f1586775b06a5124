// The table of calls. Rows scroll below their head; older ones are read when the end comes near.
import { memo, useEffect, useRef } from 'react';
import type { FeedRowFragment } from '../../api/gen/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { IdText } from '../../ui/copy.tsx';
import { RowLink, RowModel, RowStatus } from '../../ui/feed.tsx';
import { countText, durationText } from '../../ui/format/numbers.ts';
import { zoneName } from '../../ui/format/time.ts';
import { Money } from '../../ui/money.tsx';
import { BoneRows, ErrorBox } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { usePart } from '../../ui/window.ts';
import type { Older } from './use-requests.ts';

const COLUMNS = 8;
/** Pixels before the end at which the next page is asked for, so that who scrolls on never waits. */
const AHEAD = '900px';

/** A row stays as it is drawn while nothing of it changes: a list has thousands. */
const Row = memo(function Row({
  row,
  fresh,
  name,
}: {
  row: FeedRowFragment;
  fresh: boolean;
  name: string | undefined;
}) {
  return (
    <tr className={fresh ? 'linked arrived' : 'linked'}>
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
      <td className="n requests-tokens">
        {countText(row.inputTokens)} <span className="faint">/ {countText(row.outputTokens)}</span>
      </td>
      <td className="n">
        <Money micro={row.costMicro} />
      </td>
      <td className="n soft">{durationText(row.ttftMs)}</td>
      <td className="n soft">{durationText(row.durationMs)}</td>
      <td className="soft">{name ?? <IdText id={row.keyId} short />}</td>
    </tr>
  );
});

function Head() {
  return (
    <Columns
      of={[
        `Time, ${zoneName(new Date())}`,
        { name: 'Status', className: 'wide-only' },
        'Model',
        { name: 'Tokens in / out', className: 'n requests-tokens' },
        { name: 'Cost', className: 'n' },
        { name: 'First token', className: 'n' },
        { name: 'Total', className: 'n' },
        'Key',
      ]}
    />
  );
}

/** The end of the list. It reads on by itself when it comes near, and by a press where a page could not be read. */
function End({ older }: { older: Older }) {
  const end = useRef<HTMLTableRowElement>(null);
  const load = useRef(older.load);
  load.current = older.load;
  // After each page the end may still be near, which an observer alone would not say again.
  const { rows, has_more, busy, fault } = older;
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that came are a reason to look again
  useEffect(() => {
    const row = end.current;
    if (row === null || busy || fault !== null) return;
    const observer = new IntersectionObserver(
      (entries) => entries.at(-1)?.isIntersecting && void load.current(),
      {
        root: row.closest('.table-scroll'),
        rootMargin: `0px 0px ${AHEAD} 0px`,
      },
    );
    observer.observe(row);
    return () => observer.disconnect();
  }, [rows, busy, fault]);
  if (!has_more && fault === null) return null;
  return (
    <tfoot>
      <tr ref={end}>
        <td className="table-foot" colSpan={COLUMNS}>
          {fault && <ErrorBox fault={fault} />}
          <Button busy={busy} onClick={() => void older.load()}>
            Load older
          </Button>
        </td>
      </tr>
    </tfoot>
  );
}

/** The room of rows that are out of sight. */
function Room({ height }: { height: number }) {
  if (height === 0) return null;
  return (
    <tr>
      <td colSpan={COLUMNS} className="requests-room" style={{ height }} />
    </tr>
  );
}

interface Rows {
  readonly rows: readonly FeedRowFragment[];
  readonly fresh: ReadonlySet<string>;
  readonly keys: ReadonlyMap<string, string>;
}

function Body({ rows, fresh, keys }: Rows) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to, above, below } = usePart(body, rows.length);
  return (
    <tbody ref={body}>
      <Room height={above} />
      {rows.slice(from, to).map((row) => (
        <Row key={row.id} row={row} fresh={fresh.has(row.id)} name={keys.get(row.keyId)} />
      ))}
      <Room height={below} />
    </tbody>
  );
}

/** Calls, or as many empty rows while none were read. */
export function RequestsTable({
  rows,
  older,
  ...rest
}: Omit<Rows, 'rows'> & { rows: Rows['rows'] | null | undefined; older: Older }) {
  return (
    <Table name="Requests" busy={!rows}>
      <Head />
      {rows ? (
        <Body rows={rows} {...rest} />
      ) : (
        <tbody>
          <BoneRows rows={8} columns={COLUMNS} />
        </tbody>
      )}
      {rows && <End older={older} />}
    </Table>
  );
}
