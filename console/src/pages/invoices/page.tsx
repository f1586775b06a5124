// The page of invoices: what must be booked. Each document with its tax, its PDF, and a way to have it sent again.
import './invoices.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import { type InvoiceRowFragment, InvoicesDocument, type InvoicesQuery } from '../../api/gen/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { type InvoiceKindWord, invoiceKindWords, readInvoicesSearch } from '../../app/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { SelectField } from '../../ui/field.tsx';
import { currencyText } from '../../ui/format/money.ts';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { savePdf } from './file.ts';
import { Registration } from './registration.tsx';
import { ResendDialog } from './resend-dialog.tsx';
import { kindNames, nameOfKind, taxOf } from './words.ts';

/** A document; a credit note names the one that it takes back from. */
function Line({
  row,
  onFault,
  onResend,
}: {
  row: InvoiceRowFragment;
  onFault: (fault: Fault | null) => void;
  onResend: (row: InvoiceRowFragment) => void;
}) {
  const { id, role } = useOrg();
  const [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    onFault(await savePdf(id, row));
    setBusy(false);
  };
  const sign = row.kind === 'CREDIT_NOTE' ? '\u2212' : '';
  return (
    <tr>
      <td className="invoice-number">
        {row.number}
        {row.originalNumber && <span className="sub">of {row.originalNumber}</span>}
        <Registration row={row} />
      </td>
      <td className="soft" data-label="Date">
        <Time at={row.issuedAt} as="document" />
      </td>
      <td data-label="Kind">{nameOfKind(row.kind)}</td>
      <td className="n" data-label="Taxable">
        {sign + currencyText(row.taxableMinor, row.currency)}
      </td>
      <td className="n" data-label="Tax">
        {taxOf(row) === 0 ? '–' : sign + currencyText(taxOf(row), row.currency)}
      </td>
      <td className="n invoice-total" data-label="Total">
        {sign + currencyText(row.totalMinor, row.currency)}
      </td>
      <td>
        <div className="invoice-actions">
          <Button kind="quiet" icon="download" busy={busy} onClick={() => void download()}>
            PDF<span className="visually-hidden"> of {row.number}</span>
          </Button>
          {may(role, 'money') && (
            <Button kind="quiet" onClick={() => onResend(row)}>
              Send<span className="visually-hidden"> {row.number} again</span>
            </Button>
          )}
        </div>
      </td>
    </tr>
  );
}

function Rows({
  rows,
  kind,
  ...on
}: {
  rows: readonly InvoiceRowFragment[] | undefined;
  kind: InvoiceKindWord | undefined;
  onFault: (fault: Fault | null) => void;
  onResend: (row: InvoiceRowFragment) => void;
}) {
  if (rows?.length === 0) {
    return (
      <Empty title={kind === undefined ? 'No invoice yet' : `No ${kindNames[kind].toLowerCase()}`}>
        Each payment gets its document the moment it arrives.
      </Empty>
    );
  }
  return (
    <Table name="List of invoices" stacks busy={rows === undefined}>
      <Columns
        of={[
          'Number',
          'Date',
          'Kind',
          { name: 'Taxable', className: 'n' },
          { name: 'Tax', className: 'n' },
          { name: 'Total', className: 'n' },
          { name: 'Actions', hidden: true },
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={4} columns={7} />
        ) : (
          rows.map((row) => <Line key={row.id} row={row} {...on} />)
        )}
      </tbody>
    </Table>
  );
}

function KindChoice({ kind }: { kind: InvoiceKindWord | undefined }) {
  const { slug } = useOrg();
  const navigate = useNavigate();
  const params = { org: slug, env: 'live' };
  return (
    <SelectField
      label="Kind"
      value={kind ?? ''}
      onChange={({ target }) => {
        const next = invoiceKindWords.find((word) => word === target.value);
        const search = next === undefined ? {} : { kind: next };
        void navigate({ to: '/$org/$env/invoices', params, search, replace: true });
      }}
    >
      <option value="">All documents</option>
      {invoiceKindWords.map((word) => (
        <option key={word} value={word}>
          {kindNames[word]}
        </option>
      ))}
    </SelectField>
  );
}

const FIRST_PAGE = 50;
const OLDER_PAGE = 100;

function List({ kind, data }: { kind: InvoiceKindWord | undefined; data: InvoicesQuery | undefined }) {
  const client = useClient();
  const [fault, setFault] = useState<Fault | null>(null);
  const [resending, setResending] = useState<InvoiceRowFragment | null>(null);
  const { rows, ...older } = useOlder(data?.credits?.invoices, async (after) => {
    const variables = { first: OLDER_PAGE, after, kind: kindOf(kind) };
    const { data: page, error } = await client.query(InvoicesDocument, variables).toPromise();
    return { page: page?.credits?.invoices, error };
  });
  return (
    <>
      <FormFault fault={fault} />
      <Card flush>
        {data && !data.credits?.invoices ? (
          <Empty title="Not for your role">Owners, admins and billing members see invoices.</Empty>
        ) : (
          <>
            <Rows rows={rows} kind={kind} onFault={setFault} onResend={setResending} />
            <OlderFoot shown={rows?.length ?? 0} what="documents" {...older} />
          </>
        )}
      </Card>
      {resending !== null && <ResendDialog row={resending} onClose={() => setResending(null)} />}
    </>
  );
}

const kindOf = (kind: InvoiceKindWord | undefined) =>
  (kind?.toUpperCase() ?? null) as InvoiceRowFragment['kind'] | null;

function Invoices() {
  const { kind } = readInvoicesSearch(useSearch({ from: '/$org/$env/invoices' }));
  const [{ data, error }, again] = useQuery({
    query: InvoicesDocument,
    variables: { first: FIRST_PAGE, kind: kindOf(kind) },
  });
  return (
    <>
      <PageHead title="Invoices" actions={<KindChoice kind={kind} />}>
        <p>Every payment and every refund has a document with a number of its own.</p>
      </PageHead>
      <div className="stack">
        {error && !data ? (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
          </div>
        ) : (
          <List key={kind ?? ''} kind={kind} data={data} />
        )}
      </div>
    </>
  );
}

export function InvoicesPage() {
  const { slug, env } = useOrg();
  if (env === 'live') return <Invoices />;
  return (
    <>
      <PageHead title="Invoices" />
      <div className="card note">
        <span className="grow soft">Sandbox credit is play money and has no invoices.</span>
        <Link className="btn" to="/$org/$env/invoices" params={{ org: slug, env: 'live' }}>
          Open live invoices
        </Link>
      </div>
    </>
  );
}
