// The gifts that the organisation has made.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { CancelGiftDocument, type GiftRowFragment, GiftsDocument } from '../../../api/gen/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { may, useOrg } from '../../../app/org.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Money } from '../../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { OlderFoot, useOlder } from '../older.tsx';
import { GiftDialog } from './gift-dialog.tsx';
import { giftMark } from './words.ts';

const PAGE = 20;

function GiftLine({
  row,
  busy,
  onCancel,
}: {
  row: GiftRowFragment;
  busy: boolean;
  onCancel: (() => void) | null;
}) {
  const { word, ...mark } = giftMark(row.status);
  return (
    <tr>
      <td className="soft" data-label="Made">
        <Time at={row.createdAt} />
      </td>
      <td data-label="Status">
        <Status {...mark}>{word}</Status>
      </td>
      <td className="n" data-label="Amount">
        <Money micro={row.amountMicroUsd} />
      </td>
      <td className="mono" data-label="Code">
        {row.hint}
      </td>
      <td className="soft" data-label="Note">
        {row.note || '–'}
      </td>
      <td className="soft" data-label="Ends or ended">
        {row.closedAt ? <Time at={row.closedAt} /> : <Time at={row.expiresAt} />}
      </td>
      <td>
        {row.status === 'OPEN' && onCancel && (
          <Button busy={busy} onClick={onCancel} aria-label={`Cancel the gift ${row.hint}`}>
            Cancel
          </Button>
        )}
      </td>
    </tr>
  );
}

function Gifts({
  rows,
  busy,
  onCancel,
}: {
  rows: readonly GiftRowFragment[] | undefined;
  busy: string | null;
  onCancel: ((id: string) => void) | null;
}) {
  return (
    <Table name="List of gifts" stacks busy={rows === undefined}>
      <Columns
        of={[
          'Made',
          'Status',
          { name: 'Amount', className: 'n' },
          'Code',
          'Note',
          'Ends or ended',
          { name: 'Action', hidden: true },
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={2} columns={7} />
        ) : (
          rows.map((row) => (
            <GiftLine
              key={row.id}
              row={row}
              busy={busy === row.id}
              onCancel={onCancel && (() => onCancel(row.id))}
            />
          ))
        )}
      </tbody>
    </Table>
  );
}

/** All that was read of the gifts, and cancelling one. */
function useGifts(onChanged: () => void) {
  const client = useClient();
  const [{ data, error }, query] = useQuery({
    query: GiftsDocument,
    variables: { first: PAGE },
    requestPolicy: 'cache-and-network',
  });
  const { rows, ...older } = useOlder(data?.credits?.gifts, async (after) => {
    const { data: page, error } = await client.query(GiftsDocument, { first: 100, after }).toPromise();
    return { page: page?.credits?.gifts, error };
  });
  const { fault, send, underWay } = useSend();
  const changed = () => {
    query({ requestPolicy: 'network-only' });
    onChanged();
  };
  const cancel = async (id: string) => {
    await send(CancelGiftDocument, { id });
    changed();
  };
  const hidden = data !== undefined && !data.credits?.gifts;
  const cancelling = underWay(CancelGiftDocument)?.id ?? null;
  return { rows, older, error: data ? undefined : error, hidden, cancelling, fault, changed, cancel };
}

export function GiftsCard({ onChanged }: { onChanged: () => void }) {
  const { role } = useOrg();
  const allowed = may(role, 'money');
  const [making, setMaking] = useState(false);
  const { rows, older, error, hidden, cancelling, fault, changed, cancel } = useGifts(onChanged);
  const button = allowed && (
    <Button icon="plus" onClick={() => setMaking(true)}>
      Make a gift
    </Button>
  );
  return (
    <Card title="Gifts" note="Credit for another organisation, by a code." more={button || undefined} flush>
      <FormFault fault={fault} />
      {error && <ErrorBox fault={faultOfQuery(error)} onRetry={changed} />}
      {hidden && <Empty title="Not for your role">Owners, admins and billing members see gifts.</Empty>}
      {rows?.length === 0 && (
        <Empty title="No gift yet">
          A gift is taken out of paid credit. If nobody redeems it in 90 days, it comes back.
        </Empty>
      )}
      {!error && !hidden && rows?.length !== 0 && (
        <Gifts rows={rows} busy={cancelling} onCancel={allowed ? (id) => void cancel(id) : null} />
      )}
      <OlderFoot shown={rows?.length ?? 0} what="gifts" {...older} />
      {making && <GiftDialog onMade={changed} onClose={() => setMaking(false)} />}
    </Card>
  );
}
