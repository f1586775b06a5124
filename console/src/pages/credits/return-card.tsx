// One top-up, after its payment page led back or chosen in the list. It stays in the address, so a reload shows it
// again.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  CancelTopupDocument,
  TopupDocument,
  type TopupRowFragment,
  TopupUpdatedDocument,
} from '../../api/gen/graphql.ts';
import { latestOf } from '../../api/live.ts';
import { useSend } from '../../api/send.ts';
import { useLive } from '../../api/use-live.ts';
import { Button } from '../../ui/button.tsx';
import { IdText } from '../../ui/copy.tsx';
import { currencyText } from '../../ui/format/money.ts';
import { Money } from '../../ui/money.tsx';
import { Bone, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { DisputeNote } from './dispute-note.tsx';
import { InvoiceOf } from './invoice-of.tsx';
import { RefundDialog } from './refund-dialog.tsx';
import { choicesOf, markOf, type Outcome, sentenceOf } from './topup-words.ts';

export function TopupStatusMark({ row }: { row: TopupRowFragment }) {
  const { tone, shape, word } = markOf(row);
  return (
    <Status tone={tone} shape={shape}>
      {word}
    </Status>
  );
}

/** Price, tax, what it buys, and when: everything that is known of a top-up. */
function Facts({ row }: { row: TopupRowFragment }) {
  const { currency } = row;
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Price', currencyText(row.amountMinor, currency)],
    ['Tax', row.taxMinor === '0' ? 'none' : currencyText(row.taxMinor, currency)],
    ['Total', currencyText(row.totalMinor, currency)],
    ['Credits', <Money key="credits" micro={row.creditsMicro} />],
    ['Refunded', row.refundedMinor === '0' ? null : currencyText(row.refundedMinor, currency)],
    ['Paid by', row.method],
    ['Started', <Time key="started" at={row.createdAt} />],
    row.status === 'PENDING'
      ? ['Open until', <Time key="until" at={row.expiresAt} />]
      : ['Paid', <Time key="paid" at={row.paidAt} />],
    ['Invoice', <InvoiceOf key="invoice" row={row} />],
    ['Top-up', <IdText key="id" id={row.id} short />],
  ];
  return (
    <dl className="topup-facts num">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Cancels a top-up that was not paid, so that it does not wait for its end. */
function useGiveUp() {
  const { send, busy, fault } = useSend();
  const giveUp = async (id: string): Promise<TopupRowFragment | null> => {
    const done = await send(CancelTopupDocument, { id });
    return done?.topup ?? null;
  };
  return { giveUp, busy, fault };
}

const isPaid = ({ status }: TopupRowFragment) => status === 'PAID';

/** A top-up as it stands, and every change of it until it is paid. */
function useTopup(id: string, onPaid: () => void) {
  const [{ data, error }, again] = useQuery({ query: TopupDocument, variables: { id } });
  const [heard, setHeard] = useState<TopupRowFragment | null>(null);
  const read = data?.credits?.topup ?? null;
  const row = latestOf(read, heard, isPaid);
  useLive({
    document: TopupUpdatedDocument,
    variables: read === null || isPaid(read) ? null : { id },
    isLast: ({ topupUpdated }) => isPaid(topupUpdated),
    onData: ({ topupUpdated }) => setHeard(topupUpdated),
    onBack: () => again({ requestPolicy: 'network-only' }),
  });
  const announced = useRef(false);
  const paid = row !== null && isPaid(row);
  useEffect(() => {
    if (!paid || announced.current) return;
    announced.current = true;
    onPaid();
  }, [paid, onPaid]);
  return { row, data, error, again, setHeard };
}

interface Props {
  readonly id: string;
  readonly outcome: Outcome;
  readonly may_pay: boolean;
  readonly onChanged: () => void;
  readonly onAgain: () => void;
  readonly onDismiss: () => void;
}

function Choices({
  row,
  outcome,
  onAgain,
  onCancelled,
  onRefunded,
}: Pick<Props, 'outcome' | 'onAgain'> & {
  row: TopupRowFragment;
  onCancelled: (row: TopupRowFragment) => void;
  onRefunded: () => void;
}) {
  const [refunding, setRefunding] = useState(false);
  const { giveUp, busy, fault } = useGiveUp();
  const { resume, cancel, again, refund } = choicesOf(row, outcome);
  const onCancel = async () => {
    const cancelled = await giveUp(row.id);
    if (cancelled !== null) onCancelled(cancelled);
  };
  return (
    <>
      {fault && (
        <span className="fault" role="alert">
          {fault.message}
        </span>
      )}
      {cancel && (
        <Button busy={busy} onClick={() => void onCancel()}>
          Cancel it
        </Button>
      )}
      {resume && (
        <a className="btn primary" href={resume} rel="noreferrer">
          Continue to payment
        </a>
      )}
      {again && <Button onClick={onAgain}>Try again</Button>}
      {refund && <Button onClick={() => setRefunding(true)}>Refund…</Button>}
      {refunding && <RefundDialog row={row} onRefunded={onRefunded} onClose={() => setRefunding(false)} />}
    </>
  );
}

/** One top-up: what became of it, what can be done, and its figures. */
export function TopupReturn({ id, outcome, may_pay, onChanged, onAgain, onDismiss }: Props) {
  const { row, data, error, again, setHeard } = useTopup(id, onChanged);
  if (error && row === null) {
    return (
      <div className="card">
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      </div>
    );
  }
  const onCancelled = (cancelled: TopupRowFragment) => {
    setHeard(cancelled);
    onChanged();
  };
  const onRefunded = () => {
    setHeard(null);
    again({ requestPolicy: 'network-only' });
    onChanged();
  };
  return (
    <section className="card" aria-label="Top-up">
      <div className="note topup-return" role="status">
        {row ? <TopupStatusMark row={row} /> : <Bone width={70} />}
        <span className="grow">
          {row && sentenceOf(row, outcome)}
          {!row && (data ? 'There is no such top-up in this organisation.' : <Bone width={260} />)}
        </span>
        {row && may_pay && (
          <Choices
            row={row}
            outcome={outcome}
            onAgain={onAgain}
            onCancelled={onCancelled}
            onRefunded={onRefunded}
          />
        )}
        <Button kind="quiet" icon="x" aria-label="Dismiss" onClick={onDismiss} />
      </div>
      {row?.dispute && <DisputeNote dispute={row.dispute} />}
      {row && <Facts row={row} />}
    </section>
  );
}
