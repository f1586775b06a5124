// The statement of a month: what calls cost customers, how much of it is markup, and what of that is earned.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type Client, type CombinedError, useClient } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { type ResaleAccrualFragment, ResaleAccrualsDocument } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { dateText } from '../../ui/format/time.ts';
import { Money } from '../../ui/money.tsx';
import { saveText } from '../../ui/save-file.ts';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { useNow } from '../../ui/time.tsx';
import { lastMonths, statementCsv, totalsOf } from './words.ts';

const PAGE = 100;
const MONTHS = 24;
type Row = ResaleAccrualFragment;

interface Read {
  readonly month: string;
  readonly rows: readonly Row[] | undefined;
  readonly error: CombinedError | undefined;
}

/** All rows of a month: a statement is whole, or it is none. */
async function readMonth(client: Client, month: string): Promise<Omit<Read, 'month'>> {
  const rows: Row[] = [];
  const ask = (after: string | null) =>
    client
      .query(
        ResaleAccrualsDocument,
        { first: PAGE, month, ...(after === null ? {} : { after }) },
        { requestPolicy: 'network-only' },
      )
      .toPromise();
  let after: string | null = null;
  do {
    const { data, error } = (await ask(after)) as Awaited<ReturnType<typeof ask>>;
    const page = data?.reseller?.accruals;
    if (!page) return { rows: undefined, error };
    rows.push(...page.nodes);
    after = page.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? null) : null;
  } while (after !== null);
  return { rows, error: undefined };
}

function useStatement(month: string) {
  const client = useClient();
  const [read, setRead] = useState<Read>({ month, rows: undefined, error: undefined });
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a try more reads again
  useEffect(() => {
    let wanted = true;
    void readMonth(client, month).then((found) => wanted && setRead({ month, ...found }));
    return () => {
      wanted = false;
    };
  }, [client, month, tries]);
  const { rows, error } = read.month === month ? read : { rows: undefined, error: undefined };
  return { rows, error, retry: () => setTries(tries + 1) };
}

const FIGURES = [
  ['usageMicro', 'Calls cost'],
  ['markupMicro', 'Markup in it'],
  ['burnedMicro', 'Credit used'],
  ['paidMicro', 'Of it paid'],
  ['writtenOffMicro', 'Written off'],
  ['accruedMicro', 'You earn'],
] as const;

const COLUMNS = ['Customer', ...FIGURES.map(([, name]) => ({ name, className: 'n' })), 'State'];

function Figures({ of }: { of: Readonly<Record<(typeof FIGURES)[number][0], string>> }) {
  return FIGURES.map(([figure, name]) => (
    <td key={figure} className="n" data-label={name}>
      <Money micro={of[figure]} />
    </td>
  ));
}

function Statement({ rows }: { rows: readonly Row[] | undefined }) {
  return (
    <Table name="Statement of the month" stacks busy={rows === undefined}>
      <Columns of={COLUMNS} />
      <tbody>
        {rows === undefined && <BoneRows rows={3} columns={8} />}
        {rows?.map((row) => (
          <tr key={row.childOrgId}>
            <td>{row.childName}</td>
            <Figures of={row} />
            <td data-label="State">
              <Status tone={row.status === 'CREDITED' ? 'ok' : 'mute'}>
                {row.status === 'CREDITED' ? 'credited' : 'still open'}
              </Status>
            </td>
          </tr>
        ))}
        {rows && (
          <tr className="total">
            <td>All customers</td>
            <Figures of={totalsOf(rows)} />
            <td />
          </tr>
        )}
      </tbody>
    </Table>
  );
}

function Explained() {
  return (
    <Card title="How it is counted">
      <p className="resale-note">
        You earn the markup in the share of paid credit: markup × paid ÷ credit used, rounded down for each
        customer, less what was written off. Paid is what the customer paid for and what you gave; credit that
        the service granted earns nothing. A month is in UTC, and is credited to you on the 3rd of the next
        one, as granted credit that lasts 365 days.
      </p>
    </Card>
  );
}

export function EarningsView({ month: asked }: { month: string | undefined }) {
  const { slug, name, env } = useOrg();
  const navigate = useNavigate();
  const now = useNow();
  const months = lastMonths(MONTHS, now);
  const month = asked ?? (months[0] as string);
  const { rows, error, retry } = useStatement(month);
  const choose = (to: string) =>
    void navigate({
      ...{ to: '/$org/$env/reseller', params: { org: slug, env }, replace: true },
      search: { view: 'earnings', month: to },
    });
  const has_rows = rows !== undefined && rows.length > 0;
  return (
    <>
      <div className="resale-paper">
        <h1>{name}</h1>
        What customers used and what it earned in {month}; printed {dateText(now.toISOString().slice(0, 10))}
      </div>
      <div className="filters resale-screen">
        <select
          className="input"
          aria-label="Month"
          value={month}
          onChange={(event) => choose(event.target.value)}
        >
          {(months.includes(month) ? months : [month, ...months]).map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <Button
          icon="download"
          disabled={!has_rows}
          onClick={() => rows && saveText(statementCsv(month, rows), `earnings-${slug}-${month}.csv`)}
        >
          Save as CSV
        </Button>
        <Button disabled={!has_rows} onClick={() => print()}>
          Print the statement
        </Button>
      </div>
      <div className="resale-statement">
        <Card title={`Statement of ${month}`} note="US dollars, month in UTC." flush>
          {error && <ErrorBox fault={faultOfQuery(error)} onRetry={retry} />}
          {rows?.length === 0 && (
            <Empty title="Nothing in this month">No call of a customer was settled in it.</Empty>
          )}
          {!error && rows?.length !== 0 && <Statement rows={rows} />}
        </Card>
      </div>
      <Explained />
    </>
  );
}
