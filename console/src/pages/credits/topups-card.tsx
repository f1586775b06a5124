// The list of top-ups.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from 'urql';
import { type CreditsQuery, type TopupRowFragment, TopupsDocument } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Card } from '../../ui/card.tsx';
import { currencyText } from '../../ui/format/money.ts';
import { Money } from '../../ui/money.tsx';
import { BoneRows, Empty } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { InvoiceOf } from './invoice-of.tsx';
import { OlderFoot, useOlder } from './older.tsx';
import { TopupStatusMark } from './return-card.tsx';

/** A top-up: what was paid, or would have been. */
function TopupLine({ row }: { row: TopupRowFragment }) {
  const { slug } = useOrg();
  return (
    <tr>
      <td className="soft" data-label="Started">
        <Link
          className="link"
          to="/$org/$env/credits"
          params={{ org: slug, env: 'live' }}
          search={{ topup: row.id }}
        >
          <Time at={row.createdAt} />
        </Link>
      </td>
      <td data-label="Status">
        <TopupStatusMark row={row} />
      </td>
      <td className={row.status === 'PAID' ? 'n' : 'n faint'} data-label="Amount">
        {currencyText(row.totalMinor, row.currency)}
        {row.status !== 'PAID' && row.status !== 'REVIEW' && ', not paid'}
      </td>
      <td className="n" data-label="Credits">
        {row.status === 'PAID' ? <Money micro={row.creditsMicro} /> : '–'}
      </td>
      <td className="soft" data-label="By">
        {row.method ?? '–'}
      </td>
      <td data-label="Invoice">
        <InvoiceOf row={row} />
      </td>
    </tr>
  );
}

function Topups({ rows, action }: { rows: readonly TopupRowFragment[] | undefined; action: ReactNode }) {
  if (rows?.length === 0) {
    return (
      <Empty title="No top-up yet" actions={action}>
        Each payment appears here with its invoice as soon as it is started.
      </Empty>
    );
  }
  return (
    <Table name="List of top-ups" stacks busy={rows === undefined}>
      <Columns
        of={[
          'Started',
          'Status',
          { name: 'Amount', className: 'n' },
          { name: 'Credits', className: 'n' },
          'By',
          'Invoice',
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={3} columns={6} />
        ) : (
          rows.map((row) => <TopupLine key={row.id} row={row} />)
        )}
      </tbody>
    </Table>
  );
}

/** Older ones are read in pages as large as the API gives. */
const OLDER_PAGE = 100;

export function TopupsCard({ data, action }: { data: CreditsQuery | undefined; action: ReactNode }) {
  const client = useClient();
  const { rows, ...older } = useOlder(data?.credits?.topups, async (after) => {
    const { data: page, error } = await client
      .query(TopupsDocument, { first: OLDER_PAGE, after })
      .toPromise();
    return { page: page?.credits?.topups, error };
  });
  return (
    <Card title="Top-ups" flush>
      {data && !data.credits?.topups ? (
        <Empty title="Not for your role">Owners, admins and billing members see top-ups.</Empty>
      ) : (
        <>
          <Topups rows={rows} action={action} />
          <OlderFoot shown={rows?.length ?? 0} what="top-ups" {...older} />
        </>
      )}
    </Card>
  );
}
