// Invoices that customers have of the reseller, and in which name it sells.
import '../../invoices/invoices.css';
import '../storefront/storefront.css';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery } from '../../../api/errors.ts';
import {
  ResaleDocumentsDocument,
  ResaleInvoicingDocument,
  type SellerDocumentFragment,
} from '../../../api/gen/tools/graphql.ts';
import { useOrg } from '../../../app/org.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { currencyText } from '../../../ui/format/money.ts';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { OlderFoot, useOlder } from '../../credits/older.tsx';
import { savePdfOfReseller } from '../../invoices/file.ts';
import { nameOfKind, taxOf } from '../../invoices/words.ts';
import { holds } from '../views.ts';
import { SellerForm } from './form.tsx';

const PAGE = 20;
type Row = SellerDocumentFragment;
const COLUMNS = [
  ...['Number', 'Customer', 'Date', 'Kind'],
  ...['Taxable', 'Tax', 'Total'].map((name) => ({ name, className: 'n' })),
  { name: 'Actions', hidden: true },
];

function Line({ row, onFault }: { row: Row; onFault: (fault: Fault | null) => void }) {
  const { id } = useOrg();
  const [busy, setBusy] = useState(false);
  const { currency } = row;
  const sign = row.kind === 'CREDIT_NOTE' ? '\u2212' : '';
  const tax = taxOf(row);
  const press = async () => {
    setBusy(true);
    onFault(await savePdfOfReseller(id, row));
    setBusy(false);
  };
  return (
    <tr>
      <td className="invoice-number">
        {row.number}
        {row.originalNumber && <span className="sub">of {row.originalNumber}</span>}
      </td>
      <td data-label="Customer">{row.recipient.name}</td>
      <td className="soft" data-label="Date">
        <Time at={row.issuedAt} as="document" />
      </td>
      <td data-label="Kind">{nameOfKind(row.kind)}</td>
      <td className="n" data-label="Taxable">
        {sign + currencyText(row.taxableMinor, currency)}
      </td>
      <td className="n" data-label="Tax">
        {tax === 0 ? '–' : sign + currencyText(tax, currency)}
      </td>
      <td className="n invoice-total" data-label="Total">
        {sign + currencyText(row.totalMinor, currency)}
      </td>
      <td className="n">
        <Button kind="quiet" icon="download" busy={busy} onClick={() => void press()}>
          PDF<span className="visually-hidden"> of {row.number}</span>
        </Button>
      </td>
    </tr>
  );
}

function Documents() {
  const client = useClient();
  const [fault, setFault] = useState<Fault | null>(null);
  const [{ data, error }, again] = useQuery({
    ...{ query: ResaleDocumentsDocument, variables: { first: PAGE } },
    requestPolicy: 'cache-and-network',
  });
  const { rows, ...older } = useOlder(data?.reseller?.invoices, async (after) => {
    const { data: page, error } = await client
      .query(ResaleDocumentsDocument, { first: PAGE, after })
      .toPromise();
    return { page: page?.reseller?.invoices, error };
  });
  if (error && !rows)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (rows?.length === 0)
    return (
      <Empty title="No invoice yet">
        Each payment of a customer gets its document the moment it arrives.
      </Empty>
    );
  return (
    <>
      <FormFault fault={fault} />
      <Table name="Invoices of customers" stacks busy={rows === undefined}>
        <Columns of={COLUMNS} />
        <tbody>
          {rows?.map((row) => <Line key={row.id} row={row} onFault={setFault} />) ?? (
            <BoneRows rows={2} columns={8} />
          )}
        </tbody>
      </Table>
      <OlderFoot shown={rows?.length ?? 0} what="invoices" {...older} />
    </>
  );
}

export function InvoicingView() {
  const may = holds(useOrg(), 'reseller.write');
  const [{ data, error }, query] = useQuery({
    query: ResaleInvoicingDocument,
    requestPolicy: 'cache-and-network',
  });
  const again = () => query({ requestPolicy: 'network-only' });
  const read = data?.reseller;
  return (
    <>
      <Card title="Invoices of your customers" flush>
        <Documents />
      </Card>
      {error && !read && (
        <Card>
          <ErrorBox fault={faultOfQuery(error)} onRetry={again} />
        </Card>
      )}
      {read && <SellerForm seller={read.invoicing ?? null} may={may} onSaved={again} />}
    </>
  );
}
