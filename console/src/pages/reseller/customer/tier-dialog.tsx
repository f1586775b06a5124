// Putting a customer on another tier, with what models cost it before and after, and what the last 30 days would have.
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import {
  type ResaleCustomerFragment,
  ResaleMoveCustomerDocument,
  type ResaleTierFragment,
  ResaleTwoPricesDocument,
  type ResaleTwoPricesQuery,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { perMillionText } from '../../../ui/format/money.ts';
import { Money } from '../../../ui/money.tsx';
import { BoneRows, FormFault } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { costAt, markupOf, percentText, tierText } from '../words.ts';

type Reseller = NonNullable<ResaleTwoPricesQuery['reseller']>;

interface Line {
  readonly key: string;
  readonly model: string;
  readonly kind: string;
  readonly now_nano: number;
  readonly next_nano: number;
  readonly earned_nano: number;
}

/** Input and output of each model, once before and once after; both lists have the same order. */
function linesOf({ now, next }: Pick<Reseller, 'now' | 'next'>): Line[] {
  return (now?.data ?? []).flatMap(({ model, rates }, i) =>
    rates
      .filter(({ kind }) => kind === 'input' || kind === 'output')
      .flatMap(({ kind, customerNano }) => {
        const after = next?.data[i]?.rates.find((rate) => rate.kind === kind);
        if (after === undefined) return [];
        const nanos = { now_nano: customerNano, next_nano: after.customerNano };
        return [{ key: `${i} ${kind}`, model, kind, ...nanos, earned_nano: after.earnedNano }];
      }),
  );
}

const COLUMNS = [
  'Model',
  { name: 'Pays now', className: 'n' },
  { name: 'Will pay', className: 'n' },
  { name: 'You earn', className: 'n' },
];

function Prices({ now, next }: { now: number; next: number }) {
  const [{ data }] = useQuery({ query: ResaleTwoPricesDocument, variables: { now, next } });
  const lines = data?.reseller ? linesOf(data.reseller) : undefined;
  return (
    <div className="resale-prices">
      <Table name="Prices before and after" stacks busy={lines === undefined}>
        <Columns of={COLUMNS} />
        <tbody>
          {lines?.map(({ key, model, kind, now_nano, next_nano, earned_nano }) => (
            <tr key={key}>
              <td className="resale-wrap">
                {model} <span className="faint">{kind}</span>
              </td>
              <td className="n" data-label="Pays now">
                {perMillionText(now_nano)}
              </td>
              <td className="n" data-label="Will pay">
                {perMillionText(next_nano)}
              </td>
              <td className="n" data-label="You earn">
                {perMillionText(earned_nano)}
              </td>
            </tr>
          )) ?? <BoneRows rows={4} columns={4} />}
        </tbody>
      </Table>
    </div>
  );
}

export function TierOfDialog(props: {
  child: ResaleCustomerFragment;
  tiers: readonly ResaleTierFragment[];
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { child, tiers, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const [chosen, setChosen] = useState(child.tierId ?? '');
  const tierId = chosen === '' ? null : chosen;
  const [now, next] = [markupOf(tiers, child.tierId), markupOf(tiers, tierId)];
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const done = await send(ResaleMoveCustomerDocument, { id: child.id, tierId });
    if (done !== null) onDone(`Calls from now on cost: ${tierText(tiers, tierId)}.`);
  };
  return (
    <Dialog
      title={`What ${child.name} pays`}
      note="Calls that begin after it is saved pay the new prices; a call that runs keeps its own."
      size={680}
      onClose={onClose}
    >
      <form className="add-form" onSubmit={(event) => void submit(event)} noValidate>
        <SelectField
          label="Tier"
          value={chosen}
          onChange={(event) => setChosen(event.target.value)}
          data-autofocus
        >
          {tiers.map(({ id, name, markupBps }) => (
            <option key={id} value={id}>{`${name}, ${percentText(markupBps)} above catalog`}</option>
          ))}
          <option value="">Catalog prices</option>
        </SelectField>
        <p className="resale-note" role="status">
          {now === next ? (
            'That is what it pays now.'
          ) : (
            <>
              What its calls of the last 30 days cost, <Money micro={child.usage30dMicro} as="spend" />, would
              have been about <Money micro={costAt(child.usage30dMicro, now, next)} as="spend" />.
            </>
          )}
        </p>
        <Prices now={now} next={next} />
        <p className="sub">US dollars per million tokens.</p>
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy} disabled={tierId === (child.tierId ?? null)}>
          Save
        </DialogFoot>
      </form>
    </Dialog>
  );
}
