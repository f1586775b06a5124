// Redeeming a code, and what was redeemed.
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import {
  RedeemCodeDocument,
  type RedemptionRowFragment,
  RedemptionsDocument,
} from '../../../api/gen/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Money } from '../../../ui/money.tsx';
import { BoneRows, FormFault } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { OlderFoot, useOlder } from '../older.tsx';
import { groupedCode } from './words.ts';

const PAGE = 20;

function RedeemForm({ onRedeemed }: { onRedeemed: () => void }) {
  const [code, setCode] = useState('');
  const [done, setDone] = useState<RedemptionRowFragment | null>(null);
  const { busy, fault, sendOnce, setFault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (code.trim() === '' || busy) return;
    const made = await sendOnce(RedeemCodeDocument, { code });
    if (made === null) return;
    setDone(made.redemption);
    setCode('');
    onRedeemed();
  };
  return (
    <form className="redeem-form" noValidate onSubmit={(event) => void submit(event)}>
      <TextField
        label="Code"
        placeholder="GIFT-…"
        autoComplete="off"
        spellCheck={false}
        maxLength={64}
        className="input mono"
        value={code}
        onChange={(event) => {
          setFault(null);
          setDone(null);
          setCode(groupedCode(event.target.value));
        }}
      />
      <Button type="submit" kind="primary" busy={busy} disabled={code.trim() === ''}>
        Redeem
      </Button>
      <div className="redeem-said" role="status">
        {done && (
          <>
            <Money micro={done.amountMicroUsd} as="balance" /> of credit added. It ends{' '}
            <Time at={done.creditExpiresAt} />.
          </>
        )}
      </div>
      <FormFault fault={fault} />
    </form>
  );
}

function Redemptions({ rows }: { rows: readonly RedemptionRowFragment[] | undefined }) {
  return (
    <Table name="List of redeemed codes" stacks busy={rows === undefined}>
      <Columns of={['Redeemed', 'From', { name: 'Credit', className: 'n' }, 'Ends']} />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={2} columns={4} />
        ) : (
          rows.map((row) => (
            <tr key={row.id}>
              <td className="soft" data-label="Redeemed">
                <Time at={row.createdAt} />
              </td>
              <td data-label="From">{row.batch ?? 'a gift'}</td>
              <td className="n" data-label="Credit">
                <Money micro={row.amountMicroUsd} />
              </td>
              <td className="soft" data-label="Ends">
                <Time at={row.creditExpiresAt} />
              </td>
            </tr>
          ))
        )}
      </tbody>
    </Table>
  );
}

export function RedeemCard({ onChanged }: { onChanged: () => void }) {
  const client = useClient();
  const [{ data }, again] = useQuery({
    query: RedemptionsDocument,
    variables: { first: PAGE },
    requestPolicy: 'cache-and-network',
  });
  const { rows, ...older } = useOlder(data?.credits?.redemptions, async (after) => {
    const { data: page, error } = await client.query(RedemptionsDocument, { first: 100, after }).toPromise();
    return { page: page?.credits?.redemptions, error };
  });
  const onRedeemed = () => {
    again({ requestPolicy: 'network-only' });
    onChanged();
  };
  return (
    <Card title="Redeem a code" note="A gift of another organisation, or a code of ours." flush>
      <RedeemForm onRedeemed={onRedeemed} />
      {rows !== undefined && rows.length > 0 && <Redemptions rows={rows} />}
      <OlderFoot shown={rows?.length ?? 0} what="codes" {...older} />
    </Card>
  );
}
