// Invoices, receipts and credit notes of an organization.
import '../../../pages/invoices/invoices.css';
import { useClient } from 'urql';
import {
  type StaffDocumentRowFragment,
  StaffOlderDocumentsDocument,
  type StaffOrgMoneyQuery,
} from '../../../api/gen/staff/graphql.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { StaffDocumentLink } from '../../../pages/invoices/document-link.tsx';
import { Registration } from '../../../pages/invoices/registration.tsx';
import { Card } from '../../../ui/card.tsx';
import { currencyText } from '../../../ui/format/money.ts';
import { Empty } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { NotYours } from './not-yours.tsx';

function Line({ row }: { row: StaffDocumentRowFragment }) {
  return (
    <tr>
      <td className="invoice-number">
        <StaffDocumentLink row={row} />
        {row.originalNumber && <span className="sub">of {row.originalNumber}</span>}
        <Registration row={row} />
      </td>
      <td data-label="Kind">{row.kind.replaceAll('_', ' ')}</td>
      <td className="soft" data-label="Issued">
        <Time at={row.issuedAt} as="document" />
      </td>
      <td className="n" data-label="Tax">
        {row.taxMinor === '0' ? 'none' : currencyText(row.taxMinor, row.currency)}
      </td>
      <td className="n" data-label="Total">
        {currencyText(row.totalMinor, row.currency)}
      </td>
      <td className="soft" data-label="Sent">
        <Time at={row.sentAt} never="not sent" />
      </td>
    </tr>
  );
}

export function DocumentsCard({ id, org }: { id: string; org: StaffOrgMoneyQuery['staffOrg'] | undefined }) {
  const client = useClient();
  const { rows, ...older } = useOlder(org?.documents, async (after) => {
    const { data, error } = await client.query(StaffOlderDocumentsDocument, { id, after }).toPromise();
    return { page: data?.staffOrg?.documents, error };
  });
  return (
    <Card title="Documents" flush>
      {org && !org.documents && <NotYours what="Documents" />}
      {rows?.length === 0 && (
        <Empty title="No document yet">Each payment makes an invoice or a receipt.</Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <>
          <Table name="Documents of the organization" stacks>
            <Columns
              of={[
                'Number',
                'Kind',
                'Issued',
                { name: 'Tax', className: 'n' },
                { name: 'Total', className: 'n' },
                'Sent',
              ]}
            />
            <tbody>
              {rows.map((row) => (
                <Line key={row.id} row={row} />
              ))}
            </tbody>
          </Table>
          <OlderFoot shown={rows.length} what="documents" {...older} />
        </>
      )}
    </Card>
  );
}
