// Lots and movements of a book, in the tables that the customers have, and what staff did to the organization.
import { useClient } from 'urql';
import type { MovementRowFragment } from '../../../api/gen/graphql.ts';
import {
  type ActRowFragment,
  type Environment,
  StaffOlderActsDocument,
  StaffOlderEntriesDocument,
  StaffOlderLotsDocument,
  type StaffOrgLedgerQuery,
} from '../../../api/gen/staff/graphql.ts';
import { Lots } from '../../../pages/credits/lots-card.tsx';
import { Movements } from '../../../pages/credits/movements-card.tsx';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { StaffDocumentLink } from '../../../pages/invoices/document-link.tsx';
import { Card } from '../../../ui/card.tsx';
import { IdText } from '../../../ui/copy.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { NotYours } from './not-yours.tsx';

interface Props {
  readonly id: string;
  readonly environment: Environment;
  readonly org: StaffOrgLedgerQuery['staffOrg'] | undefined;
}

export function LotsCard({ id, environment, org }: Props) {
  const client = useClient();
  const { rows, ...older } = useOlder(org?.lots, async (after) => {
    const { data, error } = await client
      .query(StaffOlderLotsDocument, { id, environment, after })
      .toPromise();
    return { page: data?.staffOrg?.lots, error };
  });
  return (
    <Card title="Lots" note="With credit left." flush>
      {org && !org.lots && <NotYours what="Lots" />}
      {rows?.length === 0 && <Empty title="No credit is left">A lot appears when credit comes in.</Empty>}
      {(org === undefined || (rows !== undefined && rows.length > 0)) && (
        <>
          <Lots rows={rows} />
          <OlderFoot shown={rows?.length ?? 0} what="lots" {...older} />
        </>
      )}
    </Card>
  );
}

function Reference({ row }: { row: MovementRowFragment }) {
  if (row.documentId && row.documentNumber) {
    return <StaffDocumentLink row={{ id: row.documentId, number: row.documentNumber }} />;
  }
  const id = row.requestId ?? row.refId ?? '';
  if (/^(?:[a-z]+_)?[0-9A-HJKMNP-TV-Z]{26}$/.test(id)) return <IdText id={id} short />;
  return <span className="soft">{id}</span>;
}

export function MovementsCard({ id, environment, org }: Props) {
  const client = useClient();
  const { rows, ...older } = useOlder(org?.ledger, async (after) => {
    const { data, error } = await client
      .query(StaffOlderEntriesDocument, { id, environment, after })
      .toPromise();
    return { page: data?.staffOrg?.ledger, error };
  });
  return (
    <Card title="Movements" note="Entries of the ledger, newest first." flush>
      {org && !org.ledger && <NotYours what="Movements" />}
      {rows?.length === 0 && <Empty title="Nothing has moved">The book is new.</Empty>}
      {(org === undefined || (rows !== undefined && rows.length > 0)) && (
        <>
          <Movements rows={rows} reference={(row) => <Reference row={row} />} />
          <OlderFoot shown={rows?.length ?? 0} what="movements" {...older} />
        </>
      )}
    </Card>
  );
}

function Act({ row }: { row: ActRowFragment }) {
  return (
    <tr>
      <td className="soft" data-label="When">
        <Time at={row.at} />
      </td>
      <td data-label="Who">{row.actor}</td>
      <td className="mono" data-label="What">
        {row.action}
      </td>
      <td data-label="Reason">{row.reason ?? <span className="faint">–</span>}</td>
      <td className="sub" data-label="With">
        {row.after.map(({ name, value }) => `${name} ${value}`).join(', ') || '–'}
      </td>
    </tr>
  );
}

export function ActsCard({ id, org }: Omit<Props, 'environment'>) {
  const client = useClient();
  const { rows, ...older } = useOlder(org?.acts, async (after) => {
    const { data, error } = await client.query(StaffOlderActsDocument, { id, after }).toPromise();
    return { page: data?.staffOrg?.acts, error };
  });
  return (
    <Card title="What staff did" note="From the audit log; looks are left out here." flush>
      {org && !org.acts && <NotYours what="Acts" />}
      {rows?.length === 0 && <Empty title="Nothing yet">Nobody of staff has changed anything here.</Empty>}
      {rows !== undefined && rows.length > 0 && (
        <>
          <Table name="What staff did to the organization" stacks>
            <Columns of={['When', 'Who', 'What', 'Reason', 'With']} />
            <tbody>
              {rows.map((row) => (
                <Act key={row.id} row={row} />
              ))}
            </tbody>
          </Table>
          <OlderFoot shown={rows.length} what="acts" {...older} />
        </>
      )}
    </Card>
  );
}
