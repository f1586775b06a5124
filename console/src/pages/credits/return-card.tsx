// Shown after a payment page led back: the outcome of the payment. The top-up stays in the address, so a reload shows
// it again.
import { useEffect, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery, faultOfUserError } from '../../api/errors.ts';
import {
  CancelTopupDocument,
  TopupDocument,
  type TopupRowFragment,
  TopupUpdatedDocument,
} from '../../api/gen/graphql.ts';
import { useLive } from '../../api/use-live.ts';
import { Button } from '../../ui/button.tsx';
import { currencyText } from '../../ui/format/money.ts';
import { Money } from '../../ui/money.tsx';
import { Bone, ErrorBox } from '../../ui/states.tsx';
import { type Shape, Status, type Tone } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';

type TopupStatus = TopupRowFragment['status'];

const marks: Record<TopupStatus, { tone: Tone; shape: Shape; word: string }> = {
  PENDING: { tone: 'mute', shape: 'half', word: 'pending' },
  PAID: { tone: 'ok', shape: 'ok', word: 'paid' },
  FAILED: { tone: 'bad', shape: 'bad', word: 'failed' },
  EXPIRED: { tone: 'mute', shape: 'mute', word: 'expired' },
  REVIEW: { tone: 'warn', shape: 'warn', word: 'in review' },
};

/** A pending top-up whose last payment was declined is not on its way. */
const isDeclined = (row: TopupRowFragment) => row.status === 'PENDING' && row.failureMessage !== '';

export function TopupStatusMark({ row }: { row: TopupRowFragment }) {
  const { tone, shape, word } = isDeclined(row)
    ? ({ tone: 'bad', shape: 'bad', word: 'declined' } as const)
    : marks[row.status];
  return (
    <Status tone={tone} shape={shape}>
      {word}
    </Status>
  );
}

function Sentence({ row, came_back }: { row: TopupRowFragment; came_back: boolean }) {
  const total = currencyText(row.totalMinor, row.currency);
  switch (row.status) {
    case 'PAID':
      return (
        <>
          <b>
            <Money micro={row.creditsMicro} as="spend" /> of credit added
          </b>{' '}
          for {total}, <Time at={row.paidAt} />.
          {row.invoiceId && (
            <>
              {' '}
              Invoice <code className="mono">{row.invoiceId}</code>.
            </>
          )}
        </>
      );
    case 'PENDING':
      if (isDeclined(row)) {
        return (
          <>
            The payment of {total} was declined: {row.failureMessage} Nothing was charged.
          </>
        );
      }
      return came_back ? (
        <>You came back without paying {total}. Nothing was charged.</>
      ) : (
        <>
          Waiting for {total} to be booked. A card takes a few seconds, a bank transfer up to a few days; you
          may leave, it is booked all the same.
        </>
      );
    case 'REVIEW':
      return <>The payment of {total} has arrived and is looked at by a person. Nothing is lost.</>;
    case 'EXPIRED':
      return <>The checkout for {total} was not paid and is closed. Nothing was charged.</>;
    default:
      return (
        <>
          The payment of {total} failed. {row.failureMessage || 'Nothing was charged.'}
        </>
      );
  }
}

/** Cancels a top-up that was not paid, so that it does not wait for its end. */
function useGiveUp() {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const giveUp = async (id: string): Promise<TopupRowFragment | null> => {
    setBusy(true);
    setFault(null);
    const { data, error } = await client.mutation(CancelTopupDocument, { input: { id } }).toPromise();
    setBusy(false);
    if (error) setFault(faultOfQuery(error));
    else if (data?.cancelTopup.__typename === 'CancelTopupPayload') return data.cancelTopup.topup;
    else if (data) setFault(faultOfUserError(data.cancelTopup));
    return null;
  };
  return { giveUp, busy, fault };
}

/** A top-up as it stands, and every change of it until it is paid. */
function useTopup(id: string, onPaid: () => void) {
  const [{ data, error }, again] = useQuery({ query: TopupDocument, variables: { id } });
  const [heard, setHeard] = useState<TopupRowFragment | null>(null);
  const read = data?.credits?.topup ?? null;
  const row = heard ?? read;
  useLive({
    document: TopupUpdatedDocument,
    variables: read === null || read.status === 'PAID' ? null : { id },
    isLast: ({ topupUpdated }) => topupUpdated.status === 'PAID',
    onData: ({ topupUpdated }) => setHeard(topupUpdated),
    onBack: () => again({ requestPolicy: 'network-only' }),
  });
  const announced = useRef(false);
  const paid = row?.status === 'PAID';
  useEffect(() => {
    if (!paid || announced.current) return;
    announced.current = true;
    onPaid();
  }, [paid, onPaid]);
  return { row, data, error, again, setHeard };
}

export function TopupReturn(props: {
  id: string;
  came_back: boolean;
  may_pay: boolean;
  onPaid: () => void;
  onAgain: () => void;
  onDismiss: () => void;
}) {
  const { id, came_back, onPaid } = props;
  const { giveUp, busy, fault } = useGiveUp();
  const { row, data, error, again, setHeard } = useTopup(id, onPaid);
  if (error && row === null) {
    return (
      <div className="card">
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      </div>
    );
  }
  const ended =
    row !== null &&
    (row.status === 'FAILED' ||
      row.status === 'EXPIRED' ||
      isDeclined(row) ||
      (came_back && row.status === 'PENDING'));
  const cancel = async () => {
    const cancelled = await giveUp(id);
    if (cancelled !== null) setHeard(cancelled);
    props.onPaid();
  };
  return (
    <div className="card note topup-return" role="status">
      {row ? <TopupStatusMark row={row} /> : <Bone width={70} />}
      <span className="grow">
        {row && <Sentence row={row} came_back={came_back} />}
        {!row && (data ? 'There is no such top-up in this organisation.' : <Bone width={260} />)}
      </span>
      {fault && (
        <span className="fault" role="alert">
          {fault.message}
        </span>
      )}
      {row?.status === 'PENDING' && props.may_pay && (
        <Button busy={busy} onClick={() => void cancel()}>
          Cancel it
        </Button>
      )}
      {ended && props.may_pay && <Button onClick={props.onAgain}>Try again</Button>}
      <Button kind="quiet" icon="x" aria-label="Dismiss" onClick={props.onDismiss} />
    </div>
  );
}
