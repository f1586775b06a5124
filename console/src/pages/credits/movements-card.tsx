// The entries of the ledger: what moved, and the balance after it.
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { type MovementRowFragment, MovementsDocument } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Card } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { DocumentLink } from '../invoices/document-link.tsx';
import { breaksIn, type EntryKind, kinds, kindWords } from './entry-words.ts';
import { OlderFoot, useOlder } from './older.tsx';

const PAGE = 50;

function Reference({ row }: { row: MovementRowFragment }) {
  const { slug, env } = useOrg();
  if (row.requestId) {
    return (
      <Link
        className="link"
        to="/$org/$env/requests/$id"
        params={{ org: slug, env, id: row.requestId }}
        aria-label={`Call ${row.requestId}`}
      >
        <IdText id={row.requestId} short />
      </Link>
    );
  }
  if (row.documentId && row.documentNumber) {
    return <DocumentLink row={{ id: row.documentId, number: row.documentNumber }} />;
  }
  const id = row.refId ?? '';
  return /^[a-z]+_[0-9A-Z]{26}$/.test(id) ? <IdText id={id} short /> : <span className="soft">{id}</span>;
}

type Referred = (row: MovementRowFragment) => ReactNode;

function Movement(props: { row: MovementRowFragment; broken: boolean; reference: Referred }) {
  const { row, broken, reference } = props;
  return (
    <tr>
      <td className="n soft" data-label="Entry">
        {row.seq}
      </td>
      <td className="soft" data-label="Time">
        <Time at={row.createdAt} />
      </td>
      <td data-label="What">{kindWords[row.kind]}</td>
      <td className="n" data-label="Amount">
        <Money micro={row.amountMicroUsd} signed />
      </td>
      <td className="n" data-label="Balance after">
        {broken && (
          <Status tone="bad" plain>
            does not follow
          </Status>
        )}{' '}
        <Money micro={row.balanceAfterMicroUsd} />
      </td>
      <td data-label="Call or document">{reference(row)}</td>
    </tr>
  );
}

/** Entries as a table; `reference` shows what an entry is about. */
export function Movements(props: { rows: readonly MovementRowFragment[] | undefined; reference: Referred }) {
  const { rows, reference } = props;
  const broken = breaksIn(rows ?? []);
  return (
    <Table name="List of movements" stacks busy={rows === undefined}>
      <Columns
        of={[
          { name: 'Entry', className: 'n' },
          'Time',
          'What',
          { name: 'Amount', className: 'n' },
          { name: 'Balance after', className: 'n' },
          'Call or document',
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={6} columns={6} />
        ) : (
          rows.map((row) => (
            <Movement key={row.seq} row={row} broken={broken.has(String(row.seq))} reference={reference} />
          ))
        )}
      </tbody>
    </Table>
  );
}

export function MovementsCard() {
  const { environment } = useOrg();
  const client = useClient();
  const [kind, setKind] = useState<EntryKind | null>(null);
  const variables = { environment, kind, first: PAGE };
  const [{ data, error }, again] = useQuery({
    query: MovementsDocument,
    variables,
    requestPolicy: 'cache-and-network',
  });
  const { rows, ...older } = useOlder(data?.credits?.ledger, async (after) => {
    const { data: page, error } = await client
      .query(MovementsDocument, { ...variables, first: 100, after })
      .toPromise();
    return { page: page?.credits?.ledger, error };
  });
  const filter = (
    <SelectField
      label="Kind"
      value={kind ?? ''}
      onChange={(event) => setKind(kinds.find((each) => each === event.target.value) ?? null)}
    >
      <option value="">Everything</option>
      {kinds.map((each) => (
        <option key={each} value={each}>
          {kindWords[each]}
        </option>
      ))}
    </SelectField>
  );
  return (
    <Card title="Movements" note="Every entry of the ledger, newest first." more={filter} flush>
      {error && !data && (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {data && !data.credits?.ledger && (
        <Empty title="Not for your role">Owners, admins and billing members see movements.</Empty>
      )}
      {rows?.length === 0 && (
        <Empty title="No such movement">
          {kind === null ? 'Nothing has moved yet.' : 'Nothing of this kind has moved.'}
        </Empty>
      )}
      {!(error && !data) && (data === undefined || (rows !== undefined && rows.length > 0)) && (
        <>
          <Movements rows={rows} reference={(row) => <Reference row={row} />} />
          <OlderFoot shown={rows?.length ?? 0} what="movements" {...older} />
        </>
      )}
    </Card>
  );
}
