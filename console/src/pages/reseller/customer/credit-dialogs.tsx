// Giving a customer credit, and taking back what it has not used.
import { type FormEvent, useState } from 'react';
import { faultOfForm } from '../../../api/errors.ts';
import {
  type ResaleAllocationFragment,
  type ResaleCustomerFragment,
  ResaleGiveDocument,
  ResaleTakeBackDocument,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { exactText } from '../../../ui/format/money.ts';
import { Money } from '../../../ui/money.tsx';
import { FormFault } from '../../../ui/states.tsx';
import { minorOf } from '../../credits/amount.ts';
import type { Overview } from './credit-card.tsx';

const MICRO_PER_CENT = 10_000n;

interface Closing {
  readonly child: ResaleCustomerFragment;
  readonly onClose: () => void;
  readonly onDone: (said: string) => void;
}

/** "25.50" as micro-USD; null when it is no amount. */
function microOf(typed: string): bigint | null {
  const cents = minorOf(typed, 'USD');
  return cents === undefined ? null : BigInt(cents) * MICRO_PER_CENT;
}

/** What can be given, and what would be left to both. */
function Effect({
  child,
  overview,
  micro,
}: Pick<Closing, 'child'> & { overview: Overview | null; micro: bigint }) {
  if (!overview) return null;
  const left = BigInt(overview.givableMicroUsd) - micro;
  return (
    <dl className="resale-facts" aria-live="polite">
      <div>
        <dt>You can give</dt>
        <dd>
          <Money micro={overview.givableMicroUsd} />
        </dd>
      </div>
      <div>
        <dt>Left to give afterwards</dt>
        <dd>{left < 0n ? 'not enough' : <Money micro={left} />}</dd>
      </div>
      <div>
        <dt>{child.name} then has</dt>
        <dd>
          <Money micro={BigInt(child.availableMicroUsd) + micro} />
        </dd>
      </div>
    </dl>
  );
}

export function GiveDialog({ child, overview, onClose, onDone }: Closing & { overview: Overview | null }) {
  const { sendOnce, busy, fault, setFault } = useSend();
  const [typed, setTyped] = useState('');
  const micro = microOf(typed);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const days = Number(form.get('days'));
    if (micro === null) return setFault(faultOfForm('An amount in US dollars, like 25 or 25.50.'));
    if (!Number.isInteger(days) || days < 1 || days > 3_650)
      return setFault(faultOfForm('Credit lasts for 1 to 3,650 days.'));
    const note = String(form.get('note') ?? '').trim();
    const given = { id: child.id, amountMicroUsd: String(micro), note, expiresDays: days };
    if ((await sendOnce(ResaleGiveDocument, given)) !== null)
      onDone(`${exactText(micro)} is given to ${child.name}.`);
  };
  return (
    <Dialog
      title={`Give ${child.name} credit`}
      note={
        overview?.paymentHold
          ? 'While a payment of yours is disputed, no credit can be given.'
          : 'Out of your paid credit, at once. What is unused can be taken back until it ends.'
      }
      size={520}
      onClose={onClose}
    >
      <form className="add-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Amount, US dollars"
          inputMode="decimal"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          data-autofocus
        />
        <Effect child={child} overview={overview} micro={micro ?? 0n} />
        <TextField
          label="Lasts, days"
          name="days"
          inputMode="numeric"
          defaultValue="365"
          autoComplete="off"
          hint="What is unused then has lapsed, for you too."
        />
        <TextField label="Note" name="note" maxLength={500} hint="For you alone." autoComplete="off" />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy} disabled={overview?.paymentHold === true}>
          {micro === null ? 'Give credit' : `Give ${exactText(micro)}`}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function TakeBackDialog({ child, row, onClose, onDone }: Closing & { row: ResaleAllocationFragment }) {
  const { sendOnce, busy, fault } = useSend();
  const act = async () => {
    const done = await sendOnce(ResaleTakeBackDocument, { id: child.id, allocation: row.id });
    if (done === null) return;
    const back = BigInt(done.allocation.reclaimedMicroUsd) - BigInt(row.reclaimedMicroUsd);
    onDone(
      back === 0n ? 'All of it is used or held: nothing came back.' : `${exactText(back)} came back to you.`,
    );
  };
  return (
    <Dialog
      title={`Take back from ${child.name}`}
      note="What is unused of this credit and held by no call comes back at once, as paid credit of yours."
      size={480}
      onClose={onClose}
    >
      <dl className="resale-facts">
        <div>
          <dt>Given</dt>
          <dd>
            <Money micro={row.amountMicroUsd} />
          </dd>
        </div>
        <div>
          <dt>Came back before</dt>
          <dd>
            <Money micro={row.reclaimedMicroUsd} />
          </dd>
        </div>
        <div>
          <dt>At most comes back now</dt>
          <dd>
            <Money micro={BigInt(row.amountMicroUsd) - BigInt(row.reclaimedMicroUsd)} />
          </dd>
        </div>
      </dl>
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} cautious busy={busy} onPress={() => void act()}>
        Take back what is unused
      </DialogFoot>
    </Dialog>
  );
}
